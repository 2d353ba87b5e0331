#pragma once

/// OpenCL 1.2: all that is used of later versions is asked for by number, and may be refused.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

namespace lathe::opencl {

/// The functions of the loader (libOpenCL.so.1), which is opened at run time: programs start without it.
struct Driver
{
    decltype(&::clGetPlatformIDs) getPlatformIds = nullptr;
    decltype(&::clGetPlatformInfo) getPlatformInfo = nullptr;
    decltype(&::clGetDeviceIDs) getDeviceIds = nullptr;
    decltype(&::clGetDeviceInfo) getDeviceInfo = nullptr;
    decltype(&::clCreateContext) createContext = nullptr;
    decltype(&::clGetContextInfo) getContextInfo = nullptr;
    decltype(&::clRetainContext) retainContext = nullptr;
    decltype(&::clReleaseContext) releaseContext = nullptr;
    decltype(&::clCreateCommandQueue) createCommandQueue = nullptr;
    decltype(&::clGetCommandQueueInfo) getCommandQueueInfo = nullptr;
    decltype(&::clRetainCommandQueue) retainCommandQueue = nullptr;
    decltype(&::clReleaseCommandQueue) releaseCommandQueue = nullptr;
    decltype(&::clCreateBuffer) createBuffer = nullptr;
    decltype(&::clGetMemObjectInfo) getMemObjectInfo = nullptr;
    decltype(&::clRetainMemObject) retainMemObject = nullptr;
    decltype(&::clReleaseMemObject) releaseMemObject = nullptr;
    decltype(&::clEnqueueReadBuffer) enqueueReadBuffer = nullptr;
    decltype(&::clEnqueueWriteBuffer) enqueueWriteBuffer = nullptr;
    decltype(&::clEnqueueCopyBuffer) enqueueCopyBuffer = nullptr;
    decltype(&::clEnqueueFillBuffer) enqueueFillBuffer = nullptr;
    decltype(&::clEnqueueMapBuffer) enqueueMapBuffer = nullptr;
    decltype(&::clEnqueueUnmapMemObject) enqueueUnmapMemObject = nullptr;
    decltype(&::clCreateProgramWithSource) createProgramWithSource = nullptr;
    decltype(&::clCreateProgramWithBinary) createProgramWithBinary = nullptr;
    decltype(&::clBuildProgram) buildProgram = nullptr;
    decltype(&::clGetProgramInfo) getProgramInfo = nullptr;
    decltype(&::clGetProgramBuildInfo) getProgramBuildInfo = nullptr;
    decltype(&::clReleaseProgram) releaseProgram = nullptr;
    decltype(&::clCreateKernel) createKernel = nullptr;
    decltype(&::clGetKernelInfo) getKernelInfo = nullptr;
    decltype(&::clSetKernelArg) setKernelArg = nullptr;
    decltype(&::clGetKernelWorkGroupInfo) getKernelWorkGroupInfo = nullptr;
    decltype(&::clReleaseKernel) releaseKernel = nullptr;
    decltype(&::clEnqueueNDRangeKernel) enqueueNdRangeKernel = nullptr;
    decltype(&::clGetEventInfo) getEventInfo = nullptr;
    decltype(&::clGetEventProfilingInfo) getEventProfilingInfo = nullptr;
    decltype(&::clReleaseEvent) releaseEvent = nullptr;
    decltype(&::clFinish) finish = nullptr;
};

/// The loader of this process, opened once and never closed: drivers do not survive that. Null: `problem` is a sentence
/// with the name of what is missing. Any thread.
const Driver* openDriver(const char*& problem);

struct ErrorName
{
    char text[72];
};

/// "CL_OUT_OF_RESOURCES (-5)".
ErrorName errorName(cl_int code);

} // namespace lathe::opencl
