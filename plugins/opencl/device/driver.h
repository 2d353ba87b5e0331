#pragma once

/// OpenCL 1.2: all that is used of later versions is asked for by number, and may be refused.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace lathe::opencl {

/// The functions of the loader (libOpenCL.so.1), which is opened at run time: programs start without it.
struct Driver
{
    decltype(&::clGetPlatformIDs) getPlatformIds = nullptr;
    decltype(&::clGetPlatformInfo) getPlatformInfo = nullptr;
    decltype(&::clGetDeviceIDs) getDeviceIds = nullptr;
    decltype(&::clGetDeviceInfo) getDeviceInfo = nullptr;
    decltype(&::clCreateContext) createContext = nullptr;
    decltype(&::clReleaseContext) releaseContext = nullptr;
    decltype(&::clCreateCommandQueue) createCommandQueue = nullptr;
    decltype(&::clReleaseCommandQueue) releaseCommandQueue = nullptr;
    decltype(&::clCreateBuffer) createBuffer = nullptr;
    decltype(&::clReleaseMemObject) releaseMemObject = nullptr;
    decltype(&::clEnqueueReadBuffer) enqueueReadBuffer = nullptr;
    decltype(&::clEnqueueWriteBuffer) enqueueWriteBuffer = nullptr;
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
const Driver* findDriver(std::string& problem);

/// "CL_OUT_OF_RESOURCES (-5)".
std::string errorText(cl_int error);

} // namespace lathe::opencl
