#include "plugins/cuda/device/driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace lathe::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
/// What a driver for tests exports that interprets kernels on this machine's processor.
constexpr const char* kOnProcessor = "latheCudaDriverOnCpu";
constexpr int kOldest = 11000; ///< CUDA 11.0: what is named here is there

template<typename Called>
bool take(void* library, const char* name, Called*& function)
{
    function = reinterpret_cast<Called*>(::dlsym(library, name));
    return function != nullptr;
}

/// The name of the first function that is missing; null: all are there.
const char* takeAll(void* library, Driver& d)
{
    const char* missing = nullptr;
    const auto need = [&](const char* name, auto& function) {
        if (!take(library, name, function) && missing == nullptr)
            missing = name;
    };
    need("cuInit", d.init);
    need("cuDriverGetVersion", d.driverGetVersion);
    need("cuDeviceGetCount", d.deviceGetCount);
    need("cuDeviceGet", d.deviceGet);
    need("cuDeviceGetName", d.deviceGetName);
    if (!take(library, "cuDeviceGetUuid_v2", d.deviceGetUuid)) // tells MIG instances apart; older ones do not know them
        take(library, "cuDeviceGetUuid", d.deviceGetUuid);
    need("cuDeviceTotalMem_v2", d.deviceTotalMem);
    need("cuDeviceGetAttribute", d.deviceGetAttribute);
    need("cuDevicePrimaryCtxRetain", d.primaryContextRetain);
    need("cuDevicePrimaryCtxRelease_v2", d.primaryContextRelease);
    need("cuCtxSetCurrent", d.contextSetCurrent);
    need("cuMemAlloc_v2", d.memAlloc);
    need("cuMemFree_v2", d.memFree);
    need("cuMemcpyHtoDAsync_v2", d.copyToDevice);
    need("cuMemcpyDtoHAsync_v2", d.copyToHost);
    need("cuMemsetD32Async", d.fill);
    need("cuModuleLoadDataEx", d.moduleLoad);
    need("cuModuleUnload", d.moduleUnload);
    need("cuModuleGetFunction", d.moduleGetFunction);
    need("cuFuncGetAttribute", d.functionGetAttribute);
    need("cuFuncSetAttribute", d.functionSetAttribute);
    need("cuLaunchKernel", d.launch);
    need("cuStreamCreate", d.streamCreate);
    need("cuStreamDestroy_v2", d.streamDestroy);
    need("cuStreamSynchronize", d.streamSynchronize);
    need("cuEventCreate", d.eventCreate);
    need("cuEventDestroy_v2", d.eventDestroy);
    need("cuEventRecord", d.eventRecord);
    need("cuEventElapsedTime", d.eventElapsedTime);
    const bool canCapture = take(library, "cuStreamBeginCapture_v2", d.beginCapture)
                            && take(library, "cuStreamEndCapture", d.endCapture);
    const bool canLaunch = take(library, "cuGraphInstantiateWithFlags", d.graphInstantiate)
                           && take(library, "cuGraphLaunch", d.graphLaunch);
    const bool canDestroy = take(library, "cuGraphExecDestroy", d.graphExecDestroy)
                            && take(library, "cuGraphDestroy", d.graphDestroy);
    d.hasGraphs = canCapture && canLaunch && canDestroy;
    take(library, "cuGetErrorName", d.getErrorName);
    take(library, "cuGetErrorString", d.getErrorString);
    return missing;
}

/// A sentence; empty: it is open.
std::string open(Driver& driver)
{
    const char* const named = std::getenv("LATHE_CUDA_DRIVER");
    const std::string file = named != nullptr && named[0] != '\0' ? named : kLibrary;
    void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        return file == kLibrary
                   ? "the NVIDIA driver's library libcuda.so.1 is not installed"
                   : "the driver that LATHE_CUDA_DRIVER names cannot be loaded: " + std::string(::dlerror());
    if (const char* const missing = takeAll(library, driver))
        return file + " has no function " + missing + ": a driver for CUDA 11 or later is needed";
    driver.isOnProcessor = ::dlsym(library, kOnProcessor) != nullptr;
    driver.driverGetVersion(&driver.version);
    if (driver.version < kOldest)
        return "the NVIDIA driver is for CUDA " + versionText(driver.version) + ": one for CUDA 11 or later is needed";
    const int code = driver.init(0);
    if (code == kNoDevice)
        return "the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those that it does not name)";
    if (code == kSystemDriverMismatch)
        return "libcuda.so.1 and the NVIDIA driver in the kernel are of different versions: restart the machine";
    if (code != kSuccess)
        return "the NVIDIA driver does not start: " + errorText(driver, code);
    return {};
}

} // namespace

const Driver* openDriver(std::string& problem)
{
    static std::mutex mutex;
    static Driver driver;
    static std::string why;
    static bool wasTried = false;
    const std::scoped_lock lock(mutex);
    if (!wasTried)
        why = open(driver);
    wasTried = true;
    problem = why;
    return why.empty() ? &driver : nullptr;
}

std::string versionText(int version)
{
    return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

std::string errorText(const Driver& driver, int code)
{
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.getErrorName != nullptr)
        driver.getErrorName(code, &name);
    if (driver.getErrorString != nullptr)
        driver.getErrorString(code, &text);
    const std::string number = std::to_string(code);
    if (name == nullptr)
        return "CUDA error " + number;
    return (text == nullptr ? std::string() : std::string(text) + ' ') + '(' + name + ", " + number + ')';
}

} // namespace lathe::cuda
