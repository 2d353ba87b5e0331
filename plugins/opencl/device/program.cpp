#include "plugins/opencl/device/program.h"

#include "plugins/opencl/device/package.h"

namespace lathe::opencl {
namespace {

std::string buildLog(const Driver& driver, cl_program program, cl_device_id device)
{
    std::size_t bytes = 0;
    if (driver.getProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS)
        return {};
    std::string log(bytes, '\0');
    if (driver.getProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) != CL_SUCCESS)
        return {};
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n'))
        log.pop_back();
    return log;
}

} // namespace

Program::~Program()
{
    if (m_program != nullptr)
        m_driver->releaseProgram(m_program);
}

Program Program::fromSource(const Driver& driver, cl_context context, cl_device_id device, const std::string& source,
                            std::string& problem)
{
    const char* text = source.c_str();
    const std::size_t size = source.size();
    cl_int error = CL_SUCCESS;
    Program program(driver, driver.createProgramWithSource(context, 1, &text, &size, &error));
    if (!program) {
        problem = "the OpenCL driver takes no source: " + errorText(error);
        return {};
    }
    error = driver.buildProgram(program.get(), 1, &device, kBuildOptions, nullptr, nullptr);
    if (error == CL_SUCCESS)
        return program;
    const std::string log = buildLog(driver, program.get(), device);
    problem = "the OpenCL compiler refuses the source: " + (log.empty() ? errorText(error) : log);
    return {};
}

Program Program::fromBinary(const Driver& driver, cl_context context, cl_device_id device, const std::string& binary)
{
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int error = CL_SUCCESS, status = CL_SUCCESS;
    Program program(driver, driver.createProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error));
    if (!program || status != CL_SUCCESS)
        return {};
    error = driver.buildProgram(program.get(), 1, &device, kBuildOptions, nullptr, nullptr);
    return error == CL_SUCCESS ? std::move(program) : Program();
}

std::string Program::binary() const
{
    std::size_t size = 0; // there is one device
    if (m_driver->getProgramInfo(m_program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS)
        return {};
    std::string binary(size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
    if (m_driver->getProgramInfo(m_program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS)
        return {};
    return binary;
}

} // namespace lathe::opencl
