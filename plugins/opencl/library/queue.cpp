#include "plugins/opencl/library/queue.h"

#include "core/runtime/array.h"
#include "plugins/opencl/library/refusal.h"

#include <cstring>

namespace lathe::opencl {

using runtime::DeviceContext;
using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::DeviceQueue;
using runtime::ErrorText;
using runtime::Status;

namespace {

template<typename Value>
Value valueOf(const Driver& driver, cl_command_queue queue, cl_command_queue_info what)
{
    Value value = {};
    return driver.getCommandQueueInfo(queue, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
}

Status takeCallers(const DeviceContext& context, cl_command_queue callers, DeviceQueue& queue, ErrorText& error)
{
    const Driver& driver = *context.driver;
    const char* wrong = nullptr;
    if (valueOf<cl_context>(driver, callers, CL_QUEUE_CONTEXT) != context.context)
        wrong = "the caller's OpenCL queue is of another context: the model must be opened with the queue's context";
    else if (valueOf<cl_device_id>(driver, callers, CL_QUEUE_DEVICE) != context.device.id)
        wrong = "the caller's OpenCL queue is of another device of the context";
    const auto properties = valueOf<cl_command_queue_properties>(driver, callers, CL_QUEUE_PROPERTIES);
    if (wrong == nullptr && (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
        wrong = "the caller's OpenCL queue does not work through its commands in order";
    if (wrong != nullptr) {
        error.set("%s", wrong);
        return Status::InvalidArgument;
    }
    if (const cl_int code = driver.retainCommandQueue(callers); code != CL_SUCCESS)
        return refused(error, code, "the caller's queue");
    queue.queue = callers;
    return Status::Ok;
}

Status make(const DeviceContext& context, DeviceQueue& queue, ErrorText& error)
{
    const Driver& driver = *context.driver;
    cl_int code = CL_SUCCESS;
    queue.queue = driver.createCommandQueue(context.context, context.device.id, 0, &code);
    return queue.queue != nullptr ? Status::Ok : refused(error, code, "a queue on %.200s", context.device.name);
}

/// Bytes of zero are no command.
bool hasBytes(const DeviceMemory* memory, std::size_t bytes, Status& status, ErrorText& error)
{
    const std::size_t has = memory != nullptr ? memory->bytes : 0;
    status = bytes <= has ? Status::Ok : Status::InvalidArgument;
    if (bytes > has)
        error.set("a copy of %zu bytes reaches outside of OpenCL memory of %zu", bytes, has);
    return bytes > 0 && bytes <= has;
}

/// Null: `error` says why.
void* mapped(const DeviceQueue& queue, const DeviceMemory& memory, cl_map_flags flags, std::size_t bytes, bool wait,
             ErrorText& error)
{
    cl_int code = CL_SUCCESS;
    void* const host = queue.context->driver->enqueueMapBuffer(queue.queue, memory.memory, wait ? CL_TRUE : CL_FALSE,
                                                               flags, 0, bytes, 0, nullptr, nullptr, &code);
    if (code == CL_SUCCESS && host != nullptr)
        return host;
    refused(error, code, "to map %zu bytes", bytes);
    return nullptr;
}

Status unmapped(const DeviceQueue& queue, const DeviceMemory& memory, void* host, ErrorText& error)
{
    const cl_int code = queue.context->driver->enqueueUnmapMemObject(queue.queue, memory.memory, host, 0, nullptr,
                                                                     nullptr);
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "to unmap %zu bytes", memory.bytes);
}

} // namespace

Status startQueue(DeviceContext* context, void* handle, DeviceQueue** queue, ErrorText& error)
{
    auto* const made = runtime::makeArray<DeviceQueue>(1);
    if (made == nullptr)
        return noHostMemory(error);
    made->context = context;
    const Status status = handle != nullptr ? takeCallers(*context, static_cast<cl_command_queue>(handle), *made, error)
                                            : make(*context, *made, error);
    if (status == Status::Ok)
        *queue = made;
    else
        runtime::freeArray(made, 1);
    return status;
}

void endQueue(DeviceQueue* queue)
{
    if (queue == nullptr)
        return;
    const Driver& driver = *queue->context->driver;
    driver.finish(queue->queue);
    driver.releaseCommandQueue(queue->queue);
    runtime::freeArray(queue, 1);
}

Status enqueueLaunch(DeviceQueue* queue, DeviceLaunch* launch, ErrorText& error)
{
    const cl_int code = launch->driver->enqueueNdRangeKernel(queue->queue, launch->kernel, 3, nullptr, launch->threads,
                                                             launch->block, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "kernel %s", launch->symbol);
}

Status enqueueCopy(DeviceQueue* queue, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(from, bytes, status, error) || !hasBytes(to, bytes, status, error))
        return status;
    const cl_int code = queue->context->driver->enqueueCopyBuffer(queue->queue, from->memory, to->memory, 0, 0, bytes,
                                                                  0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "a copy of %zu bytes on the device", bytes);
}

Status enqueueWrite(DeviceQueue* queue, DeviceMemory* to, const void* from, std::size_t bytes, bool wait,
                    ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(to, bytes, status, error))
        return status;
    if (wait && to->isForBoth) { // there is one copy then, by this thread, whatever the driver does with writes
        void* const host = mapped(*queue, *to, CL_MAP_WRITE, bytes, true, error);
        if (host == nullptr)
            return Status::KernelFailed;
        std::memcpy(host, from, bytes);
        return unmapped(*queue, *to, host, error);
    }
    const cl_int code = queue->context->driver->enqueueWriteBuffer(queue->queue, to->memory, wait ? CL_TRUE : CL_FALSE,
                                                                   0, bytes, from, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "a copy of %zu bytes to the device", bytes);
}

Status enqueueRead(DeviceQueue* queue, void* to, DeviceMemory* from, std::size_t bytes, bool wait, ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(from, bytes, status, error))
        return status;
    if (wait && from->isForBoth) {
        void* const host = mapped(*queue, *from, CL_MAP_READ, bytes, true, error);
        if (host == nullptr)
            return Status::KernelFailed;
        std::memcpy(to, host, bytes);
        return unmapped(*queue, *from, host, error);
    }
    const cl_int code = queue->context->driver->enqueueReadBuffer(queue->queue, from->memory, wait ? CL_TRUE : CL_FALSE,
                                                                  0, bytes, to, 0, nullptr, nullptr);
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "a copy of %zu bytes from the device", bytes);
}

Status enqueueMap(DeviceQueue* queue, DeviceMemory* memory, void** host, ErrorText& error)
{
    *host = mapped(*queue, *memory, CL_MAP_READ | CL_MAP_WRITE, memory->bytes, false, error);
    memory->mapped = *host;
    return *host != nullptr ? Status::Ok : Status::KernelFailed;
}

Status enqueueUnmap(DeviceQueue* queue, DeviceMemory* memory, ErrorText& error)
{
    void* const host = memory->mapped;
    memory->mapped = nullptr;
    return unmapped(*queue, *memory, host, error);
}

Status finishQueue(DeviceQueue* queue, ErrorText& error)
{
    const cl_int code = queue->context->driver->finish(queue->queue);
    return code == CL_SUCCESS ? Status::Ok : failedAt(error, code, "what was in the queue");
}

} // namespace lathe::opencl
