#include "core/runtime/array.h"
#include "plugins/opencl/library/context.h"
#include "plugins/opencl/library/refusal.h"

#include <cstring>

namespace lathe::opencl {

using runtime::DeviceContext;
using runtime::DeviceMemory;
using runtime::ErrorText;
using runtime::Status;

namespace {

/// Drivers have no buffers of fewer bytes.
constexpr std::size_t kLeastBytes = 4;

Status invalid(ErrorText& error, const char* sentence)
{
    error.set("%s", sentence);
    return Status::InvalidArgument;
}

/// Of a buffer that is ours to release, which it is at once if there is no memory for more.
Status wrap(const Driver& driver, cl_mem buffer, std::size_t bytes, DeviceMemory** memory, ErrorText& error)
{
    auto* const made = runtime::makeArray<DeviceMemory>(1);
    if (made == nullptr) {
        driver.releaseMemObject(buffer);
        return noHostMemory(error);
    }
    made->driver = &driver;
    made->memory = buffer;
    made->bytes = bytes;
    *memory = made;
    return Status::Ok;
}

template<typename Value>
Value valueOf(const Driver& driver, cl_mem buffer, cl_mem_info what)
{
    Value value = {};
    return driver.getMemObjectInfo(buffer, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
}

} // namespace

Status allocate(DeviceContext* context, std::size_t bytes, const void* host, DeviceMemory** memory, ErrorText& error)
{
    *memory = nullptr;
    if (bytes == 0)
        return Status::Ok;
    const DeviceFacts& device = context->device;
    if (bytes > device.largestBuffer) {
        error.set("a buffer of %zu bytes is larger than the largest that %.200s has, %llu", bytes, device.name,
                  static_cast<unsigned long long>(device.largestBuffer));
        return Status::NoMemory;
    }
    char few[kLeastBytes] = {};
    if (host != nullptr && bytes < kLeastBytes)
        host = std::memcpy(few, host, bytes);
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    if (device.sharesMemory)
        flags |= CL_MEM_ALLOC_HOST_PTR;
    if (host != nullptr)
        flags |= CL_MEM_COPY_HOST_PTR;
    cl_int code = CL_SUCCESS;
    cl_mem const buffer = context->driver->createBuffer(
        context->context, flags, bytes < kLeastBytes ? kLeastBytes : bytes, const_cast<void*>(host), &code);
    if (buffer != nullptr)
        return wrap(*context->driver, buffer, bytes, memory, error);
    const Status status = refused(error, code, "a buffer of %zu bytes", bytes);
    return code == CL_OUT_OF_RESOURCES ? Status::NoMemory : status;
}

Status adopt(DeviceContext* context, void* handle, std::size_t bytes, DeviceMemory** memory, ErrorText& error)
{
    *memory = nullptr;
    if (bytes == 0)
        return Status::Ok;
    if (handle == nullptr)
        return invalid(error, "the caller's OpenCL buffer is null");
    const Driver& driver = *context->driver;
    auto* const buffer = static_cast<cl_mem>(handle);
    if (valueOf<cl_mem_object_type>(driver, buffer, CL_MEM_TYPE) != CL_MEM_OBJECT_BUFFER)
        return invalid(error, "the caller's OpenCL memory is no buffer");
    if (valueOf<cl_context>(driver, buffer, CL_MEM_CONTEXT) != context->context)
        return invalid(error, "the caller's OpenCL buffer is of another context");
    if (const auto has = valueOf<std::size_t>(driver, buffer, CL_MEM_SIZE); has < bytes) {
        error.set("the caller's OpenCL buffer has %zu bytes, and %zu are needed", has, bytes);
        return Status::InvalidArgument;
    }
    if (const cl_int code = driver.retainMemObject(buffer); code != CL_SUCCESS)
        return refused(error, code, "the caller's buffer");
    return wrap(driver, buffer, bytes, memory, error);
}

void release(DeviceMemory* memory)
{
    if (memory == nullptr)
        return;
    memory->driver->releaseMemObject(memory->memory);
    runtime::freeArray(memory, 1);
}

} // namespace lathe::opencl
