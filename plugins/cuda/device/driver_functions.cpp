#include "plugins/cuda/device/driver_functions.h"

#include "core/runtime/libc_versions.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace lathe::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
/// What a driver for tests exports that interprets kernels on this machine's processor.
constexpr const char* kOnProcessor = "latheCudaDriverOnCpu";
/// What the driver itself would say is that it was not initialized.
constexpr const char* kForked = "the NVIDIA driver was started before this process was forked off, and works in the "
                                "process that started it alone";
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
    need("cuCtxGetCurrent", d.contextGetCurrent);
    need("cuCtxGetDevice", d.contextGetDevice);
    need("cuMemAlloc_v2", d.memAlloc);
    need("cuMemFree_v2", d.memFree);
    need("cuMemHostAlloc", d.memHostAlloc);
    need("cuMemFreeHost", d.memFreeHost);
    need("cuPointerGetAttribute", d.pointerGetAttribute);
    need("cuMemcpyHtoDAsync_v2", d.copyToDevice);
    need("cuMemcpyDtoHAsync_v2", d.copyToHost);
    need("cuMemcpyDtoDAsync_v2", d.copyOnDevice);
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
    take(library, "cuGraphUpload", d.graphUpload); // since 11.1
    take(library, "cuMemHostGetDevicePointer_v2", d.memHostGetDevicePointer);
    take(library, "cuStreamGetCtx", d.streamGetContext);
    take(library, "cuStreamIsCapturing", d.streamIsCapturing);
    take(library, "cuThreadExchangeStreamCaptureMode", d.exchangeCaptureMode);
    take(library, "cuGetErrorName", d.getErrorName);
    take(library, "cuGetErrorString", d.getErrorString);
    return missing;
}

/// Why there is none, for as long as the process lives.
struct Problem
{
    char text[1024];
    void set(const char* format, ...) __attribute__((format(printf, 2, 3)));
};

void Problem::set(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
}

bool open(Driver& driver, Problem& problem)
{
    const char* const named = ::secure_getenv("LATHE_CUDA_DRIVER");
    const bool isNamed = named != nullptr && named[0] != '\0';
    const char* const file = isNamed ? named : kLibrary;
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        if (isNamed)
            problem.set("the driver that LATHE_CUDA_DRIVER names cannot be loaded: %s", ::dlerror());
        else
            problem.set("the NVIDIA driver's library libcuda.so.1 is not installed");
        return false;
    }
    if (const char* const missing = takeAll(library, driver)) {
        problem.set("%s has no function %s: a driver for CUDA 11 or later is needed", file, missing);
        return false;
    }
    driver.isOnProcessor = ::dlsym(library, kOnProcessor) != nullptr;
    int code = driver.driverGetVersion(&driver.version);
    if (code == kStubLibrary) {
        problem.set("%s is the CUDA toolkit's stub, not the NVIDIA driver: the loader must find another one (see "
                    "LD_LIBRARY_PATH)",
                    file);
        return false;
    }
    if (code == kSuccess && driver.version < kOldest) {
        problem.set("the NVIDIA driver is for CUDA %s: one for CUDA 11 or later is needed",
                    versionName(driver.version).text);
        return false;
    }
    if (code == kSuccess)
        code = driver.init(0);
    if (code == kNoDevice)
        problem.set("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those that it does not name)");
    else if (code == kSystemDriverMismatch)
        problem.set("libcuda.so.1 and the NVIDIA driver in the kernel are of different versions: restart the machine");
    else if (code != kSuccess)
        problem.set("the NVIDIA driver does not start: %s", errorName(driver, code).text);
    return code == kSuccess;
}

constinit pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
constinit Driver g_driver;
constinit Problem g_problem = {};
constinit bool g_wasTried = false, g_isOpen = false;
constinit pid_t g_process = 0; ///< in which that was

} // namespace

const Driver* openDriver(const char*& problem)
{
    const pid_t process = ::getpid();
    ::pthread_mutex_lock(&g_lock);
    if (!g_wasTried) {
        g_isOpen = open(g_driver, g_problem);
        g_process = process;
    }
    g_wasTried = true;
    ::pthread_mutex_unlock(&g_lock);
    const bool isForked = g_isOpen && g_process != process;
    problem = isForked ? kForked : g_problem.text;
    return g_isOpen && !isForked ? &g_driver : nullptr;
}

VersionText versionName(int version)
{
    VersionText made;
    std::snprintf(made.text, sizeof made.text, "%d.%d", version / 1000, version % 1000 / 10);
    return made;
}

ErrorName errorName(const Driver& driver, int code)
{
    const char* name = nullptr;
    const char* text = nullptr;
    if (driver.getErrorName != nullptr)
        driver.getErrorName(code, &name);
    if (driver.getErrorString != nullptr)
        driver.getErrorString(code, &text);
    ErrorName made;
    if (name == nullptr)
        std::snprintf(made.text, sizeof made.text, "CUDA error %d", code);
    else
        std::snprintf(made.text, sizeof made.text, "%s%s(%s, %d)", text != nullptr ? text : "",
                      text != nullptr ? " " : "", name, code);
    return made;
}

} // namespace lathe::cuda
