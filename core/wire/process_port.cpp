#include "core/wire/process_port.h"

#include "core/support/files.h"

#include <unistd.h>

#include <array>
#include <csignal>

namespace lathe::wire {

namespace {

constexpr std::size_t kErrorsKept = 16384;
constexpr double kReapSeconds = 2;

/// SIGPIPE would end the program that holds the project when a worker dies; ignored once, from the first worker on.
void ignoreBrokenPipes()
{
    struct sigaction current = {};
    if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
        std::signal(SIGPIPE, SIG_IGN);
}

} // namespace

ProcessPort::ProcessPort(WorkerProgram program)
    : m_program(std::move(program))
{
}

Result<> ProcessPort::open()
{
    ignoreBrokenPipes();
    m_process = {};
    m_channel.reset();
    m_errors.clear();
    SubprocessOptions options;
    options.program = m_program.path;
    if (options.program.empty()) {
        LATHE_TRY_ASSIGN(options.program, findProgram(name()));
    }
    options.environment = m_program.environment;
    LATHE_TRY_ASSIGN(m_process, Subprocess::start(options));
    m_channel.emplace(m_process.output(), m_process.input());
    return {};
}

Result<> ProcessPort::pump()
{
    drainErrors(); // nobody else reads it, and once that pipe is full the process stands still
    return m_channel->pump();
}

void ProcessPort::watch(std::vector<pollfd>& fds) const
{
    m_channel->watch(fds);
    if (m_process.errors() >= 0)
        fds.push_back({m_process.errors(), POLLIN, 0});
}

PortEnd ProcessPort::close(const Error& why)
{
    drainErrors();
    const bool crashed = why.code == Errc::WorkerCrashed;
    const auto ended = crashed ? m_process.wait(Deadline::inSeconds(kReapSeconds)) : std::nullopt;
    const ProcessExit exit = ended ? *ended : m_process.kill();
    PortEnd end;
    end.cause = crashed ? exit.message() : messageOf(why);
    end.killed = crashed && ended && exit.killed(); // not by us, just now
    end.words = takeErrors();
    m_process.kill(); // the rest of its group
    return end;
}

bool ProcessPort::gone()
{
    return !m_process.running() || m_process.poll().has_value();
}

void ProcessPort::suspend(bool suspended)
{
    m_process.signalGroup(suspended ? SIGSTOP : SIGCONT);
}

void ProcessPort::drainErrors()
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

std::string ProcessPort::takeErrors()
{
    drainErrors();
    std::string text = std::exchange(m_errors, {});
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.pop_back();
    return text;
}

} // namespace lathe::wire
