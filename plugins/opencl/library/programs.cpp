#include "plugins/opencl/library/programs.h"

#include "core/runtime/array.h"
#include "plugins/opencl/device/build.h"
#include "plugins/opencl/device/cache.h"
#include "plugins/opencl/library/refusal.h"

#include <cstdlib>
#include <cstring>

namespace lathe::opencl {

using runtime::ErrorText;
using runtime::ProgramView;
using runtime::Status;
using runtime::takeLine;

Programs::~Programs()
{
    if (m_programs != nullptr)
        for (std::size_t p = 0; p < m_index.programs(); ++p) {
            if (m_programs[p].program != nullptr)
                m_driver->releaseProgram(m_programs[p].program);
            runtime::freeArray(m_programs[p].problem, 1);
        }
    runtime::freeArray(m_programs, m_index.programs());
    ::pthread_mutex_destroy(&m_mutex);
}

Status Programs::load(const Driver& driver, cl_context context, const DeviceFacts& device, std::string_view code,
                      ErrorText& error)
{
    m_driver = &driver;
    m_context = context;
    m_device = &device;
    if (const Status status = m_index.load(code, "OpenCL", error); status != Status::Ok)
        return status;
    m_programs = runtime::makeArray<Built>(m_index.programs());
    return m_programs != nullptr ? Status::Ok : noHostMemory(error);
}

/// A binary that lacks one is that of another source.
bool Programs::hasAllKernels(cl_program program, std::string_view symbols) const
{
    std::string_view line;
    while (takeLine(symbols, line)) {
        char name[runtime::PackageIndex::kLongestSymbol + 1];
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
void Programs::build(const ProgramView& packed, Built& program) const
{
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
    const std::size_t launch = m_index.find(symbol);
    if (launch == m_index.launches()) {
        error.set("the library has no OpenCL code for kernel %.200s", symbol);
        return Status::InvalidArgument;
    }
    const std::size_t number = m_index.programOf(launch);
    ::pthread_mutex_lock(&m_mutex);
    Built& one = m_programs[number];
    if (one.program == nullptr && one.problem == nullptr)
        build(m_index.program(number), one);
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
