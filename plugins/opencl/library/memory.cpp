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
Status wrap(const Driver& driver, cl_mem buffer, std::size_t bytes, bool isWhole, DeviceMemory** memory,
            ErrorText& error)
{
    auto* const made = runtime::makeArray<DeviceMemory>(1);
    if (made == nullptr) {
        driver.releaseMemObject(buffer);
        return noHostMemory(error);
    }
    made->driver = &driver;
    made->memory = buffer;
    made->bytes = bytes;
    made->isWhole = isWhole;
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
        return wrap(*context->driver, buffer, bytes, true, memory, error);
    const Status status = refused(error, code, "a buffer of %zu bytes", bytes);
    return code == CL_OUT_OF_RESOURCES ? Status::NoMemory : status;
}

Status partOf(DeviceContext* context, DeviceMemory* memory, std::size_t offset, std::size_t bytes, DeviceMemory** part,
              ErrorText& error)
{
    *part = nullptr;
    const std::size_t whole = memory != nullptr ? memory->bytes : 0;
    if (offset > whole || bytes > whole - offset)
        return invalid(error, "a part of OpenCL memory reaches outside of it");
    if (bytes == 0)
        return Status::Ok;
    if (!memory->isWhole)
        return invalid(error, "parts of OpenCL memory have no parts themselves");
    if (context->alignment > 0 && offset % context->alignment != 0) {
        error.set("a part of OpenCL memory begins at %zu, which is no multiple of %llu", offset,
                  static_cast<unsigned long long>(context->alignment));
        return Status::InvalidArgument;
    }
    cl_int code = CL_SUCCESS;
    const cl_buffer_region region = {offset, bytes};
    cl_mem const buffer = context->driver->createSubBuffer(memory->memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                                           &code);
    if (buffer == nullptr)
        return refused(error, code, "a part of %zu bytes at %zu of a buffer of %zu", bytes, offset, whole);
    return wrap(*context->driver, buffer, bytes, false, part, error);
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
    return wrap(driver, buffer, bytes, false, memory, error);
}

void release(DeviceMemory* memory)
{
    if (memory == nullptr)
        return;
    memory->driver->releaseMemObject(memory->memory);
    runtime::freeArray(memory, 1);
}

} // namespace lathe::opencl
