#pragma once

#include "core/support/result.h"
#include "plugins/opencl/device/package.h"
#include "plugins/opencl/device/program.h"

#include <memory>

namespace lathe::opencl {

/// The compiler in the driver of an OpenCL device of this machine. It may end the process.
class Compiler
{
public:
    /// Null: this machine has no driver, no such device, or the device no compiler; then sources are built where they
    /// run.
    /// @param device  what the device half says of it (devicesText(); JSON): one here of the same platform, name,
    ///                version and driver takes the binaries that are made for it. Empty: the first one.
    static std::unique_ptr<Compiler> find(const std::string& device);
    ~Compiler();
    Compiler(const Compiler&) = delete;
    Compiler& operator=(const Compiler&) = delete;

    /// Adds the binary, which is taken from the user's cache folder (cache.h) if it was made before. Errors:
    /// BuildFailed with the compiler's words.
    /// @param shape  of the launch that the program is for
    Result<> compile(PackedProgram& program, const LaunchShape& shape) const;

private:
    Compiler(const Driver& driver, DeviceFacts device, cl_context context);

    const Driver& m_driver;
    DeviceFacts m_device;
    cl_context m_context;
};

} // namespace lathe::opencl
