#include "plugins/cuda/library/recorder.h"

#include "core/runtime/array.h"
#include "plugins/cuda/library/queue.h"
#include "plugins/cuda/library/refusal.h"

#include <cstring>

namespace lathe::cuda {

using runtime::DeviceContext;
using runtime::ErrorText;
using runtime::Status;

namespace {

bool isOfHost(Command::Kind kind)
{
    return kind == Command::Kind::Write || kind == Command::Kind::Read;
}

} // namespace

Recorder::~Recorder()
{
    if (m_context == nullptr)
        return;
    const Current current(*m_context->driver, m_context->context);
    forgetAll();
    if (m_captures != nullptr)
        m_context->driver->streamDestroy(m_captures);
}

void Recorder::open(const DeviceContext& context, Stream stream)
{
    m_context = &context;
    m_stream = stream;
}

/// The context is current, and nothing is running.
void Recorder::forgetAll()
{
    for (Stretch& stretch : m_stretches) {
        cut(stretch, 0);
        runtime::freeArray(stretch.commands, stretch.room);
        stretch.commands = nullptr;
        stretch.room = 0;
    }
}

Status Recorder::begin(ErrorText& error)
{
    const Driver& driver = *m_context->driver;
    if (m_isBusy || m_reads > 0) {
        const Current current(driver, m_context->context);
        const int code = current.code() == kSuccess ? driver.streamSynchronize(m_stream) : current.code();
        finished(code == kSuccess);
        if (code != kSuccess)
            return failedAt(error, driver, code, "what was in the stream");
    }
    if (m_isOff && m_stretches[0].commands != nullptr) {
        const Current current(driver, m_context->context);
        forgetAll();
    }
    m_isInRun = !m_isOff;
    m_stretch = 0;
    startStretch();
    return Status::Ok;
}

void Recorder::startStretch()
{
    m_held = 0;
    m_isHolding = m_stretches[m_stretch].count > 0;
}

Status Recorder::end(ErrorText& error)
{
    const Status status = flush(error);
    m_isInRun = false;
    return status;
}

Status Recorder::add(const Command& command, const void* data, ErrorText& error)
{
    Stretch& stretch = m_stretches[m_stretch];
    if (m_isHolding && m_held < stretch.count && stretch.commands[m_held].isLike(command)) {
        fill(stretch.commands[m_held++], command, data);
        return Status::Ok;
    }
    const Current current(*m_context->driver, m_context->context);
    if (m_isHolding)
        if (const Status status = startHeld(stretch, error); status != Status::Ok)
            return status;
    return append(command, data, error);
}

/// A command in its place, as it is in this run.
void Recorder::fill(Command& command, const Command& with, const void* data)
{
    command.launch = with.launch;
    command.host = with.host;
    if (command.kind == Command::Kind::Write)
        std::memcpy(command.staged, data, command.bytes);
    m_reads += command.kind == Command::Kind::Read ? 1 : 0;
}

/// The run is another one than the last from here on.
Status Recorder::startHeld(Stretch& stretch, ErrorText& error)
{
    m_isHolding = false;
    m_misses += kMissCounts;
    m_isOff = m_isOff || m_misses > kMostMisses;
    cut(stretch, m_held);
    for (std::uint32_t c = 0; c < stretch.count; ++c)
        if (const Status status = start(stretch.commands[c], m_stream, error); status != Status::Ok)
            return status;
    m_isBusy = m_isBusy || stretch.count > 0;
    return Status::Ok;
}

/// Writes down a command and starts it.
Status Recorder::append(const Command& command, const void* data, ErrorText& error)
{
    const Driver& driver = *m_context->driver;
    Stretch& stretch = m_stretches[m_stretch];
    if (stretch.count == stretch.room) {
        const std::uint32_t room = stretch.room == 0 ? 32 : 2 * stretch.room;
        Command* const more = stretch.room < kMostCommands ? runtime::makeArray<Command>(room) : nullptr;
        if (more != nullptr) {
            if (stretch.count > 0)
                std::memcpy(static_cast<void*>(more), stretch.commands, stretch.count * sizeof(Command));
            runtime::freeArray(stretch.commands, stretch.room);
            stretch.commands = more;
            stretch.room = room;
        }
    }
    void* staged = nullptr;
    const bool hasRoom = stretch.count < stretch.room;
    const bool isStaged = isOfHost(command.kind);
    if (hasRoom && isStaged && driver.memHostAlloc(&staged, command.bytes, 0) != kSuccess)
        staged = nullptr;
    m_isBusy = true;
    if (!hasRoom || (isStaged && staged == nullptr)) { // it goes without, once and for all
        m_isOff = true;
        m_isInRun = false;
        Command direct = command;
        direct.staged = command.kind == Command::Kind::Write ? const_cast<void*>(data) : command.host;
        Status status = start(direct, m_stream, error);
        if (status == Status::Ok && command.kind == Command::Kind::Write)
            if (const int code = driver.streamSynchronize(m_stream); code != kSuccess)
                status = failedAt(error, driver, code, "what was in the stream");
        return status;
    }
    Command& made = stretch.commands[stretch.count++] = command;
    made.staged = staged;
    fill(made, command, data);
    return start(made, m_stream, error);
}

Status Recorder::flush(ErrorText& error)
{
    if (!m_isInRun)
        return Status::Ok;
    Stretch& stretch = m_stretches[m_stretch];
    const bool isEmpty = m_isHolding ? m_held == 0 : stretch.count == 0;
    if (isEmpty)
        return Status::Ok;
    Status status = Status::Ok;
    if (m_isHolding) {
        const Current current(*m_context->driver, m_context->context);
        status = m_held == stretch.count ? replay(stretch, error) : startHeld(stretch, error);
    }
    if (++m_stretch < kMostStretches)
        startStretch();
    else
        m_isInRun = false;
    return status;
}

Status Recorder::replay(Stretch& stretch, ErrorText& error)
{
    const Driver& driver = *m_context->driver;
    m_isBusy = true;
    // One command is one call in any case.
    if (stretch.graph == nullptr && stretch.count > 1 && driver.hasGraphs && !m_makesNoGraphs)
        m_makesNoGraphs = !capture(stretch);
    if (stretch.graph != nullptr) {
        m_misses -= m_misses > 0 ? 1 : 0;
        const int code = driver.graphLaunch(stretch.graph, m_stream);
        return code == kSuccess ? Status::Ok : refused(error, driver, code, "a graph of %u commands", stretch.count);
    }
    for (std::uint32_t c = 0; c < stretch.count; ++c)
        if (const Status status = start(stretch.commands[c], m_stream, error); status != Status::Ok)
            return status;
    return Status::Ok;
}

/// False: the driver makes no graph of it.
bool Recorder::capture(Stretch& stretch)
{
    const Driver& driver = *m_context->driver;
    if (m_captures == nullptr && driver.streamCreate(&m_captures, kOwnOrder) != kSuccess)
        m_captures = nullptr;
    if (m_captures == nullptr || driver.beginCapture(m_captures, kCaptureOfThread) != kSuccess)
        return false;
    ErrorText ignored;
    bool isWhole = true;
    for (std::uint32_t c = 0; c < stretch.count && isWhole; ++c)
        isWhole = start(stretch.commands[c], m_captures, ignored) == Status::Ok;
    Graph graph = nullptr;
    const bool isEnded = driver.endCapture(m_captures, &graph) == kSuccess && graph != nullptr;
    if (isEnded && isWhole && driver.graphInstantiate(&stretch.graph, graph, 0) != kSuccess)
        stretch.graph = nullptr;
    if (isEnded)
        driver.graphDestroy(graph);
    return stretch.graph != nullptr;
}

Status Recorder::start(const Command& command, Stream stream, ErrorText& error) const
{
    const Driver& driver = *m_context->driver;
    int code = kSuccess;
    const char* what = "";
    switch (command.kind) {
    case Command::Kind::Launch: return startLaunch(*command.launch, stream, error);
    case Command::Kind::Copy:
        code = driver.copyOnDevice(command.to, command.from, command.bytes, stream);
        what = "on";
        break;
    case Command::Kind::Write:
        code = driver.copyToDevice(command.to, command.staged, command.bytes, stream);
        what = "to";
        break;
    case Command::Kind::Read:
        code = driver.copyToHost(command.staged, command.from, command.bytes, stream);
        what = "from";
        break;
    }
    return code == kSuccess ? Status::Ok
                            : refused(error, driver, code, "a copy of %zu bytes %s the device", command.bytes, what);
}

void Recorder::finished(bool isWell)
{
    m_isBusy = false;
    for (std::uint32_t s = 0; s < kMostStretches && m_reads > 0; ++s)
        for (std::uint32_t c = 0; c < m_stretches[s].count; ++c) {
            Command& command = m_stretches[s].commands[c];
            if (command.host == nullptr)
                continue;
            if (isWell)
                std::memcpy(command.host, command.staged, command.bytes);
            command.host = nullptr;
        }
    m_reads = 0;
}

bool Recorder::awaits(const void* host, std::size_t bytes) const
{
    const auto begin = reinterpret_cast<std::uintptr_t>(host);
    for (std::uint32_t s = 0; s < kMostStretches && m_reads > 0; ++s)
        for (std::uint32_t c = 0; c < m_stretches[s].count; ++c) {
            const Command& command = m_stretches[s].commands[c];
            const auto to = reinterpret_cast<std::uintptr_t>(command.host);
            if (command.host != nullptr && begin < to + command.bytes && to < begin + bytes)
                return true;
        }
    return false;
}

/// Leaves the first `count` commands of a stretch, of which no other runs.
void Recorder::cut(Stretch& stretch, std::uint32_t count)
{
    const Driver& driver = *m_context->driver;
    if (stretch.graph != nullptr)
        driver.graphExecDestroy(stretch.graph);
    stretch.graph = nullptr;
    while (stretch.count > count)
        if (Command& command = stretch.commands[--stretch.count]; command.staged != nullptr)
            driver.memFreeHost(command.staged);
}

} // namespace lathe::cuda
