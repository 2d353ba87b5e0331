#include "plugins/opencl/device/program.h"

#include "plugins/opencl/device/build.h"
#include "plugins/opencl/device/errors.h"

#include <cstdlib>

namespace lathe::opencl {

Program::~Program()
{
    if (m_program != nullptr)
        m_driver->releaseProgram(m_program);
}

Program Program::fromSource(const Driver& driver, cl_context context, cl_device_id device, const std::string& source,
                            std::string& problem)
{
    BuildProblem why;
    Program program(driver, device, buildSource(driver, context, device, source, why));
    if (!program)
        problem = (why.isOfCompiler ? "the OpenCL compiler refuses the source: "
                                    : "the OpenCL driver takes no source: ")
                  + (why.log != nullptr ? why.log : errorText(why.code));
    return program;
}

Program Program::fromBinary(const Driver& driver, cl_context context, cl_device_id device, const std::string& binary)
{
    return {driver, device, buildBinary(driver, context, device, binary)};
}

std::string Program::binary() const
{
    std::size_t bytes = 0;
    char* const made = binaryOf(*m_driver, m_program, m_device, bytes);
    std::string binary = made != nullptr ? std::string(made, bytes) : std::string();
    std::free(made);
    return binary;
}

} // namespace lathe::opencl
