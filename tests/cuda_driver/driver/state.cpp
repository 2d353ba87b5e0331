#include "tests/cuda_driver/driver/state.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

namespace lathe::cuda_driver {

namespace {

thread_local Context* current = nullptr;
thread_local CaptureMode captureMode = kCaptureGlobal;

template<typename T>
void eraseOf(std::unordered_map<void*, std::unique_ptr<T>>& table, const Context& context)
{
    std::erase_if(table, [&](const auto& entry) { return entry.second->context == &context; });
}

} // namespace

State& State::get()
{
    static State* const state = new State; // threads may outlive static objects
    return *state;
}

void State::tell(const std::string& line, bool alsoStandardError)
{
    const std::string whole = line + "\n";
    if (alsoStandardError)
        std::fputs(("lathe cuda driver: " + whole).c_str(), stderr);
    if (settings.logFile.empty())
        return;
    // One write for a line: several processes may share the file.
    const int file = ::open(settings.logFile.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || ::write(file, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size()))
        std::fprintf(stderr, "lathe cuda driver: the log %s cannot be written\n", settings.logFile.c_str());
    if (file >= 0)
        ::close(file);
}

void State::destroy(Context& context)
{
    std::erase_if(functions, [&](const auto& entry) { return entry.second->module->context == &context; });
    eraseOf(modules, context);
    eraseOf(events, context);
    eraseOf(graphExecs, context);
    for (const auto& [handle, stream] : streams)
        if (stream->context == &context && stream->capture)
            captures.erase(stream->capture.get());
    eraseOf(streams, context);
    for (const auto& [thread, stream] : context.ofThreads)
        if (stream->capture)
            captures.erase(stream->capture.get());
    Device* const device = context.device;
    context = Context();
    context.device = device;
}

Context* currentContext()
{
    return current != nullptr && current->retained > 0 ? current : nullptr;
}

void setCurrentContext(Context* context)
{
    current = context;
}

int enter(const std::function<int(State&)>& body)
{
    State& state = State::get();
    const std::scoped_lock lock(state.mutex);
    if (!state.initialized)
        return kNotInitialized;
    try {
        return body(state);
    } catch (const std::bad_alloc&) {
        return kOutOfMemory;
    } catch (const std::exception& problem) {
        state.tell(std::string("an error of the driver itself: ") + problem.what(), true);
        return kUnknown;
    }
}

int enterContext(const std::function<int(State&, Context&)>& body)
{
    return enter([&](State& state) -> int {
        Context* const context = currentContext();
        if (!context)
            return kInvalidContext;
        if (context->error != kSuccess)
            return context->error;
        return body(state, *context);
    });
}

Stream* streamOf(State& state, Context& context, void* handle)
{
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number <= 1)
        return &context.defaultStream;
    if (number == 2) {
        std::unique_ptr<Stream>& own = context.ofThreads[std::this_thread::get_id()];
        if (!own) {
            own = std::make_unique<Stream>();
            own->context = &context;
        }
        return own.get();
    }
    Stream* const stream = find(state.streams, handle);
    return stream && stream->context == &context ? stream : nullptr;
}

int perform(Stream& stream, Work work)
{
    if (!stream.capture) {
        if (&stream == &stream.context->defaultStream)
            if (Capture* const capture = captureBeforeLegacy(State::get(), *stream.context)) {
                capture->invalid = true;
                return kStreamCaptureImplicit;
            }
        if (stream.context->hung)
            return kSuccess; // it queues behind the kernel that never ends
        return work(stream, false);
    }
    Capture& capture = *stream.capture;
    if (capture.invalid)
        return kStreamCaptureInvalidated;
    capture.work.push_back(std::move(work));
    if (const auto joined = capture.joined.find(&stream); joined != capture.joined.end())
        joined->second.first = capture.work.size();
    return kSuccess;
}

int refusedByCapture(State& state)
{
    for (Capture* const capture : state.captures) {
        const bool mine = capture->thread == std::this_thread::get_id();
        const bool forbids = mine ? capture->mode != kCaptureRelaxed
                                  : capture->mode == kCaptureGlobal && captureMode == kCaptureGlobal;
        if (forbids && captureMode != kCaptureRelaxed) {
            capture->invalid = true;
            return kStreamCaptureUnsupported;
        }
    }
    return kSuccess;
}

CaptureMode exchangeCaptureMode(CaptureMode mode)
{
    return std::exchange(captureMode, mode);
}

Capture* captureBeforeLegacy(const State& state, const Context& context)
{
    // The legacy stream waits for all others, which a capture cannot.
    for (Capture* const capture : state.captures)
        if (capture->origin->context == &context && (capture->origin->flags & 1) == 0)
            return capture;
    return nullptr;
}

void waitIfHung(void* handle)
{
    auto* const context = static_cast<Context*>(handle);
    const auto isHung = [&] {
        State& state = State::get();
        const std::scoped_lock lock(state.mutex);
        return context != nullptr && context->hung;
    };
    while (isHung())
        ::usleep(10000);
}

} // namespace lathe::cuda_driver
