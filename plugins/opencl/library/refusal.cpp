#include "plugins/opencl/library/refusal.h"

#include <cstdarg>
#include <cstdio>

namespace lathe::opencl {

using runtime::ErrorText;
using runtime::Status;

namespace {

Status statusOf(cl_int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ? Status::NoMemory
                                                                                     : Status::KernelFailed;
}

} // namespace

Status refused(ErrorText& error, cl_int code, const char* doing, ...)
{
    char words[320];
    va_list arguments;
    va_start(arguments, doing);
    std::vsnprintf(words, sizeof words, doing, arguments);
    va_end(arguments);
    error.set("OpenCL refuses %s: %s", words, errorName(code).text);
    return statusOf(code);
}

Status failedAt(ErrorText& error, cl_int code, const char* doing, ...)
{
    char words[320];
    va_list arguments;
    va_start(arguments, doing);
    std::vsnprintf(words, sizeof words, doing, arguments);
    va_end(arguments);
    error.set("OpenCL failed at %s: %s", words, errorName(code).text);
    return statusOf(code);
}

Status noHostMemory(ErrorText& error)
{
    error.set("no memory for what OpenCL's objects need on the host");
    return Status::NoMemory;
}

} // namespace lathe::opencl
