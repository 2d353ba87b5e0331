#include "core/runtime/array.h"
#include "plugins/cuda/library/context.h"
#include "plugins/cuda/library/refusal.h"

#include <cstdint>

namespace lathe::cuda {

using runtime::DeviceContext;
using runtime::DeviceMemory;
using runtime::ErrorText;
using runtime::Status;

namespace {

/// What the driver tells of an address, by the manual's numbers (CUpointer_attribute), and its kinds of memory
/// (CUmemorytype).
enum PointerAttribute : int
{
    kContextOf = 1,
    kMemoryTypeOf = 2,
    kDeviceOf = 9,
    kRangeStartOf = 11,
    kRangeBytesOf = 12
};
constexpr unsigned kOnDevice = 2;
/// Of host memory: devices see it, too (CU_MEMHOSTALLOC_DEVICEMAP).
constexpr unsigned kMapped = 2;

DeviceMemory* make(DeviceContext* context, Address address, std::size_t bytes)
{
    auto* const made = runtime::makeArray<DeviceMemory>(1);
    if (made == nullptr)
        return nullptr;
    made->context = context;
    made->address = address;
    made->bytes = bytes;
    return made;
}

template<typename Value>
bool tells(const Driver& driver, Address address, PointerAttribute what, Value& value)
{
    return driver.pointerGetAttribute(&value, what, address) == kSuccess;
}

/// What is wrong with memory of the caller's; false: nothing that the driver tells. Memory from pools and maps of the
/// caller's is of a device, but of no context.
bool isWrong(const DeviceContext& context, Address address, std::size_t bytes, ErrorText& error)
{
    const Driver& driver = *context.driver;
    unsigned type = 0;
    if (address == 0 || !tells(driver, address, kMemoryTypeOf, type) || type != kOnDevice) {
        error.set("the caller's CUDA memory is no memory of a device");
        return true;
    }
    Context of = nullptr;
    if (tells(driver, address, kContextOf, of) && of != nullptr && of != context.context) {
        error.set("the caller's CUDA memory is of another context");
        return true;
    }
    int device = 0;
    if (tells(driver, address, kDeviceOf, device) && device != context.gpu.number) {
        error.set("the caller's CUDA memory is on another device than %.150s", context.gpu.name);
        return true;
    }
    Address begin = 0;
    std::size_t all = 0;
    if (tells(driver, address, kRangeStartOf, begin) && tells(driver, address, kRangeBytesOf, all)
        && (address - begin > all || all - (address - begin) < bytes)) {
        error.set("the caller's CUDA memory has %zu bytes, and %zu are needed",
                  static_cast<std::size_t>(address - begin > all ? 0 : all - (address - begin)), bytes);
        return true;
    }
    return false;
}

} // namespace

Status allocate(DeviceContext* context, std::size_t bytes, const void* host, DeviceMemory** memory, ErrorText& error)
{
    *memory = nullptr;
    if (bytes == 0)
        return Status::Ok;
    const Driver& driver = *context->driver;
    const Current current(driver, context->context);
    Address address = 0;
    int code = current.code();
    if (code == kSuccess)
        code = driver.memAlloc(&address, bytes);
    if (code != kSuccess)
        return refused(error, driver, code, "%zu bytes of memory on %.150s", bytes, context->gpu.name);
    if (host != nullptr) {
        code = driver.copyToDevice(address, host, bytes, context->uploads);
        if (code == kSuccess)
            code = driver.streamSynchronize(context->uploads);
    }
    DeviceMemory* const made = code == kSuccess ? make(context, address, bytes) : nullptr;
    if (made == nullptr)
        driver.memFree(address);
    if (code != kSuccess)
        return refused(error, driver, code, "a copy of %zu bytes to the device", bytes);
    *memory = made;
    return made != nullptr ? Status::Ok : noHostMemory(error);
}

/// Where the processor's memory is the device's as well, there is memory that both use. What the caller has is not
/// taken: it would have to be locked in place page by page, with what else lies in these pages.
Status share(DeviceContext* context, void* host, std::size_t bytes, bool, DeviceMemory** memory, ErrorText& error)
{
    *memory = nullptr;
    if (!context->gpu.isIntegrated || host != nullptr || bytes == 0)
        return Status::Ok;
    const Driver& driver = *context->driver;
    const Current current(driver, context->context);
    void* locked = nullptr;
    Address address = 0;
    int code = current.code();
    if (code == kSuccess)
        code = driver.memHostAlloc(&locked, bytes, kMapped);
    if (code != kSuccess)
        return refused(error, driver, code, "%zu bytes of memory for both", bytes);
    code = driver.memHostGetDevicePointer(&address, locked, 0);
    DeviceMemory* const made = code == kSuccess ? make(context, address, bytes) : nullptr;
    if (made == nullptr) {
        driver.memFreeHost(locked);
        return code != kSuccess ? refused(error, driver, code, "%zu bytes of memory for both", bytes)
                                : noHostMemory(error);
    }
    made->host = locked;
    *memory = made;
    return Status::Ok;
}

Status adopt(DeviceContext* context, void* handle, std::size_t bytes, DeviceMemory** memory, ErrorText& error)
{
    *memory = nullptr;
    if (bytes == 0)
        return Status::Ok;
    const auto address = static_cast<Address>(reinterpret_cast<std::uintptr_t>(handle));
    const Current current(*context->driver, context->context);
    if (current.code() != kSuccess)
        return refused(error, *context->driver, current.code(), "the context of %.150s", context->gpu.name);
    if (isWrong(*context, address, bytes, error))
        return Status::InvalidArgument;
    DeviceMemory* const made = make(context, address, bytes);
    if (made == nullptr)
        return noHostMemory(error);
    made->isCallers = true;
    *memory = made;
    return Status::Ok;
}

/// Vectors of 16 bytes are read from it.
bool fits(const DeviceMemory* memory, bool)
{
    constexpr Address kAlignment = 16;
    return memory->address % kAlignment == 0;
}

bool overlap(const DeviceMemory* one, const DeviceMemory* other)
{
    return one->address < other->address + other->bytes && other->address < one->address + one->bytes;
}

void hold(DeviceMemory* memory)
{
    if (memory != nullptr)
        memory->holders.fetch_add(1, std::memory_order_relaxed);
}

void release(DeviceMemory* memory)
{
    if (memory == nullptr || memory->holders.fetch_sub(1, std::memory_order_acq_rel) > 1)
        return;
    const DeviceContext& context = *memory->context;
    if (!memory->isCallers) {
        const Current current(*context.driver, context.context);
        if (memory->host != nullptr)
            context.driver->memFreeHost(memory->host);
        else
            context.driver->memFree(memory->address);
    }
    runtime::freeArray(memory, 1);
}

} // namespace lathe::cuda
