#include "tests/cuda_driver/driver/state.h"

// Entry points: streams, events, captures, graphs.

using namespace lathe::cuda_driver;

namespace {

/// Ends what a stream captures, and forgets it.
std::shared_ptr<Capture> endedCapture(State& state, Stream& stream)
{
    std::shared_ptr<Capture> capture = std::move(stream.capture);
    stream.capture = nullptr;
    for (const auto& [joined, counts] : capture->joined)
        joined->capture = nullptr;
    state.captures.erase(capture.get());
    return capture;
}

template<typename F>
int withStream(void* handle, F&& body)
{
    return enterContext([&](State& state, Context& context) -> int {
        Stream* const stream = streamOf(state, context, handle);
        return stream ? body(state, context, *stream) : kInvalidHandle;
    });
}

} // namespace

LATHE_CUDA_ENTRY cuStreamCreate(void** stream, unsigned flags)
{
    return enterContext([&](State& state, Context& context) -> int {
        if (!stream || flags > 1)
            return kInvalidValue;
        auto made = std::make_unique<Stream>();
        made->context = &context;
        made->flags = flags;
        *stream = keep(state.streams, std::move(made));
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamCreateWithPriority(void** stream, unsigned flags, int)
{
    return cuStreamCreate(stream, flags);
}

LATHE_CUDA_ENTRY cuStreamDestroy_v2(void* handle)
{
    return enterContext([&](State& state, Context& context) -> int {
        Stream* const stream = find(state.streams, handle);
        if (!stream || stream->context != &context)
            return kInvalidHandle;
        if (stream->capture) {
            if (stream->capture->origin == stream)
                endedCapture(state, *stream);
            else
                stream->capture->joined.erase(stream);
        }
        state.streams.erase(handle);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamSynchronize(void* handle)
{
    Context* waited = nullptr;
    const int code = withStream(handle, [&](State&, Context& context, Stream& stream) -> int {
        waited = &context;
        if (stream.capture) {
            stream.capture->invalid = true;
            return kStreamCaptureUnsupported;
        }
        return kSuccess;
    });
    if (code == kSuccess)
        waitIfHung(waited);
    return code;
}

LATHE_CUDA_ENTRY cuStreamQuery(void* handle)
{
    return withStream(handle, [&](State&, Context& context, Stream& stream) -> int {
        if (stream.capture) {
            stream.capture->invalid = true;
            return kStreamCaptureUnsupported;
        }
        return context.hung ? kNotReady : kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamGetCtx(void* handle, void** into)
{
    return enterContext([&](State& state, Context& context) -> int {
        if (!into)
            return kInvalidValue;
        const Stream* const here = streamOf(state, context, handle);
        const Stream* const stream = here ? here : find(state.streams, handle);
        if (!stream)
            return kInvalidHandle;
        *into = stream->context;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamWaitEvent(void* handle, void* eventHandle, unsigned)
{
    return withStream(handle, [&](State& state, Context&, Stream& stream) -> int {
        Event* const event = find(state.events, eventHandle);
        if (!event)
            return kInvalidHandle;
        const std::shared_ptr<Capture> capture = event->capture.lock();
        if (!capture) {
            if (event->recorded && event->seconds > stream.seconds && !stream.capture)
                stream.seconds = event->seconds;
            return kSuccess;
        }
        if (!stream.capture) { // it joins the capture
            stream.capture = capture;
            capture->joined[&stream] = {capture->work.size(), capture->work.size()};
        } else if (stream.capture != capture) {
            return kStreamCaptureUnmatched;
        } else if (const auto joined = capture->joined.find(event->capturedIn); joined != capture->joined.end()) {
            joined->second.second = event->capturedAt;
        }
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuEventCreate(void** event, unsigned flags)
{
    return enterContext([&](State& state, Context& context) -> int {
        if (!event || flags > 7)
            return kInvalidValue;
        auto made = std::make_unique<Event>();
        made->context = &context;
        made->flags = flags;
        *event = keep(state.events, std::move(made));
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuEventDestroy_v2(void* handle)
{
    return enterContext(
        [&](State& state, Context&) -> int { return state.events.erase(handle) == 1 ? kSuccess : kInvalidHandle; });
}

LATHE_CUDA_ENTRY cuEventRecord(void* handle, void* streamHandle)
{
    return withStream(streamHandle, [&](State& state, Context& context, Stream& stream) -> int {
        Event* const event = find(state.events, handle);
        if (!event || event->context != &context)
            return kInvalidHandle;
        event->capture = stream.capture;
        event->recorded = !stream.capture;
        if (stream.capture) {
            event->capturedIn = &stream;
            event->capturedAt = stream.capture->work.size();
            return stream.capture->invalid ? kStreamCaptureInvalidated : kSuccess;
        }
        event->seconds = stream.seconds;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuEventSynchronize(void* handle)
{
    Context* waited = nullptr;
    const int code = enterContext([&](State& state, Context& context) -> int {
        waited = &context;
        Event* const event = find(state.events, handle);
        if (!event)
            return kInvalidHandle;
        if (const auto capture = event->capture.lock()) {
            capture->invalid = true;
            return kCapturedEvent;
        }
        return kSuccess;
    });
    if (code == kSuccess)
        waitIfHung(waited);
    return code;
}

LATHE_CUDA_ENTRY cuEventQuery(void* handle)
{
    return enterContext([&](State& state, Context& context) -> int {
        Event* const event = find(state.events, handle);
        if (!event)
            return kInvalidHandle;
        if (const auto capture = event->capture.lock()) {
            capture->invalid = true;
            return kCapturedEvent;
        }
        return context.hung ? kNotReady : kSuccess;
    });
}

LATHE_CUDA_ENTRY cuEventElapsedTime(float* milliseconds, void* startHandle, void* endHandle)
{
    return enterContext([&](State& state, Context& context) -> int {
        const Event* const start = find(state.events, startHandle);
        const Event* const end = find(state.events, endHandle);
        if (!milliseconds)
            return kInvalidValue;
        const auto isTimed = [](const Event* event) {
            return event != nullptr && event->recorded && (event->flags & kEventDisableTiming) == 0;
        };
        if (!isTimed(start) || !isTimed(end))
            return kInvalidHandle;
        if (context.hung)
            return kNotReady;
        *milliseconds = static_cast<float>((end->seconds - start->seconds) * 1e3);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamBeginCapture_v2(void* handle, int mode)
{
    return withStream(handle, [&](State& state, Context& context, Stream& stream) -> int {
        if (&stream == &context.defaultStream)
            return kStreamCaptureUnsupported;
        if (mode < kCaptureGlobal || mode > kCaptureRelaxed)
            return kInvalidValue;
        if (stream.capture)
            return kIllegalState;
        stream.capture = std::make_shared<Capture>();
        stream.capture->origin = &stream;
        stream.capture->mode = static_cast<CaptureMode>(mode);
        stream.capture->thread = std::this_thread::get_id();
        state.captures.insert(stream.capture.get());
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamEndCapture(void* handle, void** graph)
{
    return withStream(handle, [&](State& state, Context&, Stream& stream) -> int {
        if (!graph)
            return kInvalidValue;
        *graph = nullptr;
        if (!stream.capture)
            return kIllegalState;
        if (stream.capture->origin != &stream)
            return kStreamCaptureUnmatched;
        if (stream.capture->mode != kCaptureRelaxed && stream.capture->thread != std::this_thread::get_id())
            return kStreamCaptureWrongThread;
        const std::shared_ptr<Capture> capture = endedCapture(state, stream);
        if (capture->invalid)
            return kStreamCaptureInvalidated;
        for (const auto& [joined, counts] : capture->joined)
            if (counts.first > counts.second)
                return kStreamCaptureUnjoined;
        auto made = std::make_unique<Graph>();
        made->work = std::move(capture->work);
        *graph = keep(state.graphs, std::move(made));
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuStreamIsCapturing(void* handle, int* status)
{
    return withStream(handle, [&](State& state, Context& context, Stream& stream) -> int {
        if (!status)
            return kInvalidValue;
        if (&stream == &context.defaultStream && captureBeforeLegacy(state, context))
            return kStreamCaptureImplicit; // the capture goes on
        *status = !stream.capture ? kCaptureNone : stream.capture->invalid ? kCaptureInvalidated : kCaptureActive;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuThreadExchangeStreamCaptureMode(int* mode)
{
    return enter([&](State&) -> int {
        if (!mode || *mode < kCaptureGlobal || *mode > kCaptureRelaxed)
            return kInvalidValue;
        if (!currentContext())
            return kInvalidContext;
        *mode = exchangeCaptureMode(static_cast<CaptureMode>(*mode));
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long)
{
    return enterContext([&](State& state, Context& context) -> int {
        const Graph* const found = find(state.graphs, graph);
        if (!exec || !found)
            return kInvalidValue;
        auto made = std::make_unique<GraphExec>();
        made->context = &context;
        made->work = found->work;
        *exec = keep(state.graphExecs, std::move(made));
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuGraphGetNodes(void* graph, void** nodes, size_t* count)
{
    return enterContext([&](State& state, Context&) -> int {
        const Graph* const found = find(state.graphs, graph);
        if (!found || !count)
            return kInvalidValue;
        if (nodes)
            return kNotSupported; // there are no handles of nodes, only their number
        *count = found->work.size();
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuGraphLaunch(void* handle, void* streamHandle)
{
    return withStream(streamHandle, [&](State& state, Context& context, Stream& stream) -> int {
        const GraphExec* const exec = find(state.graphExecs, handle);
        if (!exec || exec->context != &context)
            return kInvalidValue;
        stream.seconds += stream.capture ? 0 : 4e-6;
        const std::vector<Work> work = exec->work;
        return perform(stream, [work](Stream& in, bool) -> int {
            for (const Work& node : work) {
                if (in.context->error != kSuccess || in.context->hung)
                    break;
                if (const int code = node(in, true); code != kSuccess)
                    in.context->error = code;
            }
            return kSuccess;
        });
    });
}

LATHE_CUDA_ENTRY cuGraphDestroy(void* graph)
{
    return enter([&](State& state) -> int { return state.graphs.erase(graph) == 1 ? kSuccess : kInvalidValue; });
}

LATHE_CUDA_ENTRY cuGraphExecDestroy(void* exec)
{
    return enter([&](State& state) -> int { return state.graphExecs.erase(exec) == 1 ? kSuccess : kInvalidValue; });
}
