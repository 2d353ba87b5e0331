#include "plugins/opencl/device/driver.h"

#include "core/runtime/libc_versions.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>

namespace lathe::opencl {
namespace {

template<typename Function>
void take(void* library, const char* name, Function*& function, const char*& missing)
{
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    if (function == nullptr && missing == nullptr)
        missing = name;
}

char g_problem[160] = ""; ///< a sentence about what is missing

void open(Driver& d)
{
    void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::snprintf(g_problem, sizeof g_problem, "the OpenCL loader libOpenCL.so.1 is not installed");
        return;
    }
    const char* missing = nullptr;
    take(library, "clGetPlatformIDs", d.getPlatformIds, missing);
    take(library, "clGetPlatformInfo", d.getPlatformInfo, missing);
    take(library, "clGetDeviceIDs", d.getDeviceIds, missing);
    take(library, "clGetDeviceInfo", d.getDeviceInfo, missing);
    take(library, "clCreateContext", d.createContext, missing);
    take(library, "clGetContextInfo", d.getContextInfo, missing);
    take(library, "clRetainContext", d.retainContext, missing);
    take(library, "clReleaseContext", d.releaseContext, missing);
    take(library, "clCreateCommandQueue", d.createCommandQueue, missing);
    take(library, "clGetCommandQueueInfo", d.getCommandQueueInfo, missing);
    take(library, "clRetainCommandQueue", d.retainCommandQueue, missing);
    take(library, "clReleaseCommandQueue", d.releaseCommandQueue, missing);
    take(library, "clCreateBuffer", d.createBuffer, missing);
    take(library, "clGetMemObjectInfo", d.getMemObjectInfo, missing);
    take(library, "clRetainMemObject", d.retainMemObject, missing);
    take(library, "clReleaseMemObject", d.releaseMemObject, missing);
    take(library, "clEnqueueReadBuffer", d.enqueueReadBuffer, missing);
    take(library, "clEnqueueWriteBuffer", d.enqueueWriteBuffer, missing);
    take(library, "clEnqueueCopyBuffer", d.enqueueCopyBuffer, missing);
    take(library, "clEnqueueFillBuffer", d.enqueueFillBuffer, missing);
    take(library, "clEnqueueMapBuffer", d.enqueueMapBuffer, missing);
    take(library, "clEnqueueUnmapMemObject", d.enqueueUnmapMemObject, missing);
    take(library, "clCreateProgramWithSource", d.createProgramWithSource, missing);
    take(library, "clCreateProgramWithBinary", d.createProgramWithBinary, missing);
    take(library, "clBuildProgram", d.buildProgram, missing);
    take(library, "clGetProgramInfo", d.getProgramInfo, missing);
    take(library, "clGetProgramBuildInfo", d.getProgramBuildInfo, missing);
    take(library, "clReleaseProgram", d.releaseProgram, missing);
    take(library, "clCreateKernel", d.createKernel, missing);
    take(library, "clGetKernelInfo", d.getKernelInfo, missing);
    take(library, "clSetKernelArg", d.setKernelArg, missing);
    take(library, "clGetKernelWorkGroupInfo", d.getKernelWorkGroupInfo, missing);
    take(library, "clReleaseKernel", d.releaseKernel, missing);
    take(library, "clEnqueueNDRangeKernel", d.enqueueNdRangeKernel, missing);
    take(library, "clGetEventInfo", d.getEventInfo, missing);
    take(library, "clGetEventProfilingInfo", d.getEventProfilingInfo, missing);
    take(library, "clReleaseEvent", d.releaseEvent, missing);
    take(library, "clFinish", d.finish, missing);
    if (missing != nullptr)
        std::snprintf(g_problem, sizeof g_problem,
                      "libOpenCL.so.1 has no function %s: a loader of OpenCL 1.2 or later is needed", missing);
}

/// As cl.h numbers them; what lies between the two ranges does not exist.
constexpr const char* kErrors[] = {
    "CL_SUCCESS",
    "CL_DEVICE_NOT_FOUND",
    "CL_DEVICE_NOT_AVAILABLE",
    "CL_COMPILER_NOT_AVAILABLE",
    "CL_MEM_OBJECT_ALLOCATION_FAILURE",
    "CL_OUT_OF_RESOURCES",
    "CL_OUT_OF_HOST_MEMORY",
    "CL_PROFILING_INFO_NOT_AVAILABLE",
    "CL_MEM_COPY_OVERLAP",
    "CL_IMAGE_FORMAT_MISMATCH",
    "CL_IMAGE_FORMAT_NOT_SUPPORTED",
    "CL_BUILD_PROGRAM_FAILURE",
    "CL_MAP_FAILURE",
    "CL_MISALIGNED_SUB_BUFFER_OFFSET",
    "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
    "CL_COMPILE_PROGRAM_FAILURE",
    "CL_LINKER_NOT_AVAILABLE",
    "CL_LINK_PROGRAM_FAILURE",
    "CL_DEVICE_PARTITION_FAILED",
    "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
};
constexpr const char* kInvalid[] = {
    // from -30 on
    "CL_INVALID_VALUE",
    "CL_INVALID_DEVICE_TYPE",
    "CL_INVALID_PLATFORM",
    "CL_INVALID_DEVICE",
    "CL_INVALID_CONTEXT",
    "CL_INVALID_QUEUE_PROPERTIES",
    "CL_INVALID_COMMAND_QUEUE",
    "CL_INVALID_HOST_PTR",
    "CL_INVALID_MEM_OBJECT",
    "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
    "CL_INVALID_IMAGE_SIZE",
    "CL_INVALID_SAMPLER",
    "CL_INVALID_BINARY",
    "CL_INVALID_BUILD_OPTIONS",
    "CL_INVALID_PROGRAM",
    "CL_INVALID_PROGRAM_EXECUTABLE",
    "CL_INVALID_KERNEL_NAME",
    "CL_INVALID_KERNEL_DEFINITION",
    "CL_INVALID_KERNEL",
    "CL_INVALID_ARG_INDEX",
    "CL_INVALID_ARG_VALUE",
    "CL_INVALID_ARG_SIZE",
    "CL_INVALID_KERNEL_ARGS",
    "CL_INVALID_WORK_DIMENSION",
    "CL_INVALID_WORK_GROUP_SIZE",
    "CL_INVALID_WORK_ITEM_SIZE",
    "CL_INVALID_GLOBAL_OFFSET",
    "CL_INVALID_EVENT_WAIT_LIST",
    "CL_INVALID_EVENT",
    "CL_INVALID_OPERATION",
    "CL_INVALID_GL_OBJECT",
    "CL_INVALID_BUFFER_SIZE",
    "CL_INVALID_MIP_LEVEL",
    "CL_INVALID_GLOBAL_WORK_SIZE",
    "CL_INVALID_PROPERTY",
    "CL_INVALID_IMAGE_DESCRIPTOR",
    "CL_INVALID_COMPILER_OPTIONS",
    "CL_INVALID_LINKER_OPTIONS",
    "CL_INVALID_DEVICE_PARTITION_COUNT",
};
constexpr cl_int kFirstInvalid = -30;
static_assert(CL_KERNEL_ARG_INFO_NOT_AVAILABLE == 1 - static_cast<cl_int>(sizeof kErrors / sizeof *kErrors));
static_assert(CL_INVALID_VALUE == kFirstInvalid);
static_assert(CL_INVALID_DEVICE_PARTITION_COUNT
              == kFirstInvalid + 1 - static_cast<cl_int>(sizeof kInvalid / sizeof *kInvalid));

} // namespace

const Driver* openDriver(const char*& problem)
{
    // Guards of local statics come from the C++ library.
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static Driver driver;
    static bool wasTried = false;
    ::pthread_mutex_lock(&mutex);
    if (!wasTried)
        open(driver);
    wasTried = true;
    ::pthread_mutex_unlock(&mutex);
    problem = g_problem;
    return g_problem[0] == '\0' ? &driver : nullptr;
}

ErrorName errorName(cl_int code)
{
    ErrorName name;
    const char* known = nullptr;
    if (code <= 0 && code >= CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
        known = kErrors[-code];
    else if (code <= kFirstInvalid && code >= CL_INVALID_DEVICE_PARTITION_COUNT)
        known = kInvalid[kFirstInvalid - code];
    if (known != nullptr)
        std::snprintf(name.text, sizeof name.text, "%s (%d)", known, static_cast<int>(code));
    else
        std::snprintf(name.text, sizeof name.text, "OpenCL error %d", static_cast<int>(code));
    return name;
}

} // namespace lathe::opencl
