#include "plugins/opencl/device/build.h"

#include "plugins/opencl/device/extensions.h"
#include "plugins/opencl/device/subgroups.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

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

struct Extension
{
    const char* name;
    const char* lack; ///< for people
};
constexpr Extension kExtensions[] = {{"cl_khr_fp16", "this device has no half-precision floats (cl_khr_fp16)"},
                                     {"cl_khr_fp64", "this device has no double-precision floats (cl_khr_fp64)"}};

char* copyOf(const char* text)
{
    const std::size_t bytes = std::strlen(text) + 1;
    auto* const copy = static_cast<char*>(std::malloc(bytes));
    if (copy != nullptr)
        std::memcpy(copy, text, bytes);
    return copy;
}

/// Why the device has none of the subgroups that the source's kernel requires, of so many threads; null: it has them.
char* missingSubgroups(const Driver& driver, cl_device_id device, std::size_t width)
{
    if (width == 0)
        return nullptr;
    const SubgroupWidths known = readSubgroupWidths(driver, device);
    if (known.has(width))
        return nullptr;
    if (known.count == 0)
        return copyOf("this device has no subgroups of a required width whose threads exchange registers "
                      "(cl_intel_required_subgroup_size, cl_intel_subgroups)");
    char lack[96];
    std::snprintf(lack, sizeof lack, "the kernel requires subgroups of %zu threads, which this device does not have",
                  width);
    return copyOf(lack);
}

/// What the source asks for and the device lacks, as a compiler's log would say it, only clearly; null: nothing.
char* missingExtension(const Driver& driver, cl_device_id device, std::string_view source)
{
    char* const listed = listExtensions(driver, device);
    if (listed == nullptr)
        return nullptr;
    char* lack = nullptr;
    for (const Extension& extension : kExtensions)
        if (lack == nullptr && source.find(extension.name) != std::string_view::npos
            && !listsExtension(listed, extension.name))
            lack = copyOf(extension.lack);
    std::free(listed);
    return lack != nullptr ? lack : missingSubgroups(driver, device, requiredWidth(source));
}

} // namespace

const char* buildOptions(const Driver& driver, cl_device_id device)
{
    cl_device_fp_config can = 0;
    const bool isTold = driver.getDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof can, &can, nullptr)
                        == CL_SUCCESS;
    return kBuildOptions[isTold && (can & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0 ? 1 : 0];
}

BuildProblem::~BuildProblem()
{
    std::free(log);
}

cl_program buildSource(const Driver& driver, cl_context context, cl_device_id device, std::string_view source,
                       BuildProblem& problem)
{
    problem.log = missingExtension(driver, device, source);
    if (problem.log != nullptr) {
        problem.code = CL_BUILD_PROGRAM_FAILURE;
        problem.isOfCompiler = true;
        return nullptr;
    }
    const char* const text = source.data();
    const std::size_t size = source.size();
    cl_program const program = driver.createProgramWithSource(context, 1, const_cast<const char**>(&text), &size,
                                                              &problem.code);
    if (program == nullptr)
        return nullptr;
    problem.code = driver.buildProgram(program, 1, &device, buildOptions(driver, device), nullptr, nullptr);
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
    if (status == CL_SUCCESS
        && driver.buildProgram(program, 1, &device, buildOptions(driver, device), nullptr, nullptr) == CL_SUCCESS)
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
