#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include "plugins/opencl/device/driver.h"

#include <cstddef>
#include <string_view>

namespace lathe::opencl {

/// How every source is compiled, in the builder and on the device; the second where the device can round quotients and
/// roots of f32 correctly (CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT), which the language asks of none.
inline constexpr const char* kBuildOptions[] = {"-cl-std=CL1.2",
                                                "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"};
const char* buildOptions(const Driver& driver, cl_device_id device);

/// Why there is no program.
struct BuildProblem
{
    BuildProblem() = default;
    ~BuildProblem();
    BuildProblem(const BuildProblem&) = delete;
    BuildProblem& operator=(const BuildProblem&) = delete;

    cl_int code = CL_SUCCESS;
    bool isOfCompiler = false; ///< else of what came before it
    char* log = nullptr; ///< the compiler's own words; null: it had none
};

/// Compiles OpenCL C.
cl_program buildSource(const Driver& driver, cl_context context, cl_device_id device, std::string_view source,
                       BuildProblem& problem);
/// Null: the driver does not take the binary, which is of another version, or of another device.
cl_program buildBinary(const Driver& driver, cl_context context, cl_device_id device, std::string_view binary);

/// What buildBinary() takes, for free(). Null: the driver gives none. PoCL, which compiles late, makes code for any
/// launch now, and for those of which it is told (program.cpp).
char* binaryOf(const Driver& driver, cl_program program, cl_device_id device, std::size_t& bytes);

} // namespace lathe::opencl
