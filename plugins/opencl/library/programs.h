#pragma once

#include "core/runtime/image.h"
#include "core/runtime/package_index.h"
#include "core/runtime/status.h"
#include "plugins/opencl/device/device_facts.h"

#include <pthread.h>

#include <cstddef>
#include <string_view>

namespace lathe::opencl {

/// The kernels of a library on a device. Each program is built when one of its launches is asked for first, once for
/// all instances: from the library's binary if that was made for an equal device, else from one of an earlier run in
/// the user's cache folder, else from source.
class Programs
{
public:
    Programs() = default;
    ~Programs();
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;

    /// @param code  packages (core/runtime/package_view.h) one behind the other, which outlive this, as do driver,
    ///              context and device; checked as a file would be: InvalidArgument, if they do not hold together
    runtime::Status load(const Driver& driver, cl_context context, const DeviceFacts& device, std::string_view code,
                         runtime::ErrorText& error);
    /// A new one for the caller, whose arguments are not set. Any thread.
    runtime::Status makeKernel(const char* symbol, cl_kernel& kernel, runtime::ErrorText& error);

private:
    /// What the driver made of a program of m_index.
    struct Built
    {
        cl_program program = nullptr;
        runtime::ErrorText* problem = nullptr; ///< why there is none; null: that was not tried
    };

    void build(const runtime::ProgramView& packed, Built& program) const;
    bool hasAllKernels(cl_program program, std::string_view symbols) const;
    cl_program take(std::string_view binary, const runtime::ProgramView& packed) const;

    const Driver* m_driver = nullptr;
    cl_context m_context = nullptr;
    const DeviceFacts* m_device = nullptr;
    runtime::PackageIndex m_index;
    Built* m_programs = nullptr; ///< of all programs, once there is memory for them
    pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER; ///< of all that changes in m_programs
};

} // namespace lathe::opencl
