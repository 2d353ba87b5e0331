#include "plugins/cuda/library/queue.h"

#include "core/runtime/array.h"
#include "plugins/cuda/library/refusal.h"

namespace lathe::cuda {

using runtime::DeviceContext;
using runtime::DeviceLaunch;
using runtime::DeviceMemory;
using runtime::DeviceQueue;
using runtime::ErrorText;
using runtime::Status;

namespace {

/// A stream of ours waits for the default stream, and that for it: what the caller's program did there to memory that
/// it hands over is done before a run begins.
constexpr unsigned kInOrderWithDefault = 0;

Status takeCallers(const DeviceContext& context, Stream callers, DeviceQueue& queue, ErrorText& error)
{
    const Driver& driver = *context.driver;
    Context of = nullptr;
    if (driver.streamGetContext != nullptr) {
        if (const int code = driver.streamGetContext(callers, &of); code != kSuccess)
            return refused(error, driver, code, "the caller's stream");
        if (of != context.context) {
            error.set("the caller's CUDA stream is of another context: the model must be opened with the stream's "
                      "context");
            return Status::InvalidArgument;
        }
    }
    queue.stream = callers;
    queue.isCallers = true;
    return Status::Ok;
}

Status make(const DeviceContext& context, DeviceQueue& queue, ErrorText& error)
{
    const int code = context.driver->streamCreate(&queue.stream, kInOrderWithDefault);
    if (code == kSuccess)
        return Status::Ok;
    queue.stream = nullptr;
    return refused(error, *context.driver, code, "a stream on %.150s", context.gpu.name);
}

/// Whether the caller records what comes into his stream, for a graph of his own. The legacy stream cannot be used
/// either while one that it waits for is recorded.
bool isCaptured(const DeviceQueue& queue)
{
    const DeviceContext& context = *queue.context;
    if (!queue.isCallers || context.driver->streamIsCapturing == nullptr)
        return false;
    const Current current(*context.driver, context.context);
    int status = kIsNotCaptured;
    const int code = current.code() == kSuccess ? context.driver->streamIsCapturing(queue.stream, &status)
                                                : current.code();
    return code == kCaptureImplicit || (code == kSuccess && status != kIsNotCaptured);
}

/// Before something is put into the stream: else his graph would have it, and fail when it is waited for.
Status refuseCaptured(const DeviceQueue& queue, ErrorText& error)
{
    if (!isCaptured(queue))
        return Status::Ok;
    error.set("the caller's CUDA stream is being captured, and a run waits for the device, which no graph can: run the "
              "model before or behind the capture");
    return Status::InvalidArgument;
}

/// Bytes of zero are no command.
bool hasBytes(const DeviceMemory* memory, std::size_t bytes, Status& status, ErrorText& error)
{
    const std::size_t has = memory != nullptr ? memory->bytes : 0;
    status = bytes <= has ? Status::Ok : Status::InvalidArgument;
    if (bytes > has)
        error.set("a copy of %zu bytes reaches outside of CUDA memory of %zu", bytes, has);
    return bytes > 0 && bytes <= has;
}

/// Whether a command on memory of the caller's, or of so many bytes, is to be recorded.
bool isRecorded(const DeviceQueue& queue, const DeviceMemory& one, const DeviceMemory& other, std::size_t bytes)
{
    return queue.recorder.isRecording() && !one.isCallers && !other.isCallers && bytes <= Recorder::kMostStaged;
}

/// Starts a command behind all that came before it: `call` returns the driver's code, with the context current.
template<typename Call>
Status startNow(DeviceQueue& queue, const char* direction, std::size_t bytes, bool wait, ErrorText& error, Call call)
{
    if (const Status status = queue.recorder.flush(error); status != Status::Ok)
        return status;
    if (const Status status = refuseCaptured(queue, error); status != Status::Ok)
        return status;
    const DeviceContext& context = *queue.context;
    const Driver& driver = *context.driver;
    const Current current(driver, context.context);
    int code = current.code();
    if (code == kSuccess)
        code = call(driver);
    if (code != kSuccess)
        return refused(error, driver, code, "a copy of %zu bytes %s the device", bytes, direction);
    queue.recorder.touch();
    return wait ? finishQueue(&queue, error) : Status::Ok;
}

} // namespace

Status startQueue(DeviceContext* context, void* handle, DeviceQueue** queue, ErrorText& error)
{
    auto* const made = runtime::makeArray<DeviceQueue>(1);
    if (made == nullptr)
        return noHostMemory(error);
    made->context = context;
    const Current current(*context->driver, context->context);
    Status status = Status::Ok;
    if (current.code() != kSuccess)
        status = refused(error, *context->driver, current.code(), "the context of %.150s", context->gpu.name);
    else if (handle != nullptr)
        status = takeCallers(*context, static_cast<Stream>(handle), *made, error);
    else
        status = make(*context, *made, error);
    if (status == Status::Ok) {
        made->recorder.open(*context, made->stream);
        *queue = made;
    } else {
        runtime::freeArray(made, 1);
    }
    return status;
}

void endQueue(DeviceQueue* queue)
{
    if (queue == nullptr)
        return;
    const Driver& driver = *queue->context->driver;
    const Current current(driver, queue->context->context);
    if (!isCaptured(*queue)) // else no run of this instance is left in it
        driver.streamSynchronize(queue->stream);
    Stream const own = queue->isCallers ? nullptr : queue->stream;
    runtime::freeArray(queue, 1); // its graphs first
    if (own != nullptr)
        driver.streamDestroy(own);
}

Status enqueueLaunch(DeviceQueue* queue, DeviceLaunch* launch, ErrorText& error)
{
    if (queue->recorder.isRecording()) {
        Command command;
        command.launch = launch;
        command.number = launch->number;
        return queue->recorder.add(command, nullptr, error);
    }
    if (const Status status = refuseCaptured(*queue, error); status != Status::Ok)
        return status;
    const Current current(*queue->context->driver, queue->context->context);
    queue->recorder.touch();
    return startLaunch(*launch, queue->stream, error);
}

Status enqueueCopy(DeviceQueue* queue, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(from, bytes, status, error) || !hasBytes(to, bytes, status, error))
        return status;
    if (isRecorded(*queue, *from, *to, 0)) {
        Command command;
        command.kind = Command::Kind::Copy;
        command.to = to->address;
        command.from = from->address;
        command.bytes = bytes;
        return queue->recorder.add(command, nullptr, error);
    }
    return startNow(*queue, "on", bytes, false, error, [&](const Driver& driver) {
        return driver.copyOnDevice(to->address, from->address, bytes, queue->stream);
    });
}

Status enqueueWrite(DeviceQueue* queue, DeviceMemory* to, const void* from, std::size_t bytes, bool wait,
                    ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(to, bytes, status, error))
        return status;
    if (queue->recorder.awaits(from, bytes))
        if (status = finishQueue(queue, error); status != Status::Ok)
            return status;
    if (isRecorded(*queue, *to, *to, bytes)) { // `from` is read here, whatever is waited for
        Command command;
        command.kind = Command::Kind::Write;
        command.to = to->address;
        command.bytes = bytes;
        return queue->recorder.add(command, from, error);
    }
    return startNow(*queue, "to", bytes, wait, error,
                    [&](const Driver& driver) { return driver.copyToDevice(to->address, from, bytes, queue->stream); });
}

Status enqueueRead(DeviceQueue* queue, void* to, DeviceMemory* from, std::size_t bytes, bool wait, ErrorText& error)
{
    Status status = Status::Ok;
    if (!hasBytes(from, bytes, status, error))
        return status;
    if (isRecorded(*queue, *from, *from, bytes)) {
        Command command;
        command.kind = Command::Kind::Read;
        command.from = from->address;
        command.bytes = bytes;
        command.host = to;
        status = queue->recorder.add(command, nullptr, error);
        return wait && status == Status::Ok ? finishQueue(queue, error) : status;
    }
    // Within a run the next command may take what this one leaves at `to`, at once.
    const bool waits = wait || queue->recorder.isRecording();
    return startNow(*queue, "from", bytes, waits, error,
                    [&](const Driver& driver) { return driver.copyToHost(to, from->address, bytes, queue->stream); });
}

/// It lies at one place for both, so that there is nothing to be done but to wait.
Status enqueueMap(DeviceQueue*, DeviceMemory* memory, void** host, ErrorText&)
{
    *host = memory->host;
    return Status::Ok;
}

Status enqueueUnmap(DeviceQueue*, DeviceMemory*, ErrorText&)
{
    return Status::Ok;
}

Status finishQueue(DeviceQueue* queue, ErrorText& error)
{
    const Status flushed = queue->recorder.flush(error);
    if (isCaptured(*queue)) // waiting for it would end the capture
        return queue->recorder.isBusy() ? refuseCaptured(*queue, error) : flushed;
    const Driver& driver = *queue->context->driver;
    const Current current(driver, queue->context->context);
    int code = current.code();
    if (code == kSuccess)
        code = driver.streamSynchronize(queue->stream);
    queue->recorder.finished(code == kSuccess && flushed == Status::Ok);
    if (flushed != Status::Ok)
        return flushed;
    return code == kSuccess ? Status::Ok : failedAt(error, driver, code, "what was in the stream");
}

Status beginRun(DeviceQueue* queue, ErrorText& error)
{
    if (const Status status = refuseCaptured(*queue, error); status != Status::Ok)
        return status;
    return queue->recorder.begin(error);
}

Status endRun(DeviceQueue* queue, ErrorText& error)
{
    return queue->recorder.end(error);
}

} // namespace lathe::cuda
