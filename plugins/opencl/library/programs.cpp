#include "plugins/opencl/library/programs.h"

#include "core/runtime/array.h"
#include "plugins/opencl/device/build.h"
#include "plugins/opencl/device/cache.h"
#include "plugins/opencl/library/refusal.h"

#include <cstdlib>
#include <cstring>

namespace lathe::opencl {

using runtime::ErrorText;
using runtime::PackageReader;
using runtime::ProgramView;
using runtime::Status;
using runtime::takeLine;

namespace {

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
    for (std::size_t p = 0; p < m_programCount; ++p) {
        if (m_programs[p].program != nullptr)
            m_driver->releaseProgram(m_programs[p].program);
        runtime::freeArray(m_programs[p].problem, 1);
    }
    runtime::freeArray(m_programs, m_programCount);
    runtime::freeArray(m_symbols, m_symbolCount);
    ::pthread_mutex_destroy(&m_mutex);
}

int Programs::compare(const void* one, const void* other)
{
    return compareNames(static_cast<const Symbol*>(one)->name, static_cast<const Symbol*>(other)->name);
}

const Programs::Symbol* Programs::find(std::string_view name) const
{
    const Symbol key = {name, 0};
    if (m_symbolCount == 0)
        return nullptr;
    return static_cast<const Symbol*>(std::bsearch(&key, m_symbols, m_symbolCount, sizeof key, compare));
}

Status Programs::damaged(ErrorText& error, const char* what) const
{
    error.set("the library's OpenCL code is damaged: %s", what);
    return Status::InvalidArgument;
}

Status Programs::load(const Driver& driver, cl_context context, const DeviceFacts& device, std::string_view code,
                      ErrorText& error)
{
    m_driver = &driver;
    m_context = context;
    m_device = &device;
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

/// A binary that lacks one is that of another source.
bool Programs::hasAllKernels(cl_program program, std::string_view symbols) const
{
    std::string_view line;
    while (takeLine(symbols, line)) {
        char name[kLongestSymbol + 1];
        std::memcpy(name, line.data(), line.size());
        name[line.size()] = '\0';
        cl_int code = CL_SUCCESS;
        cl_kernel const kernel = m_driver->createKernel(program, name, &code);
        if (kernel == nullptr)
            return false;
        m_driver->releaseKernel(kernel);
    }
    return true;
}

cl_program Programs::take(std::string_view binary, const ProgramView& packed) const
{
    cl_program const program = buildBinary(*m_driver, m_context, m_device->id, binary);
    if (program == nullptr || hasAllKernels(program, packed.symbols))
        return program;
    m_driver->releaseProgram(program);
    return nullptr;
}

/// Leaves a program or a problem; neither, if there is no memory for one.
void Programs::build(Program& program) const
{
    const ProgramView& packed = program.packed;
    const CacheKey key = {m_device->identity, packed.source};
    if (!packed.binary.empty() && packed.madeFor == key.identity)
        program.program = take(packed.binary, packed);
    if (program.program != nullptr)
        return;
    std::size_t bytes = 0;
    if (char* const kept = findInCache(key, bytes); kept != nullptr) {
        program.program = take({kept, bytes}, packed);
        std::free(kept);
    }
    if (program.program != nullptr)
        return;
    BuildProblem why;
    program.program = buildSource(*m_driver, m_context, m_device->id, packed.source, why);
    if (program.program != nullptr) {
        if (char* const made = binaryOf(*m_driver, program.program, m_device->id, bytes); made != nullptr) {
            keepInCache(key, {made, bytes});
            std::free(made);
        }
        return;
    }
    program.problem = runtime::makeArray<ErrorText>(1);
    std::string_view symbols = packed.symbols, first;
    takeLine(symbols, first);
    if (program.problem != nullptr)
        program.problem->set("the OpenCL %s the source of kernel %.*s: %s%s%s",
                             why.isOfCompiler ? "compiler refuses" : "driver does not take",
                             static_cast<int>(first.size() < 200 ? first.size() : 200), first.data(),
                             errorName(why.code).text, why.log != nullptr ? ": " : "",
                             why.log != nullptr ? why.log : "");
}

Status Programs::makeKernel(const char* symbol, cl_kernel& kernel, ErrorText& error)
{
    const Symbol* const found = find(symbol);
    if (found == nullptr) {
        error.set("the library has no OpenCL code for kernel %.200s", symbol);
        return Status::InvalidArgument;
    }
    ::pthread_mutex_lock(&m_mutex);
    Program& one = m_programs[found->program];
    if (one.program == nullptr && one.problem == nullptr)
        build(one);
    cl_program const program = one.program;
    const ErrorText* const problem = one.problem;
    ::pthread_mutex_unlock(&m_mutex);
    if (problem != nullptr) {
        error = *problem;
        return Status::KernelFailed;
    }
    if (program == nullptr)
        return noHostMemory(error);
    cl_int code = CL_SUCCESS;
    kernel = m_driver->createKernel(program, symbol, &code);
    return kernel != nullptr ? Status::Ok : refused(error, code, "kernel %.200s", symbol);
}

} // namespace lathe::opencl
