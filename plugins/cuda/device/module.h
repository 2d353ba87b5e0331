#pragma once

#include "plugins/cuda/device/artifact.h"
#include "plugins/cuda/device/device_facts.h"
#include "plugins/cuda/device/errors.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::cuda {

struct ModuleLaunch
{
    std::string symbol;
    std::vector<std::size_t> buffers; ///< below the number of parameters: one of these; above: scratch
    std::uint64_t grid[3] = {}, block[3] = {};
    std::uint64_t sharedBytes = 0;
    std::size_t program = 0;
    Function function = nullptr; ///< null: not loaded yet
};

struct ModuleKernel
{
    std::string name;
    std::vector<std::string> parameters;
    std::vector<std::size_t> parameterBytes;
    std::vector<std::size_t> scratchBytes;
    std::vector<ModuleLaunch> launches;
    bool isLoaded = false;
    std::string problem; ///< why it could not be loaded, once that was tried
    LatheErrc kind = LATHE_ERRC_OK; ///< of that
    double launchNanoseconds = 0; ///< what one of its launches took at last, on average; 0: it was not timed yet
};

/// An artifact on a device. A kernel is loaded when it is first run, so that what is wrong with it is its own trial's.
class Module
{
public:
    Module(const Driver& driver, const DeviceFacts& device)
        : m_driver(driver)
        , m_device(device)
    {
    }
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    /// 0, or a failure with its sentence.
    int load(std::string_view artifact, const char* descriptor, LatheDeviceError* error);
    std::vector<ModuleKernel>& kernels() { return m_kernels; }
    /// Loads a kernel, from its cubin if that is for this device, else from its PTX, and holds its launches against the
    /// limits of the device and of what was loaded. The device's context is current. Errors: BUILD_FAILED with the
    /// driver's words, INCOMPATIBLE where the driver is too old for what was made, UNSUPPORTED with the limit.
    int prepare(std::size_t kernel, LatheDeviceError* error);
    /// The driver's code of an error that lasts (isLasting()), which came while a kernel was loaded; kSuccess: none.
    int lastingError() const { return m_lastingError; }

private:
    int readDescriptor(const char* text, LatheDeviceError* error);
    /// Of one program; a sentence if there is none.
    std::string loadProgram(std::size_t program, LatheErrc& kind);
    std::string refusal(int code, const std::string& log, const runtime::PackedProgram& packed, LatheErrc& kind);
    /// Of a call that failed: `usual` is what that means of a kernel, unless the context or the device is at an end.
    LatheErrc kindOfFailure(int code, LatheErrc usual);
    std::string loadLaunch(const std::string& kernel, ModuleLaunch& launch, LatheErrc& kind);

    const Driver& m_driver;
    const DeviceFacts& m_device;
    std::vector<runtime::PackedProgram> m_packed;
    std::vector<LoadedModule> m_loaded; ///< of these; null: not yet
    std::vector<ModuleKernel> m_kernels;
    int m_lastingError = kSuccess;
};

} // namespace lathe::cuda
