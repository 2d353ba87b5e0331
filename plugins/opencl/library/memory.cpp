#include "core/runtime/array.h"
#include "plugins/opencl/library/context.h"
#include "plugins/opencl/library/refusal.h"

#include <pthread.h>

#include <cstdint>
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

/// All of the host's memory that is in a buffer now, of whatever context: what commands do on two buffers over the same
/// memory is undefined, even if both only read it.
constinit DeviceMemory* g_hosts = nullptr;
constinit pthread_mutex_t g_hostsLock = PTHREAD_MUTEX_INITIALIZER;

bool isInOther(std::uintptr_t begin, std::size_t bytes)
{
    for (const DeviceMemory* other = g_hosts; other != nullptr; other = other->next)
        if (begin < other->host + other->bytes && other->host < begin + bytes)
            return true;
    return false;
}

/// Whether the driver uses these bytes where they are, by what its maker says of CL_MEM_USE_HOST_PTR: Intel's for GPUs
/// wants whole lines of a cache from the begin of a page on, processors' an alignment that they tell. Arm says that its
/// driver copies them at each map, of others nothing is known: memory of the driver's own serves these better.
bool isUsedInPlace(const Driver& driver, const DeviceFacts& device, std::uintptr_t begin, std::size_t bytes)
{
    if (device.isProcessor) {
        cl_uint bits = 0;
        driver.getDeviceInfo(device.id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr);
        return bits >= 8 && begin % (bits / 8) == 0;
    }
    return std::strstr(device.platformName, "Intel") != nullptr && begin % 4096 == 0 && bytes % 64 == 0;
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
    if (buffer == nullptr) {
        const Status status = refused(error, code, "a buffer of %zu bytes", bytes);
        return code == CL_OUT_OF_RESOURCES ? Status::NoMemory : status;
    }
    const Status status = wrap(*context->driver, buffer, bytes, memory, error);
    if (status == Status::Ok)
        (*memory)->isForBoth = device.sharesMemory;
    return status;
}

Status share(DeviceContext* context, void* host, std::size_t bytes, bool isInput, DeviceMemory** memory,
             ErrorText& error)
{
    *memory = nullptr;
    const DeviceFacts& device = context->device;
    if (!device.sharesMemory || bytes == 0)
        return Status::Ok;
    if (host == nullptr)
        return allocate(context, bytes, nullptr, memory, error);
    const auto begin = reinterpret_cast<std::uintptr_t>(host);
    if (bytes < kLeastBytes || bytes > device.largestBuffer || !isUsedInPlace(*context->driver, device, begin, bytes))
        return Status::Ok;
    ::pthread_mutex_lock(&g_hostsLock);
    Status status = Status::Ok;
    if (!isInOther(begin, bytes)) {
        cl_int code = CL_SUCCESS;
        const cl_mem_flags flags = CL_MEM_USE_HOST_PTR | (isInput ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE);
        cl_mem const buffer = context->driver->createBuffer(context->context, flags, bytes, host, &code);
        if (buffer != nullptr) // what the driver refuses here is copied
            status = wrap(*context->driver, buffer, bytes, memory, error);
        if (*memory != nullptr) {
            DeviceMemory& made = **memory;
            made.host = begin;
            made.next = g_hosts;
            if (g_hosts != nullptr)
                g_hosts->before = &made;
            g_hosts = &made;
        }
    }
    ::pthread_mutex_unlock(&g_hostsLock);
    return status;
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

/// No part of a buffer: kernels on parts start late on NVIDIA's driver (core/runtime/stretches.h).
bool fits(const DeviceMemory* memory, bool isInput)
{
    const Driver& driver = *memory->driver;
    const auto flags = valueOf<cl_mem_flags>(driver, memory->memory, CL_MEM_FLAGS);
    return valueOf<cl_mem>(driver, memory->memory, CL_MEM_ASSOCIATED_MEMOBJECT) == nullptr
           && (flags & CL_MEM_WRITE_ONLY) == 0 && (isInput || (flags & CL_MEM_READ_ONLY) == 0);
}

/// Of two buffers, or parts of one.
bool overlap(const DeviceMemory* one, const DeviceMemory* other)
{
    struct Place
    {
        cl_mem whole;
        std::size_t begin, bytes;
    };
    const auto placeOf = [](const DeviceMemory& memory) {
        const Driver& driver = *memory.driver;
        auto* const whole = valueOf<cl_mem>(driver, memory.memory, CL_MEM_ASSOCIATED_MEMOBJECT);
        if (whole == nullptr)
            return Place{memory.memory, 0, memory.bytes};
        return Place{whole, valueOf<std::size_t>(driver, memory.memory, CL_MEM_OFFSET), memory.bytes};
    };
    const Place a = placeOf(*one), b = placeOf(*other);
    return a.whole == b.whole && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

void release(DeviceMemory* memory)
{
    if (memory == nullptr)
        return;
    memory->driver->releaseMemObject(memory->memory);
    if (memory->host != 0) {
        ::pthread_mutex_lock(&g_hostsLock);
        (memory->before != nullptr ? memory->before->next : g_hosts) = memory->next;
        if (memory->next != nullptr)
            memory->next->before = memory->before;
        ::pthread_mutex_unlock(&g_hostsLock);
    }
    runtime::freeArray(memory, 1);
}

} // namespace lathe::opencl
