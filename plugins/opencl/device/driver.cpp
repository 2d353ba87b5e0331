#include "plugins/opencl/device/driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace lathe::opencl {
namespace {

struct Opened
{
    Driver driver;
    std::string problem; ///< empty: `driver` is complete
};

template<typename Function>
void take(void* library, const char* name, Function*& function, std::string& problem)
{
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    if (function == nullptr && problem.empty())
        problem = std::string("libOpenCL.so.1 has no function ") + name + ": a loader of OpenCL 1.2 or later is needed";
}

Opened open()
{
    ::setenv("POCL_KERNEL_CACHE", "0", 0); // PoCL's cache grows without end, and no kernel comes twice
    Opened opened;
    void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        opened.problem = "the OpenCL loader libOpenCL.so.1 is not installed";
        return opened;
    }
    Driver& d = opened.driver;
    std::string& problem = opened.problem;
    take(library, "clGetPlatformIDs", d.getPlatformIds, problem);
    take(library, "clGetPlatformInfo", d.getPlatformInfo, problem);
    take(library, "clGetDeviceIDs", d.getDeviceIds, problem);
    take(library, "clGetDeviceInfo", d.getDeviceInfo, problem);
    take(library, "clCreateContext", d.createContext, problem);
    take(library, "clReleaseContext", d.releaseContext, problem);
    take(library, "clCreateCommandQueue", d.createCommandQueue, problem);
    take(library, "clReleaseCommandQueue", d.releaseCommandQueue, problem);
    take(library, "clCreateBuffer", d.createBuffer, problem);
    take(library, "clReleaseMemObject", d.releaseMemObject, problem);
    take(library, "clEnqueueReadBuffer", d.enqueueReadBuffer, problem);
    take(library, "clEnqueueWriteBuffer", d.enqueueWriteBuffer, problem);
    take(library, "clEnqueueFillBuffer", d.enqueueFillBuffer, problem);
    take(library, "clEnqueueMapBuffer", d.enqueueMapBuffer, problem);
    take(library, "clEnqueueUnmapMemObject", d.enqueueUnmapMemObject, problem);
    take(library, "clCreateProgramWithSource", d.createProgramWithSource, problem);
    take(library, "clCreateProgramWithBinary", d.createProgramWithBinary, problem);
    take(library, "clBuildProgram", d.buildProgram, problem);
    take(library, "clGetProgramInfo", d.getProgramInfo, problem);
    take(library, "clGetProgramBuildInfo", d.getProgramBuildInfo, problem);
    take(library, "clReleaseProgram", d.releaseProgram, problem);
    take(library, "clCreateKernel", d.createKernel, problem);
    take(library, "clSetKernelArg", d.setKernelArg, problem);
    take(library, "clGetKernelWorkGroupInfo", d.getKernelWorkGroupInfo, problem);
    take(library, "clReleaseKernel", d.releaseKernel, problem);
    take(library, "clEnqueueNDRangeKernel", d.enqueueNdRangeKernel, problem);
    take(library, "clGetEventInfo", d.getEventInfo, problem);
    take(library, "clGetEventProfilingInfo", d.getEventProfilingInfo, problem);
    take(library, "clReleaseEvent", d.releaseEvent, problem);
    take(library, "clFinish", d.finish, problem);
    return opened;
}

constexpr std::pair<cl_int, const char*> kErrors[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-30, "CL_INVALID_VALUE"},
    {-33, "CL_INVALID_DEVICE"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
};

} // namespace

const Driver* findDriver(std::string& problem)
{
    static const Opened& opened = *new Opened(open()); // NOLINT(cppcoreguidelines-owning-memory): used to the very end
    problem = opened.problem;
    return problem.empty() ? &opened.driver : nullptr;
}

std::string errorText(cl_int error)
{
    for (const auto& [code, name] : kErrors)
        if (code == error)
            return std::string(name) + " (" + std::to_string(error) + ")";
    return "OpenCL error " + std::to_string(error);
}

} // namespace lathe::opencl
