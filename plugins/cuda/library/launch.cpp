#include "core/runtime/array.h"
#include "plugins/cuda/device/artifact.h"
#include "plugins/cuda/library/queue.h"
#include "plugins/cuda/library/refusal.h"

#include <atomic>
#include <cstdio>

namespace lathe::cuda {

using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::DeviceQueue;
using runtime::ErrorText;
using runtime::LaunchRequest;
using runtime::Status;

namespace {

constinit std::atomic<std::uint64_t> g_numbers{0};

std::uint64_t nextNumber()
{
    return g_numbers.fetch_add(1, std::memory_order_relaxed) + 1;
}

void setBuffer(DeviceLaunch& made, std::uint32_t b, DeviceMemory* memory)
{
    hold(memory);
    release(made.buffers[b]);
    made.buffers[b] = memory;
    made.addresses[b] = memory != nullptr ? memory->address : 0;
}

Status setParameters(const LaunchRequest& request, DeviceLaunch& made, ErrorText& error)
{
    made.bufferCount = request.bufferCount;
    made.buffers = runtime::makeArray<DeviceMemory*>(request.bufferCount);
    made.addresses = runtime::makeArray<Address>(request.bufferCount);
    made.parameters = runtime::makeArray<void*>(request.bufferCount);
    if (made.buffers == nullptr || made.addresses == nullptr || made.parameters == nullptr)
        return noHostMemory(error);
    for (std::uint32_t b = 0; b < request.bufferCount; ++b) {
        setBuffer(made, b, request.buffers[b]);
        made.parameters[b] = made.addresses + b;
    }
    return Status::Ok;
}

Status fill(const DeviceQueue& queue, const LaunchRequest& request, DeviceLaunch& made, ErrorText& error)
{
    runtime::DeviceContext& context = *queue.context;
    made.context = &context;
    made.number = nextNumber();
    std::snprintf(made.symbol, sizeof made.symbol, "%s", request.symbol);
    std::uint64_t grid[3], block[3];
    for (std::size_t d = 0; d < 3; ++d) {
        grid[d] = made.grid[d] = request.grid[d];
        block[d] = made.block[d] = request.block[d];
        if (grid[d] == 0 || block[d] == 0) {
            error.set("kernel %s cannot have %u blocks of %u threads along axis %zu", made.symbol, request.grid[d],
                      request.block[d], d);
            return Status::InvalidArgument;
        }
    }
    if (!canStart(context.gpu.limits, made.symbol, grid, block, request.sharedBytes, error))
        return Status::KernelFailed;
    made.dynamicShared = static_cast<unsigned>(dynamicSharedBytes(request.sharedBytes));
    const Current current(*context.driver, context.context);
    if (current.code() != kSuccess)
        return refused(error, *context.driver, current.code(), "the context of %.150s", context.gpu.name);
    const Status status = context.programs.find(request.symbol, block[0] * block[1] * block[2], request.bufferCount,
                                                made.dynamicShared, made.function, error);
    return status == Status::Ok ? setParameters(request, made, error) : status;
}

} // namespace

Status prepareLaunch(DeviceQueue* queue, const LaunchRequest& request, DeviceLaunch** launch, ErrorText& error)
{
    auto* const made = runtime::makeArray<DeviceLaunch>(1);
    if (made == nullptr)
        return noHostMemory(error);
    const Status status = fill(*queue, request, *made, error);
    if (status == Status::Ok)
        *launch = made;
    else
        forgetLaunch(made);
    return status;
}

/// What is in graphs has the buffer of before: it is another launch from now on.
Status pointLaunch(DeviceLaunch* launch, std::uint32_t buffer, DeviceMemory* memory, ErrorText&)
{
    setBuffer(*launch, buffer, memory);
    launch->number = nextNumber();
    return Status::Ok;
}

void forgetLaunch(DeviceLaunch* launch)
{
    if (launch == nullptr)
        return;
    for (std::uint32_t b = 0; launch->buffers != nullptr && b < launch->bufferCount; ++b)
        release(launch->buffers[b]);
    runtime::freeArray(launch->buffers, launch->bufferCount);
    runtime::freeArray(launch->addresses, launch->bufferCount);
    runtime::freeArray(launch->parameters, launch->bufferCount);
    runtime::freeArray(launch, 1);
}

Status startLaunch(const DeviceLaunch& launch, Stream stream, ErrorText& error)
{
    const Driver& driver = *launch.context->driver;
    const int code = driver.launch(launch.function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                   launch.block[1], launch.block[2], launch.dynamicShared, stream, launch.parameters,
                                   nullptr);
    return code == kSuccess ? Status::Ok : refused(error, driver, code, "kernel %s", launch.symbol);
}

} // namespace lathe::cuda
