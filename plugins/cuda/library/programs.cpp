#include "plugins/cuda/library/programs.h"

#include "core/runtime/array.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/library/ptx_text.h"
#include "plugins/cuda/library/refusal.h"

#include <cstdlib>
#include <cstring>

namespace lathe::cuda {

using runtime::ErrorText;
using runtime::PackageReader;
using runtime::ProgramView;
using runtime::Status;
using runtime::takeLine;

namespace {

/// Attributes of a function, and options of loading, by the manual's numbers (CUfunction_attribute, CUjit_option).
constexpr int kMostThreadsOfFunction = 0, kRegistersOfFunction = 4, kMostDynamicShared = 8;
constexpr int kErrorLog = 5, kErrorLogBytes = 6;

constexpr std::size_t kLongestSymbol = 1023;

int compareNames(std::string_view one, std::string_view other)
{
    const std::size_t shorter = one.size() < other.size() ? one.size() : other.size();
    const int order = shorter == 0 ? 0 : std::memcmp(one.data(), other.data(), shorter);
    if (order != 0)
        return order;
    return one.size() < other.size() ? -1 : one.size() > other.size() ? 1 : 0;
}

/// The programs of all packages, to `each`. False: the code is damaged.
template<typename Each>
bool readAll(std::string_view code, Each each)
{
    while (!code.empty()) {
        PackageReader reader(code);
        ProgramView program;
        while (reader.next(program))
            each(program);
        if (!reader.isGood())
            return false;
        code.remove_prefix(reader.bytes());
    }
    return true;
}

} // namespace

Programs::~Programs()
{
    if (m_programCount > 0) {
        const Current current(*m_driver, m_context);
        for (std::size_t p = 0; p < m_programCount; ++p) {
            if (m_programs[p].module != nullptr)
                m_driver->moduleUnload(m_programs[p].module);
            runtime::freeArray(m_programs[p].problem, 1);
        }
    }
    runtime::freeArray(m_programs, m_programCount);
    runtime::freeArray(m_symbols, m_symbolCount);
    ::pthread_mutex_destroy(&m_mutex);
}

int Programs::compare(const void* one, const void* other)
{
    return compareNames(static_cast<const Symbol*>(one)->name, static_cast<const Symbol*>(other)->name);
}

Programs::Symbol* Programs::find(std::string_view name) const
{
    std::size_t low = 0, high = m_symbolCount;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const int order = compareNames(m_symbols[middle].name, name);
        if (order == 0)
            return m_symbols + middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return nullptr;
}

Status Programs::damaged(ErrorText& error, const char* what) const
{
    error.set("the library's CUDA code is damaged: %s", what);
    return Status::InvalidArgument;
}

Status Programs::load(const Driver& driver, Context context, const Gpu& gpu, std::string_view code, ErrorText& error)
{
    m_driver = &driver;
    m_context = context;
    m_gpu = &gpu;
    std::size_t programs = 0, symbols = 0;
    bool areNames = true;
    const bool isWhole = readAll(code, [&](const ProgramView& packed) {
        ++programs;
        std::string_view rest = packed.symbols, line;
        for (; takeLine(rest, line); ++symbols)
            areNames = areNames && !line.empty() && line.size() <= kLongestSymbol
                       && line.find('\0') == std::string_view::npos;
    });
    if (!isWhole)
        return damaged(error, "its packages do not hold together");
    if (!areNames)
        return damaged(error, "it names a launch as no function can be named");
    if (programs == 0)
        return Status::Ok;
    m_programs = runtime::makeArray<Program>(programs);
    m_programCount = m_programs != nullptr ? programs : 0;
    m_symbols = runtime::makeArray<Symbol>(symbols);
    m_symbolCount = m_symbols != nullptr ? symbols : 0;
    if (m_programs == nullptr || m_symbols == nullptr)
        return noHostMemory(error);
    std::size_t program = 0, symbol = 0;
    readAll(code, [&](const ProgramView& packed) {
        m_programs[program].packed = packed;
        std::string_view rest = packed.symbols, line;
        while (takeLine(rest, line))
            m_symbols[symbol++] = {line, program};
        ++program;
    });
    std::qsort(m_symbols, m_symbolCount, sizeof(Symbol), compare);
    for (std::size_t s = 1; s < m_symbolCount; ++s)
        if (m_symbols[s - 1].name == m_symbols[s].name
            && m_programs[m_symbols[s - 1].program].packed.source != m_programs[m_symbols[s].program].packed.source)
            return damaged(error, "two of its programs have a launch of the same name");
    return Status::Ok;
}

/// What the driver says when it takes neither form.
void Programs::refuse(Program& program, int code, const char* log) const
{
    program.problem = runtime::makeArray<ErrorText>(1);
    if (program.problem == nullptr)
        return;
    const ProgramView& packed = program.packed;
    std::string_view symbols = packed.symbols, first;
    takeLine(symbols, first);
    const auto length = static_cast<int>(first.size() < 150 ? first.size() : 150);
    const std::string_view version = ptxVersion(packed.source);
    if (code == kUnsupportedPtxVersion || (code == kInvalidPtx && std::strstr(log, ".version") != nullptr))
        program.problem->set("the NVIDIA driver is too old for the library: it supports CUDA %s and does not take PTX "
                             "%.*s, which kernel %.*s is for this device",
                             versionName(m_driver->version).text, static_cast<int>(version.size()), version.data(),
                             length, first.data());
    else if (code == kNoBinaryForDevice || code == kInvalidImage)
        program.problem->set("kernel %.*s was compiled for %.*s, and this device, of sm_%d, runs nothing of it: %s",
                             length, first.data(),
                             static_cast<int>(packed.madeFor.size() < 20 ? packed.madeFor.size() : 20),
                             packed.madeFor.data(), m_gpu->capability, errorName(*m_driver, code).text);
    else
        program.problem->set("the NVIDIA driver refuses kernel %.*s: %s", length, first.data(),
                             log[0] != '\0' ? log : errorName(*m_driver, code).text);
}

/// Leaves a module or a problem; neither, if there is no memory for one.
void Programs::loadProgram(Program& program) const
{
    const ProgramView& packed = program.packed;
    const std::optional<int> madeFor = capabilityOf(packed.madeFor);
    int code = kNoBinaryForDevice;
    if (!packed.binary.empty() && madeFor && runsOn(*madeFor, m_gpu->capability)) {
        code = m_driver->moduleLoad(&program.module, packed.binary.data(), 0, nullptr, nullptr);
        if (code == kSuccess)
            return;
        program.module = nullptr;
    }
    // What is out of memory now would be so with the text.
    if (packed.source.empty() || code == kOutOfMemory) {
        refuse(program, code, "");
        return;
    }
    // The driver's compiler reads to the zero behind the text, and writes its log with one.
    char* const text = runtime::makeArray<char>(packed.source.size() + 1);
    if (text == nullptr)
        return;
    std::memcpy(text, packed.source.data(), packed.source.size());
    char log[4096] = "";
    int options[] = {kErrorLog, kErrorLogBytes};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
    code = m_driver->moduleLoad(&program.module, text, 2, options, values);
    runtime::freeArray(text, packed.source.size() + 1);
    if (code == kSuccess)
        return;
    program.module = nullptr;
    refuse(program, code, log);
}

Status Programs::ready(Symbol& symbol, const char* name, std::uint64_t threads, std::uint32_t buffers,
                       std::uint64_t dynamicShared, ErrorText& error)
{
    const Driver& driver = *m_driver;
    Program& program = m_programs[symbol.program];
    // The driver reads as many parameters as the kernel has.
    if (const int has = ptxParameters(program.packed.source, symbol.name);
        has >= 0 && static_cast<std::uint32_t>(has) != buffers) {
        error.set("kernel %.200s has %d parameters, and a launch of it %u buffers", name, has, buffers);
        return Status::InvalidArgument;
    }
    if (program.module == nullptr && program.problem == nullptr)
        loadProgram(program);
    if (program.problem != nullptr) {
        error = *program.problem;
        return Status::KernelFailed;
    }
    if (program.module == nullptr)
        return noHostMemory(error);
    if (symbol.function == nullptr)
        if (const int code = driver.moduleGetFunction(&symbol.function, program.module, name); code != kSuccess) {
            symbol.function = nullptr;
            return refused(error, driver, code, "kernel %.200s", name);
        }
    int most = 0, registers = 0;
    if (driver.functionGetAttribute(&most, kMostThreadsOfFunction, symbol.function) == kSuccess && most > 0
        && threads > static_cast<std::uint64_t>(most)) {
        driver.functionGetAttribute(&registers, kRegistersOfFunction, symbol.function);
        error.set("kernel %.200s takes %d registers a thread; this device starts at most %d threads of it in a block, "
                  "not %llu",
                  name, registers, most, static_cast<unsigned long long>(threads));
        return Status::KernelFailed;
    }
    if (dynamicShared > symbol.dynamicShared) {
        const int code = driver.functionSetAttribute(symbol.function, kMostDynamicShared,
                                                     static_cast<int>(dynamicShared));
        if (code != kSuccess)
            return refused(error, driver, code, "%llu bytes of shared memory for kernel %.150s",
                           static_cast<unsigned long long>(dynamicShared), name);
        symbol.dynamicShared = dynamicShared;
    }
    return Status::Ok;
}

Status Programs::find(const char* symbol, std::uint64_t threads, std::uint32_t buffers, std::uint64_t dynamicShared,
                      Function& function, ErrorText& error)
{
    Symbol* const found = find(symbol);
    if (found == nullptr) {
        error.set("the library has no CUDA code for kernel %.200s", symbol);
        return Status::InvalidArgument;
    }
    ::pthread_mutex_lock(&m_mutex);
    const Status status = ready(*found, symbol, threads, buffers, dynamicShared, error);
    function = found->function;
    ::pthread_mutex_unlock(&m_mutex);
    return status;
}

} // namespace lathe::cuda
