#include "tests/cuda_driver/driver/state.h"
#include "tests/cuda_driver/driver/time_model.h"

#include <cstdlib>
#include <cstring>

// Entry points: memory of device and host, copies, fills.

using namespace lathe::cuda_driver;
using lathe::ptx::Allocation;

namespace {

using Address = uint64_t;

/// The allocation that holds all of these bytes; null: none does.
Allocation* rangeOf(Context& context, Address address, size_t bytes)
{
    Allocation* const found = context.memory->find(address);
    return found && found->size - (address - found->base) >= bytes ? found : nullptr;
}

int toDevice(Context& context, Address to, const void* from, size_t bytes)
{
    Allocation* const place = rangeOf(context, to, bytes);
    if (!place)
        return kInvalidValue;
    std::memcpy(place->bytes.get() + (to - place->base), from, bytes);
    std::memset(place->initialized.get() + (to - place->base), 1, bytes);
    context.memory->touch(*place);
    return kSuccess;
}

int toHost(Context& context, void* to, Address from, size_t bytes)
{
    const Allocation* const place = rangeOf(context, from, bytes);
    if (!place)
        return kInvalidValue;
    std::memcpy(to, place->bytes.get() + (from - place->base), bytes);
    return kSuccess;
}

int within(Context& context, Address to, Address from, size_t bytes)
{
    Allocation* const a = rangeOf(context, to, bytes);
    Allocation* const b = rangeOf(context, from, bytes);
    if (!a || !b)
        return kInvalidValue;
    std::memmove(a->bytes.get() + (to - a->base), b->bytes.get() + (from - b->base), bytes);
    std::memmove(a->initialized.get() + (to - a->base), b->initialized.get() + (from - b->base), bytes);
    context.memory->touch(*a);
    return kSuccess;
}

template<typename T>
int fill(Context& context, Address to, T value, size_t count)
{
    Allocation* const place = rangeOf(context, to, count * sizeof(T));
    if (!place)
        return kInvalidValue;
    for (size_t i = 0; i < count; ++i)
        std::memcpy(place->bytes.get() + (to - place->base) + i * sizeof(T), &value, sizeof(T));
    std::memset(place->initialized.get() + (to - place->base), 1, count * sizeof(T));
    context.memory->touch(*place);
    return kSuccess;
}

/// A copy in a stream: the ranges are checked now, whether it runs now or from a graph.
template<typename Check, typename Run>
int inStream(void* handle, double seconds, Check&& check, Run&& run)
{
    return enterContext([&](State& state, Context& context) -> int {
        Stream* const stream = streamOf(state, context, handle);
        if (!stream)
            return kInvalidHandle;
        if (const int code = check(context); code != kSuccess)
            return code;
        return perform(*stream, [run, seconds](Stream& in, bool) {
            in.seconds += seconds;
            return run(*in.context);
        });
    });
}

/// A copy that is done when the call returns.
template<typename Run>
int atOnce(size_t bytes, Run&& run)
{
    Context* waited = nullptr;
    const int code = enterContext([&](State& state, Context& context) -> int {
        waited = &context;
        if (const int refused = refusedByCapture(state); refused != kSuccess)
            return refused == kStreamCaptureUnsupported ? kStreamCaptureImplicit : refused;
        if (context.hung)
            return kSuccess;
        context.defaultStream.seconds += copySeconds(bytes);
        return run(context);
    });
    if (code == kSuccess)
        waitIfHung(waited);
    return code;
}

template<typename T>
int fillInStream(Address to, T value, size_t count, void* stream)
{
    return enterContext([&](State& state, Context& context) -> int {
        Stream* const in = streamOf(state, context, stream);
        if (!in)
            return kInvalidHandle;
        if (to % sizeof(T) != 0 || (count > 0 && !rangeOf(context, to, count * sizeof(T))))
            return kInvalidValue;
        return perform(*in, [=](Stream& of, bool) -> int {
            of.seconds += fillSeconds(count * sizeof(T), *of.context->device);
            return count == 0 ? static_cast<int>(kSuccess) : fill(*of.context, to, value, count);
        });
    });
}

} // namespace

LATHE_CUDA_ENTRY cuMemAlloc_v2(Address* address, size_t bytes)
{
    return enterContext([&](State& state, Context& context) -> int {
        if (!address || bytes == 0)
            return kInvalidValue;
        if (const int refused = refusedByCapture(state); refused != kSuccess)
            return refused;
        const Allocation* const made = context.memory->allocate(bytes);
        if (!made)
            return kOutOfMemory;
        *address = made->base;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuMemFree_v2(Address address)
{
    Context* waited = nullptr;
    const int code = enterContext([&](State& state, Context& context) -> int {
        waited = &context;
        if (address == 0)
            return kSuccess;
        if (const int refused = refusedByCapture(state); refused != kSuccess)
            return refused;
        const Allocation* const found = context.memory->find(address);
        if (!found || found->readOnly || !context.memory->release(address))
            return kInvalidValue;
        return kSuccess;
    });
    if (code == kSuccess)
        waitIfHung(waited); // freeing waits for the device
    return code;
}

LATHE_CUDA_ENTRY cuMemGetInfo_v2(size_t* free, size_t* total)
{
    return enterContext([&](State&, Context& context) -> int {
        if (!free || !total)
            return kInvalidValue;
        *total = context.memory->capacity();
        *free = context.memory->capacity() - context.memory->used();
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuMemHostAlloc(void** memory, size_t bytes, unsigned)
{
    return enterContext([&](State& state, Context&) -> int {
        if (!memory || bytes == 0)
            return kInvalidValue;
        if (const int refused = refusedByCapture(state); refused != kSuccess)
            return refused;
        *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        if (!*memory)
            return kOutOfMemory;
        state.hostMemory[*memory] = bytes;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuMemAllocHost_v2(void** memory, size_t bytes)
{
    return cuMemHostAlloc(memory, bytes, 0);
}

LATHE_CUDA_ENTRY cuMemFreeHost(void* memory)
{
    return enter([&](State& state) -> int {
        if (!state.hostMemory.contains(memory))
            return kInvalidValue;
        if (const int refused = refusedByCapture(state); refused != kSuccess)
            return refused;
        state.hostMemory.erase(memory);
        std::free(memory);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes)
{
    return atOnce(bytes, [&](Context& context) -> int {
        if (bytes == 0)
            return kSuccess;
        return from ? toDevice(context, to, from, bytes) : static_cast<int>(kInvalidValue);
    });
}

LATHE_CUDA_ENTRY cuMemcpyDtoH_v2(void* to, Address from, size_t bytes)
{
    return atOnce(bytes, [&](Context& context) -> int {
        if (bytes == 0)
            return kSuccess;
        return to ? toHost(context, to, from, bytes) : static_cast<int>(kInvalidValue);
    });
}

LATHE_CUDA_ENTRY cuMemcpyDtoD_v2(Address to, Address from, size_t bytes)
{
    return atOnce(0, [&](Context& context) -> int {
        return bytes == 0 ? static_cast<int>(kSuccess) : within(context, to, from, bytes);
    });
}

LATHE_CUDA_ENTRY cuMemcpyHtoDAsync_v2(Address to, const void* from, size_t bytes, void* stream)
{
    if (bytes == 0)
        return enterContext([](State&, Context&) -> int { return kSuccess; });
    return inStream(
        stream, copySeconds(bytes),
        [=](Context& context) -> int { return from && rangeOf(context, to, bytes) ? kSuccess : kInvalidValue; },
        [=](Context& context) { return toDevice(context, to, from, bytes); });
}

LATHE_CUDA_ENTRY cuMemcpyDtoHAsync_v2(void* to, Address from, size_t bytes, void* stream)
{
    if (bytes == 0)
        return enterContext([](State&, Context&) -> int { return kSuccess; });
    return inStream(
        stream, copySeconds(bytes),
        [=](Context& context) -> int { return to && rangeOf(context, from, bytes) ? kSuccess : kInvalidValue; },
        [=](Context& context) { return toHost(context, to, from, bytes); });
}

LATHE_CUDA_ENTRY cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void* stream)
{
    if (bytes == 0)
        return enterContext([](State&, Context&) -> int { return kSuccess; });
    return inStream(
        stream, 2e-6,
        [=](Context& context) -> int {
            return rangeOf(context, to, bytes) && rangeOf(context, from, bytes) ? kSuccess : kInvalidValue;
        },
        [=](Context& context) { return within(context, to, from, bytes); });
}

LATHE_CUDA_ENTRY cuMemsetD8Async(Address to, unsigned char value, size_t count, void* stream)
{
    return fillInStream<uint8_t>(to, value, count, stream);
}

LATHE_CUDA_ENTRY cuMemsetD32Async(Address to, unsigned value, size_t count, void* stream)
{
    return fillInStream<uint32_t>(to, value, count, stream);
}

LATHE_CUDA_ENTRY cuMemsetD8_v2(Address to, unsigned char value, size_t count)
{
    return fillInStream<uint8_t>(to, value, count, nullptr);
}

LATHE_CUDA_ENTRY cuMemsetD32_v2(Address to, unsigned value, size_t count)
{
    return fillInStream<uint32_t>(to, value, count, nullptr);
}

LATHE_CUDA_ENTRY cuPointerGetAttribute(void* data, int attribute, Address address)
{
    constexpr int kOfContext = 1, kMemoryType = 2, kDevicePointer = 3, kHostPointer = 4, kOrdinal = 9, kRangeStart = 11,
                  kRangeSize = 12;
    return enterContext([&](State& state, Context& context) -> int {
        const Allocation* const device = context.memory->find(address);
        const bool host = state.hostMemory.contains(reinterpret_cast<void*>(address));
        if (!data || (!device && !host))
            return kInvalidValue;
        const auto give = [data](auto value) {
            std::memcpy(data, &value, sizeof(value));
            return static_cast<int>(kSuccess);
        };
        switch (attribute) {
        case kOfContext: return give(static_cast<void*>(&context));
        case kMemoryType: return give(device ? 2U : 1U);
        case kDevicePointer: return device ? give(address) : static_cast<int>(kInvalidValue);
        case kHostPointer: return host ? give(address) : static_cast<int>(kInvalidValue);
        case kOrdinal: return give(context.device->ordinal);
        case kRangeStart: return device ? give(device->base) : static_cast<int>(kInvalidValue);
        case kRangeSize: return device ? give(static_cast<size_t>(device->size)) : static_cast<int>(kInvalidValue);
        default: return kNotSupported;
        }
    });
}
