#pragma once

#include "plugins/opencl/device/errors.h"
#include "plugins/opencl/device/package.h"
#include "plugins/opencl/device/program.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::opencl {

struct ModuleLaunch
{
    std::string symbol;
    std::vector<std::size_t> buffers; ///< below the number of parameters: one of these; above: scratch
    LaunchShape shape;
    std::uint64_t localBytes = 0;
    std::size_t program = 0;
    cl_kernel kernel = nullptr; ///< null: not made yet
};

struct ModuleKernel
{
    std::string name;
    std::vector<std::string> parameters;
    std::vector<std::size_t> parameterBytes;
    std::vector<std::size_t> scratchBytes;
    std::vector<ModuleLaunch> launches;
    bool isBuilt = false;
    std::string problem; ///< why it could not be built, once that was tried
};

/// An artifact on a device. Each kernel is built by itself, so that what is wrong with it is its own trial's.
class Module
{
public:
    Module(const Driver& driver, cl_context context, const DeviceFacts& device)
        : m_driver(driver)
        , m_context(context)
        , m_device(device)
    {
    }
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// 0, or a failure with its sentence.
    int load(std::string_view artifact, const char* descriptor, LatheDeviceError* error);
    const std::vector<ModuleKernel>& kernels() const { return m_kernels; }
    /// Builds a kernel unless that has been done, from its binary if the driver takes that, once its launches keep the
    /// limits of the device; then nothing is left to compile. Errors: BUILD_FAILED with the compiler's words,
    /// UNSUPPORTED with the limit.
    int build(std::size_t kernel, LatheDeviceError* error);

private:
    int readDescriptor(const char* text, LatheDeviceError* error);
    /// The programs of all launches; else none of these, and a sentence.
    std::string buildLaunches(std::span<ModuleLaunch> launches);
    /// Of one program that they have in common: from the binary if that is of this device and has all functions, else
    /// from source.
    std::string buildProgram(std::span<ModuleLaunch> launches);
    std::string makeKernels(std::span<ModuleLaunch> launches) const;
    void releaseKernels(std::span<ModuleLaunch> launches) const;

    const Driver& m_driver;
    cl_context m_context;
    const DeviceFacts& m_device;
    std::vector<PackedProgram> m_packed;
    std::vector<Program> m_programs; ///< of these
    std::vector<ModuleKernel> m_kernels;
};

} // namespace lathe::opencl
