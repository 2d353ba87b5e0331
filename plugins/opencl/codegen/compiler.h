#pragma once

#include "core/support/result.h"
#include "plugins/opencl/device/package.h"
#include "plugins/opencl/device/program.h"

#include <memory>

namespace lathe::opencl {

/// The compiler in the driver of this machine's first OpenCL device, which is the one that is measured on if nobody
/// picks another. It may end the process.
class Compiler
{
public:
    /// Null: this machine has no driver, no device, or no compiler; then sources are built where they run.
    static std::unique_ptr<Compiler> find();
    ~Compiler();
    Compiler(const Compiler&) = delete;
    Compiler& operator=(const Compiler&) = delete;

    /// Adds the binary. Errors: BuildFailed with the compiler's words.
    Result<> compile(PackedKernel& kernel) const;

private:
    Compiler(const Driver& driver, DeviceFacts device, cl_context context);

    const Driver& m_driver;
    DeviceFacts m_device;
    cl_context m_context;
};

} // namespace lathe::opencl
