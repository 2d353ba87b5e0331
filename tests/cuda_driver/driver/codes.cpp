#include "tests/cuda_driver/driver/cuda_api.h"

namespace lathe::cuda_driver {

namespace {

struct CodeRow
{
    int code;
    const char *name, *description;
};

constexpr CodeRow kCodes[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "the driver was not initialized"},
    {kDeviceUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the device is not available"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "there is no device"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "no such device"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "the image is neither PTX nor machine code"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "no context is current, or it is none"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "the image has no code for this device"},
    {kEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "the device's memory had an error that could not be corrected"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "the PTX cannot be compiled"},
    {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the PTX is of a newer version than this driver knows"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "no such stream, event or function"},
    {kIllegalState, "CUDA_ERROR_ILLEGAL_STATE", "the object is not in a state that allows this"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "there is nothing of this name"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "the device is not ready yet"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel used memory that it has not"},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "the launch needs more registers than there are"},
    {kLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch took too long and was ended"},
    {kContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "the context was destroyed"},
    {kAssert, "CUDA_ERROR_ASSERT", "an assertion of a kernel failed"},
    {kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "the memory is registered already"},
    {kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "the memory was not registered"},
    {kHardwareStackError, "CUDA_ERROR_HARDWARE_STACK_ERROR", "a kernel's stack is damaged"},
    {kIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "a kernel ran into an instruction that is none"},
    {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "a kernel used an address that is not aligned"},
    {kInvalidAddressSpace, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "a kernel used an address of the wrong space"},
    {kInvalidPc, "CUDA_ERROR_INVALID_PC", "a kernel left its code"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "a kernel failed"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "this driver does not support it"},
    {kStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "this cannot be done while a stream captures"},
    {kStreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "an error before ended the capture"},
    {kStreamCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "the capture did not begin in this stream"},
    {kStreamCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "another stream of the capture was not waited for"},
    {kStreamCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "the legacy stream would wait for one that captures"},
    {kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a stream that captures"},
    {kStreamCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", "another thread began the capture"},
    {kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const CodeRow* find(int code)
{
    for (const CodeRow& row : kCodes)
        if (row.code == code)
            return &row;
    return nullptr;
}

} // namespace

const char* nameOf(int code)
{
    const CodeRow* const row = find(code);
    return row ? row->name : nullptr;
}

const char* descriptionOf(int code)
{
    const CodeRow* const row = find(code);
    return row ? row->description : nullptr;
}

} // namespace lathe::cuda_driver
