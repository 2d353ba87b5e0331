#include "plugins/opencl/device/build.h"

#include <cstdlib>

namespace lathe::opencl {
namespace {

char* buildLog(const Driver& driver, cl_program program, cl_device_id device)
{
    std::size_t bytes = 0;
    if (driver.getProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS)
        return nullptr;
    auto* const log = static_cast<char*>(std::calloc(bytes + 1, 1));
    if (log == nullptr)
        return nullptr;
    if (driver.getProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log, nullptr) != CL_SUCCESS)
        bytes = 0;
    while (bytes > 0 && (log[bytes - 1] == '\0' || log[bytes - 1] == '\n'))
        log[--bytes] = '\0';
    if (bytes > 0)
        return log;
    std::free(log);
    return nullptr;
}

} // namespace

BuildProblem::~BuildProblem()
{
    std::free(log);
}

cl_program buildSource(const Driver& driver, cl_context context, cl_device_id device, std::string_view source,
                       BuildProblem& problem)
{
    const char* const text = source.data();
    const std::size_t size = source.size();
    cl_program const program = driver.createProgramWithSource(context, 1, const_cast<const char**>(&text), &size,
                                                              &problem.code);
    if (program == nullptr)
        return nullptr;
    problem.code = driver.buildProgram(program, 1, &device, kBuildOptions, nullptr, nullptr);
    if (problem.code == CL_SUCCESS)
        return program;
    problem.isOfCompiler = true;
    problem.log = buildLog(driver, program, device);
    driver.releaseProgram(program);
    return nullptr;
}

cl_program buildBinary(const Driver& driver, cl_context context, cl_device_id device, std::string_view binary)
{
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;
    cl_program const program = driver.createProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error);
    if (program == nullptr)
        return nullptr;
    if (status == CL_SUCCESS && driver.buildProgram(program, 1, &device, kBuildOptions, nullptr, nullptr) == CL_SUCCESS)
        return program;
    driver.releaseProgram(program);
    return nullptr;
}

char* binaryOf(const Driver& driver, cl_program program, cl_device_id device, std::size_t& bytes)
{
    // A program is of all devices of its context, which may be somebody else's; the lists are in one order.
    constexpr cl_uint kMostDevices = 64;
    cl_device_id devices[kMostDevices];
    std::size_t sizes[kMostDevices];
    cl_uint count = 0, own = 0;
    if (driver.getProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) != CL_SUCCESS
        || count > kMostDevices
        || driver.getProgramInfo(program, CL_PROGRAM_DEVICES, sizeof devices, devices, nullptr) != CL_SUCCESS
        || driver.getProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, nullptr) != CL_SUCCESS)
        return nullptr;
    while (own < count && devices[own] != device)
        ++own;
    if (own == count || sizes[own] == 0)
        return nullptr;
    bytes = sizes[own];
    auto* const binary = static_cast<char*>(std::malloc(bytes));
    if (binary == nullptr)
        return nullptr;
    unsigned char* pointers[kMostDevices] = {}; // null: not asked for
    pointers[own] = reinterpret_cast<unsigned char*>(binary);
    if (driver.getProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointers, static_cast<void*>(pointers), nullptr)
        == CL_SUCCESS)
        return binary;
    std::free(binary);
    return nullptr;
}

} // namespace lathe::opencl
