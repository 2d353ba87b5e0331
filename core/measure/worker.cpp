#include "core/measure/worker.h"

#include "core/backend/codegen.h"
#include "core/support/files.h"
#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace lathe::measure {

namespace {
constexpr double kStartSeconds = 60;
constexpr std::size_t kErrorsKept = 16384;
constexpr int kStarts = 4; // of a process that others kill
} // namespace

Worker::Worker(Kind kind, WorkerPrograms programs, std::optional<DeviceSpec> device)
    : m_kind(kind)
    , m_programs(std::move(programs))
    , m_device(std::move(device))
{
}

Result<> Worker::ensureStarted()
{
    if (m_process.running() && !m_process.poll())
        return {};
    ignoreBrokenPipes();
    Result<> ready = startOnce();
    for (int i = 1; i < kStarts && !ready && m_killed; ++i)
        ready = startOnce();
    return ready;
}

Result<> Worker::startOnce()
{
    m_process = {};
    m_killed = false;
    m_sent.clear();
    m_errors.clear();
    m_served = 0;
    SubprocessOptions options;
    options.program = m_kind == Kind::Builder ? m_programs.builder : m_programs.runner;
    if (options.program.empty()) {
        LATHE_TRY_ASSIGN(options.program, findProgram(m_kind == Kind::Builder ? "lathe-builder" : "lathe-runner"));
    }
    options.environment = m_programs.environment;
    LATHE_TRY_ASSIGN(m_process, Subprocess::start(options));
    m_connection.emplace(m_process.output(), m_process.input());
    Result<> ready = greet();
    if (ready && m_device)
        ready = openDevice();
    if (!ready)
        stop();
    return ready;
}

Result<> Worker::greet()
{
    wire::Message hello;
    hello.mutable_hello()->set_version(wire::protocolVersion());
    hello.mutable_hello()->set_build_id(backend::buildId());
    hello.mutable_hello()->set_program("lathe");
    m_connection->queue(hello);
    LATHE_TRY_ASSIGN(const wire::Message theirs, receive(Deadline::inSeconds(kStartSeconds)));
    if (!theirs.has_hello())
        return makeError(Errc::Incompatible, say(Msg::WorkerSaidNoHello));
    const wire::Hello& said = theirs.hello();
    if (said.version() != wire::protocolVersion())
        return makeError(Errc::Incompatible,
                         say(Msg::WorkerVersionDiffers, said.program(), said.version(), wire::protocolVersion()));
    if (m_kind == Kind::Builder && said.build_id() != backend::buildId())
        return makeError(Errc::Incompatible,
                         say(Msg::WorkerBuildDiffers, said.program(), said.build_id(), backend::buildId()));
    return {};
}

Result<> Worker::openDevice()
{
    wire::Message open;
    open.mutable_open_device()->set_kind(m_device->kind);
    open.mutable_open_device()->set_key(m_device->key);
    open.mutable_open_device()->set_options(m_device->options);
    m_connection->queue(open);
    LATHE_TRY_ASSIGN(const wire::Message answer, receive(Deadline::inSeconds(kStartSeconds)));
    if (!answer.has_device_opened())
        return makeError(Errc::Internal, say(Msg::RunnerAnsweredElse));
    const wire::DeviceOpened& opened = answer.device_opened();
    if (opened.failure().code() != 0)
        return wire::errorOf(opened.failure());
    m_identity = identityOf(opened.json());
    return {};
}

ProcessExit Worker::stop()
{
    drainErrors();
    const ProcessExit exit = m_process.kill();
    drainErrors();
    return exit;
}

void Worker::offerBlob(const Hash128& hash, std::string_view bytes)
{
    if (m_sent.insert(hash).second)
        m_connection->queueBlob(hash, bytes);
}

void Worker::drainErrors()
{
    if (m_process.errors() < 0)
        return;
    std::array<char, 4096> chunk;
    ssize_t n;
    while ((n = ::read(m_process.errors(), chunk.data(), chunk.size())) > 0)
        m_errors.append(chunk.data(), static_cast<std::size_t>(n));
    if (m_errors.size() > kErrorsKept)
        m_errors.erase(0, m_errors.size() - kErrorsKept);
}

std::string Worker::takeErrors()
{
    drainErrors();
    std::string text = std::exchange(m_errors, {});
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

ProcessExit Worker::reap()
{
    if (const auto exit = m_process.wait(Deadline::inSeconds(2)))
        return *exit;
    return m_process.kill();
}

Result<wire::Message> Worker::receive(Deadline deadline)
{
    // Nobody else reads what it says on standard error, and once that pipe is full it stands still.
    constexpr double kUnreadSeconds = 0.1;
    while (true) {
        auto message = m_connection->receive(std::min(deadline, Deadline::inSeconds(kUnreadSeconds)));
        drainErrors();
        if (!message && message.error().code == Errc::RunTimeout && !deadline.passed())
            continue;
        if (message && message->has_progress())
            continue;
        if (!message && message.error().code == Errc::WorkerCrashed) {
            const ProcessExit exit = reap();
            const std::string words = takeErrors();
            m_killed = exit.killed();
            const Message ended = say(Msg::WorkerEnded, m_kind == Kind::Builder ? "lathe-builder" : "lathe-runner",
                                      exit.message());
            return makeError(Errc::WorkerCrashed, words.empty() ? ended : say(Msg::Noted, ended, words));
        }
        return message;
    }
}

void ignoreBrokenPipes()
{
    struct sigaction current = {};
    if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
        std::signal(SIGPIPE, SIG_IGN);
}

} // namespace lathe::measure
