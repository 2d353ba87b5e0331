#include "plugins/opencl/library/queue.h"

#include "core/runtime/array.h"
#include "plugins/opencl/library/refusal.h"

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
    queue.hasTimes = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    return Status::Ok;
}

Status make(const DeviceContext& context, DeviceQueue& queue, ErrorText& error)
{
    const Driver& driver = *context.driver;
    cl_int code = CL_SUCCESS;
    queue.queue = driver.createCommandQueue(context.context, context.device.id, CL_QUEUE_PROFILING_ENABLE, &code);
    queue.hasTimes = queue.queue != nullptr;
    if (queue.queue == nullptr)
        queue.queue = driver.createCommandQueue(context.context, context.device.id, 0, &code);
    return queue.queue != nullptr ? Status::Ok : refused(error, code, "a queue on %.200s", context.device.name);
}

void dropEvents(DeviceQueue& queue)
{
    for (std::size_t i = 0; i < queue.eventCount; ++i)
        if (queue.events[i] != nullptr)
            queue.context->driver->releaseEvent(queue.events[i]);
    runtime::freeArray(queue.events, queue.eventRoom);
    queue.events = nullptr;
    queue.eventCount = queue.eventRoom = 0;
}

/// Where the next command's event goes; null: nobody asks for it.
cl_event* nextEvent(DeviceQueue& queue)
{
    if (!queue.keepsTimes)
        return nullptr;
    if (queue.eventCount == queue.eventRoom) {
        const std::size_t room = queue.eventRoom > 0 ? 2 * queue.eventRoom : 8;
        cl_event* const more = runtime::makeArray<cl_event>(room);
        if (more == nullptr)
            return nullptr; // the command is not counted
        for (std::size_t i = 0; i < queue.eventCount; ++i)
            more[i] = queue.events[i];
        runtime::freeArray(queue.events, queue.eventRoom);
        queue.events = more;
        queue.eventRoom = room;
    }
    return &queue.events[queue.eventCount++];
}

/// What became of a command, and how long the device had it.
cl_int readEvent(const Driver& driver, cl_event event, std::uint64_t& nanoseconds)
{
    cl_int status = CL_COMPLETE;
    driver.getEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    if (status < 0)
        return status;
    cl_ulong began = 0, ended = 0;
    if (driver.getEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof began, &began, nullptr) == CL_SUCCESS
        && driver.getEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr) == CL_SUCCESS
        && began > 0 && ended > began) // there are drivers whose events are always at time 0
        nanoseconds += ended - began;
    return CL_SUCCESS;
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
    dropEvents(*queue);
    driver.releaseCommandQueue(queue->queue);
    runtime::freeArray(queue, 1);
}

Status enqueueLaunch(DeviceQueue* queue, DeviceLaunch* launch, ErrorText& error)
{
    const cl_int code = launch->driver->enqueueNdRangeKernel(queue->queue, launch->kernel, 3, nullptr, launch->threads,
                                                             launch->block, 0, nullptr, nextEvent(*queue));
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "kernel %s", launch->symbol);
}

Status enqueueCopy(DeviceQueue* queue, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(from, bytes, status, error) || !hasBytes(to, bytes, status, error))
        return status;
    const cl_int code = queue->context->driver->enqueueCopyBuffer(queue->queue, from->memory, to->memory, 0, 0, bytes,
                                                                  0, nullptr, nextEvent(*queue));
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "a copy of %zu bytes on the device", bytes);
}

Status enqueueWrite(DeviceQueue* queue, DeviceMemory* to, const void* from, std::size_t bytes, bool wait,
                    ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(to, bytes, status, error))
        return status;
    const cl_int code = queue->context->driver->enqueueWriteBuffer(queue->queue, to->memory, wait ? CL_TRUE : CL_FALSE,
                                                                   0, bytes, from, 0, nullptr, nextEvent(*queue));
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "a copy of %zu bytes to the device", bytes);
}

Status enqueueRead(DeviceQueue* queue, void* to, DeviceMemory* from, std::size_t bytes, bool wait, ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(from, bytes, status, error))
        return status;
    const cl_int code = queue->context->driver->enqueueReadBuffer(queue->queue, from->memory, wait ? CL_TRUE : CL_FALSE,
                                                                  0, bytes, to, 0, nullptr, nextEvent(*queue));
    return code == CL_SUCCESS ? Status::Ok : refused(error, code, "a copy of %zu bytes from the device", bytes);
}

Status finishQueue(DeviceQueue* queue, ErrorText& error)
{
    const cl_int code = queue->context->driver->finish(queue->queue);
    return code == CL_SUCCESS ? Status::Ok : failedAt(error, code, "what was in the queue");
}

Status takeTime(DeviceQueue* queue, bool keep, std::uint64_t& nanoseconds, ErrorText& error)
{
    nanoseconds = 0;
    const Driver& driver = *queue->context->driver;
    const Status status = finishQueue(queue, error);
    cl_int code = CL_SUCCESS;
    for (std::size_t i = 0; status == Status::Ok && code == CL_SUCCESS && i < queue->eventCount; ++i)
        if (queue->events[i] != nullptr)
            code = readEvent(driver, queue->events[i], nanoseconds);
    dropEvents(*queue);
    queue->keepsTimes = keep && queue->hasTimes;
    return code == CL_SUCCESS ? status : failedAt(error, code, "what was in the queue");
}

} // namespace lathe::opencl
