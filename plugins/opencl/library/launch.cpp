#include "core/runtime/array.h"
#include "plugins/opencl/library/queue.h"
#include "plugins/opencl/library/refusal.h"

#include <cstdio>

namespace lathe::opencl {

using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::DeviceQueue;
using runtime::ErrorText;
using runtime::LaunchRequest;
using runtime::Status;

namespace {

/// The size that a source requires is not compared by every driver before it starts. CL_KERNEL_WORK_GROUP_SIZE is not
/// asked for: NVIDIA's driver says 256 of kernels that require more threads, and runs them.
Status checkBuilt(const DeviceQueue& queue, const LaunchRequest& request, DeviceLaunch& made, ErrorText& error)
{
    const Driver& driver = *made.driver;
    const DeviceFacts& device = queue.context->device;
    cl_uint parameters = 0;
    if (driver.getKernelInfo(made.kernel, CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, nullptr) == CL_SUCCESS
        && parameters != request.bufferCount) {
        error.set("kernel %s has %u parameters, and a launch of it %u buffers", made.symbol, parameters,
                  request.bufferCount);
        return Status::InvalidArgument;
    }
    std::size_t needed[3] = {};
    if (driver.getKernelWorkGroupInfo(made.kernel, device.id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof needed, needed,
                                      nullptr)
            == CL_SUCCESS
        && needed[0] != 0 && (needed[0] != made.block[0] || needed[1] != made.block[1] || needed[2] != made.block[2])) {
        error.set("kernel %s needs work-groups of %zu x %zu x %zu threads, not of %zu x %zu x %zu", made.symbol,
                  needed[0], needed[1], needed[2], made.block[0], made.block[1], made.block[2]);
        return Status::InvalidArgument;
    }
    return Status::Ok;
}

/// A buffer that the launch holds from now on, instead of the one before.
Status setBuffer(DeviceLaunch& made, std::uint32_t b, const DeviceMemory* memory, ErrorText& error)
{
    cl_mem const buffer = memory != nullptr ? memory->memory : nullptr;
    cl_int code = buffer != nullptr ? made.driver->retainMemObject(buffer) : CL_SUCCESS;
    if (code == CL_SUCCESS) {
        code = made.driver->setKernelArg(made.kernel, b, sizeof buffer, &buffer);
        cl_mem const unused = code == CL_SUCCESS ? made.buffers[b] : buffer;
        if (code == CL_SUCCESS)
            made.buffers[b] = buffer;
        if (unused != nullptr)
            made.driver->releaseMemObject(unused);
    }
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "buffer %u of kernel %s", b, made.symbol);
}

Status setArguments(const LaunchRequest& request, DeviceLaunch& made, ErrorText& error)
{
    made.buffers = runtime::makeArray<cl_mem>(request.bufferCount);
    if (made.buffers == nullptr)
        return noHostMemory(error);
    made.bufferCount = request.bufferCount;
    for (std::uint32_t b = 0; b < request.bufferCount; ++b)
        if (const Status status = setBuffer(made, b, request.buffers[b], error); status != Status::Ok)
            return status;
    return Status::Ok;
}

Status fill(DeviceQueue& queue, const LaunchRequest& request, DeviceLaunch& made, ErrorText& error)
{
    made.driver = queue.context->driver;
    std::snprintf(made.symbol, sizeof made.symbol, "%s", request.symbol);
    for (std::size_t d = 0; d < 3; ++d) {
        const std::uint64_t threads = std::uint64_t{request.grid[d]} * request.block[d];
        if (threads == 0 || threads > SIZE_MAX) {
            error.set("kernel %s cannot have %u work-groups of %u threads along axis %zu", made.symbol, request.grid[d],
                      request.block[d], d);
            return Status::InvalidArgument;
        }
        made.block[d] = request.block[d];
        made.threads[d] = static_cast<std::size_t>(threads);
    }
    if (!canStart(queue.context->device, made.symbol, made.block, request.sharedBytes, error))
        return Status::KernelFailed;
    Status status = queue.context->programs.makeKernel(request.symbol, made.kernel, error);
    if (status == Status::Ok)
        status = checkBuilt(queue, request, made, error);
    return status == Status::Ok ? setArguments(request, made, error) : status;
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

Status pointLaunch(DeviceLaunch* launch, std::uint32_t buffer, DeviceMemory* memory, ErrorText& error)
{
    return setBuffer(*launch, buffer, memory, error);
}

void forgetLaunch(DeviceLaunch* launch)
{
    if (launch == nullptr)
        return;
    if (launch->kernel != nullptr)
        launch->driver->releaseKernel(launch->kernel);
    for (std::uint32_t b = 0; b < launch->bufferCount; ++b)
        if (launch->buffers[b] != nullptr)
            launch->driver->releaseMemObject(launch->buffers[b]);
    runtime::freeArray(launch->buffers, launch->bufferCount);
    runtime::freeArray(launch, 1);
}

} // namespace lathe::opencl
