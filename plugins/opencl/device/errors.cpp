#include "plugins/opencl/device/errors.h"

#include <string>

namespace lathe::opencl {
namespace {

LatheErrc kindOf(cl_int code, bool wasAccepted)
{
    switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: return LATHE_ERRC_DEVICE_LOST;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY: return wasAccepted ? LATHE_ERRC_DEVICE_LOST : LATHE_ERRC_UNSUPPORTED;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
    case CL_INVALID_BUFFER_SIZE: return LATHE_ERRC_UNSUPPORTED;
    default: return LATHE_ERRC_INTERNAL;
    }
}

} // namespace

int refused(LatheDeviceError* error, cl_int code, std::string_view doing)
{
    return fail(error, kindOf(code, false), "OpenCL refuses " + std::string(doing) + ": " + errorText(code));
}

int failedAt(LatheDeviceError* error, cl_int code, std::string_view doing)
{
    return fail(error, kindOf(code, true), "OpenCL failed at " + std::string(doing) + ": " + errorText(code));
}

} // namespace lathe::opencl
