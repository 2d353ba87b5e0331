#include "plugins/cuda/library/programs.h"

#include "core/runtime/array.h"
#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/library/ptx_text.h"
#include "plugins/cuda/library/refusal.h"

#include <cstdlib>
#include <cstring>

namespace lathe::cuda {

using runtime::ErrorText;
using runtime::ProgramView;
using runtime::Status;
using runtime::takeLine;

Programs::~Programs()
{
    if (m_programs != nullptr && m_index.programs() > 0) {
        const Current current(*m_driver, m_context);
        for (std::size_t p = 0; p < m_index.programs(); ++p) {
            if (m_programs[p].module != nullptr)
                m_driver->moduleUnload(m_programs[p].module);
            runtime::freeArray(m_programs[p].problem, 1);
        }
    }
    runtime::freeArray(m_programs, m_index.programs());
    runtime::freeArray(m_launches, m_index.launches());
    ::pthread_mutex_destroy(&m_mutex);
}

Status Programs::load(const Driver& driver, Context context, const Gpu& gpu, std::string_view code, ErrorText& error)
{
    m_driver = &driver;
    m_context = context;
    m_gpu = &gpu;
    if (const Status status = m_index.load(code, "CUDA", error); status != Status::Ok)
        return status;
    m_programs = runtime::makeArray<Loaded>(m_index.programs());
    m_launches = runtime::makeArray<Made>(m_index.launches());
    return m_programs != nullptr && m_launches != nullptr ? Status::Ok : noHostMemory(error);
}

/// What the driver says when it takes neither form.
void Programs::refuse(const ProgramView& packed, Loaded& program, int code, const char* log) const
{
    program.problem = runtime::makeArray<ErrorText>(1);
    if (program.problem == nullptr)
        return;
    std::string_view symbols = packed.symbols, first;
    takeLine(symbols, first);
    const auto length = static_cast<int>(first.size() < 150 ? first.size() : 150);
    const std::string_view version = ptxVersion(packed.source);
    if (code == kUnsupportedPtxVersion || (code == kInvalidPtx && std::strstr(log, ".version") != nullptr))
        program.problem->set("the NVIDIA driver is too old for the library: it supports CUDA %s and does not take PTX "
                             "%.*s, which kernel %.*s is for this device",
                             versionName(m_driver->version).text, static_cast<int>(version.size()), version.data(),
                             length, first.data());
    else if (code == kNoBinaryForDevice || code == kInvalidImage || code == kNoJitCompiler)
        program.problem->set("kernel %.*s was compiled for %.*s, and this device, of sm_%d, runs nothing of it: %s",
                             length, first.data(),
                             static_cast<int>(packed.madeFor.size() < 20 ? packed.madeFor.size() : 20),
                             packed.madeFor.data(), m_gpu->capability,
                             code == kNoJitCompiler ? kNoJitCompilerText : errorName(*m_driver, code).text);
    else
        program.problem->set("the NVIDIA driver refuses kernel %.*s: %s", length, first.data(),
                             log[0] != '\0' ? log : errorName(*m_driver, code).text);
}

/// Leaves a module or a problem; neither, if there is no memory for one. The driver's code.
int Programs::loadProgram(const ProgramView& packed, Loaded& program) const
{
    const std::optional<int> madeFor = capabilityOf(packed.madeFor);
    int code = kNoBinaryForDevice;
    if (!packed.binary.empty() && madeFor && runsOn(*madeFor, m_gpu->capability)) {
        code = m_driver->moduleLoad(&program.module, packed.binary.data(), 0, nullptr, nullptr);
        if (code == kSuccess)
            return code;
        program.module = nullptr;
    }
    // What is out of memory now would be so with the text. Later there may be some: that is not kept.
    if (code == kOutOfMemory)
        return code;
    if (packed.source.empty()) {
        refuse(packed, program, code, "");
        return code;
    }
    // The driver's compiler reads to the zero behind the text, and writes its log with one.
    char* const text = runtime::makeArray<char>(packed.source.size() + 1);
    if (text == nullptr)
        return kSuccess;
    std::memcpy(text, packed.source.data(), packed.source.size());
    char log[4096] = "";
    int options[] = {kErrorLog, kErrorLogBytes};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log - 1)};
    code = m_driver->moduleLoad(&program.module, text, 2, options, values);
    runtime::freeArray(text, packed.source.size() + 1);
    if (code == kSuccess)
        return code;
    program.module = nullptr;
    if (code != kOutOfMemory)
        refuse(packed, program, code, log);
    return code;
}

Status Programs::ready(std::size_t launch, const char* name, std::uint64_t threads, std::uint32_t buffers,
                       std::uint64_t dynamicShared, ErrorText& error)
{
    const Driver& driver = *m_driver;
    const ProgramView& packed = m_index.program(m_index.programOf(launch));
    Loaded& program = m_programs[m_index.programOf(launch)];
    Made& made = m_launches[launch];
    // The driver reads as many parameters as the kernel has.
    if (const int has = ptxParameters(packed.source, m_index.symbol(launch));
        has >= 0 && static_cast<std::uint32_t>(has) != buffers) {
        error.set("kernel %.200s has %d parameters, and a launch of it %u buffers", name, has, buffers);
        return Status::InvalidArgument;
    }
    if (program.module == nullptr && program.problem == nullptr)
        if (const int code = loadProgram(packed, program); code == kOutOfMemory)
            return refused(error, driver, code, "kernel %.200s", name);
    if (program.problem != nullptr) {
        error = *program.problem;
        return Status::KernelFailed;
    }
    if (program.module == nullptr)
        return noHostMemory(error);
    if (made.function == nullptr)
        if (const int code = driver.moduleGetFunction(&made.function, program.module, name); code != kSuccess) {
            made.function = nullptr;
            return refused(error, driver, code, "kernel %.200s", name);
        }
    int most = 0, registers = 0;
    if (driver.functionGetAttribute(&most, kMostThreadsOfFunction, made.function) == kSuccess && most > 0
        && threads > static_cast<std::uint64_t>(most)) {
        driver.functionGetAttribute(&registers, kRegistersOfFunction, made.function);
        error.set("kernel %.200s takes %d registers a thread; this device starts at most %d threads of it in a block, "
                  "not %llu",
                  name, registers, most, static_cast<unsigned long long>(threads));
        return Status::KernelFailed;
    }
    if (dynamicShared > made.dynamicShared) {
        const int code = driver.functionSetAttribute(made.function, kMostDynamicShared,
                                                     static_cast<int>(dynamicShared));
        if (code != kSuccess)
            return refused(error, driver, code, "%llu bytes of shared memory for kernel %.150s",
                           static_cast<unsigned long long>(dynamicShared), name);
        made.dynamicShared = dynamicShared;
    }
    return Status::Ok;
}

Status Programs::find(const char* symbol, std::uint64_t threads, std::uint32_t buffers, std::uint64_t dynamicShared,
                      Function& function, ErrorText& error)
{
    const std::size_t launch = m_index.find(symbol);
    if (launch == m_index.launches()) {
        error.set("the library has no CUDA code for kernel %.200s", symbol);
        return Status::InvalidArgument;
    }
    ::pthread_mutex_lock(&m_mutex);
    const Status status = ready(launch, symbol, threads, buffers, dynamicShared, error);
    function = m_launches[launch].function;
    ::pthread_mutex_unlock(&m_mutex);
    return status;
}

} // namespace lathe::cuda
