#include "core/support/subprocess.h"

#include "core/support/message.h"
#include "core/support/packages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace lathe {

namespace {

void closeFd(int& fd)
{
    if (fd >= 0)
        ::close(std::exchange(fd, -1));
}

void setNonBlocking(int fd)
{
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

struct Pipe
{
    int readEnd = -1;
    int writeEnd = -1;
    ~Pipe()
    {
        closeFd(readEnd);
        closeFd(writeEnd);
    }
    bool open()
    {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return false;
        // The child's dup2 onto 0..2 must not meet a pipe that already lies there (a parent without standard streams).
        for (int& end : ends) {
            if (end > 2)
                continue;
            const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, 3);
            ::close(end);
            end = moved;
        }
        readEnd = ends[0];
        writeEnd = ends[1];
        return readEnd >= 0 && writeEnd >= 0;
    }
};

std::vector<char*> pointers(std::vector<std::string>& words)
{
    std::vector<char*> out;
    out.reserve(words.size() + 1);
    for (std::string& word : words)
        out.push_back(word.data());
    out.push_back(nullptr);
    return out;
}

std::vector<std::string> environmentWith(const std::vector<std::pair<std::string, std::string>>& extra)
{
    std::vector<std::string> words;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        const bool replaced = std::any_of(extra.begin(), extra.end(), [&](const auto& pair) {
            return text.size() > pair.first.size() && text.starts_with(pair.first) && text[pair.first.size()] == '=';
        });
        if (!replaced)
            words.emplace_back(text);
    }
    for (const auto& [name, value] : extra)
        words.push_back(name + '=' + value);
    return words;
}

/// What the child does between fork and exec: system calls alone, for other threads of ours may hold any lock.
struct ChildPlan
{
    const char* program;
    char* const* argv;
    char* const* envp;
    pid_t parent;
    int in, out, err; ///< -1: /dev/null for out, unchanged for err
    int report;
};

[[noreturn]] void becomeChild(const ChildPlan& plan)
{
    const auto fail = [&] {
        const int code = errno;
        [[maybe_unused]] const ssize_t n = ::write(plan.report, &code, sizeof code);
        ::_exit(127);
    };
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent)
        ::_exit(127); // the parent died before prctl
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (const int sig : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGHUP})
        ::signal(sig, SIG_DFL);
    const int devNull = plan.out < 0 ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out < 0 ? devNull : plan.out, 1) < 0)
        fail();
    if (plan.err >= 0 && ::dup2(plan.err, 2) < 0)
        fail();
    ::execve(plan.program, plan.argv, plan.envp);
    fail();
    std::abort();
}

} // namespace

namespace {

Message notStarted(const std::filesystem::path& program, const char* why)
{
    return say(Msg::ProgramNotStarted, program.string(), why, packageIn(program.string() + ": " + why));
}

} // namespace

std::string ProcessExit::text() const
{
    return textOf(message());
}

Message ProcessExit::message() const
{
    if (!signalled)
        return say(Msg::EndedWithStatus, code);
    const char* name = ::sigabbrev_np(code);
    const char* meaning = ::sigdescr_np(code);
    std::string words = meaning ? meaning : "unknown";
    std::transform(words.begin(), words.end(), words.begin(), [](unsigned char c) { return std::tolower(c); });
    return say(Msg::EndedBySignal, code, name ? name : "?", phrase(words));
}

Result<Subprocess> Subprocess::start(const SubprocessOptions& options)
{
    Pipe in, out, err, report;
    if (!in.open() || !report.open() || (options.pipeOutput && !out.open()) || (options.pipeErrors && !err.open()))
        return makeError(Errc::Internal,
                         fmt::format("cannot open pipes for {}: {}", options.program.string(), std::strerror(errno)));
    std::vector<std::string> arguments = {options.program.string()};
    arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
    std::vector<std::string> environment = environmentWith(options.environment);
    const std::vector<char*> argv = pointers(arguments);
    const std::vector<char*> envp = pointers(environment);
    const ChildPlan plan{
        options.program.c_str(), argv.data(), envp.data(), ::getpid(), in.readEnd, out.writeEnd, err.writeEnd,
        report.writeEnd};
    const pid_t pid = ::fork();
    if (pid == 0)
        becomeChild(plan);
    if (pid < 0)
        return makeError(Errc::Internal, notStarted(options.program, std::strerror(errno)));
    ::setpgid(pid, pid); // as the child does: whoever comes first, the group exists before we may signal it
    closeFd(report.writeEnd);
    int code = 0;
    ssize_t got;
    do
        got = ::read(report.readEnd, &code, sizeof code);
    while (got < 0 && errno == EINTR);
    if (got == static_cast<ssize_t>(sizeof code)) {
        ::waitpid(pid, nullptr, 0);
        return makeError(code == ENOENT || code == EACCES || code == ENOEXEC ? Errc::NotFound : Errc::Internal,
                         notStarted(options.program, std::strerror(code)));
    }
    Subprocess child;
    child.m_pid = pid;
    child.m_input = std::exchange(in.writeEnd, -1);
    child.m_output = std::exchange(out.readEnd, -1);
    child.m_errors = std::exchange(err.readEnd, -1);
    for (const int fd : {child.m_input, child.m_output, child.m_errors})
        if (fd >= 0)
            setNonBlocking(fd);
    return child;
}

Subprocess::~Subprocess()
{
    if (running())
        kill();
    closeAll();
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : m_pid(std::exchange(other.m_pid, -1))
    , m_input(std::exchange(other.m_input, -1))
    , m_output(std::exchange(other.m_output, -1))
    , m_errors(std::exchange(other.m_errors, -1))
    , m_exit(other.m_exit)
{
}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept
{
    std::swap(m_pid, other.m_pid);
    std::swap(m_input, other.m_input);
    std::swap(m_output, other.m_output);
    std::swap(m_errors, other.m_errors);
    std::swap(m_exit, other.m_exit);
    return *this;
}

void Subprocess::closeInput()
{
    closeFd(m_input);
}

void Subprocess::closeAll()
{
    closeFd(m_input);
    closeFd(m_output);
    closeFd(m_errors);
}

std::optional<ProcessExit> Subprocess::poll()
{
    if (!running())
        return m_exit;
    // First look, then kill what it may have started, and only then reap: until that the group's number is ours.
    siginfo_t ended = {};
    int looked;
    do
        looked = ::waitid(P_PID, static_cast<id_t>(m_pid), &ended, WEXITED | WNOHANG | WNOWAIT);
    while (looked < 0 && errno == EINTR);
    if (looked == 0 && ended.si_pid == 0)
        return std::nullopt;
    signalGroup(SIGKILL);
    int status = 0;
    pid_t got;
    do
        got = ::waitpid(m_pid, &status, 0);
    while (got < 0 && errno == EINTR);
    m_pid = -1;
    m_exit = {};
    if (got > 0 && WIFSIGNALED(status))
        m_exit = {true, WTERMSIG(status)};
    else if (got > 0)
        m_exit = {false, WEXITSTATUS(status)};
    return m_exit;
}

std::optional<ProcessExit> Subprocess::wait(Deadline deadline)
{
    auto pause = std::chrono::microseconds(200);
    while (true) {
        if (auto exit = poll())
            return exit;
        if (deadline.passed())
            return std::nullopt;
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(10'000));
    }
}

ProcessExit Subprocess::kill()
{
    if (running()) {
        signalGroup(SIGKILL);
        while (!poll())
            std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return m_exit;
}

void Subprocess::signalGroup(int signal) const
{
    if (running())
        ::kill(-m_pid, signal);
}

Result<RunOutput> runProcess(const SubprocessOptions& options, std::string_view input, Deadline deadline,
                             std::size_t maxBytes, std::stop_token stop)
{
    constexpr int kStopMs = 50; // how long a stop may go unnoticed
    LATHE_TRY_ASSIGN(Subprocess child, Subprocess::start(options));
    RunOutput result;
    if (input.empty())
        child.closeInput();
    bool outputOpen = child.output() >= 0;
    bool errorsOpen = child.errors() >= 0;
    const auto drain = [&](int fd, std::string& text) {
        std::array<char, 65536> chunk;
        while (true) {
            const ssize_t n = ::read(fd, chunk.data(), chunk.size());
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return n < 0 && errno == EAGAIN;
            text.append(chunk.data(),
                        std::min(static_cast<std::size_t>(n), maxBytes - std::min(maxBytes, text.size())));
        }
    };
    while (outputOpen || errorsOpen || child.input() >= 0) {
        std::array<pollfd, 3> fds = {pollfd{child.input(), POLLOUT, 0},
                                     pollfd{outputOpen ? child.output() : -1, POLLIN, 0},
                                     pollfd{errorsOpen ? child.errors() : -1, POLLIN, 0}};
        const int left = deadline.pollMs();
        const int slice = stop.stop_possible() && (left < 0 || left > kStopMs) ? kStopMs : left;
        const int ready = ::poll(fds.data(), fds.size(), slice);
        if (stop.stop_requested()) {
            child.kill();
            return makeError(Errc::Cancelled, say(Msg::ProgramStopped, options.program.filename().string()));
        }
        if (ready == 0 && slice != left)
            continue;
        if (ready == 0)
            break;
        if (fds[0].revents) {
            // A reader that went away costs its input, not us: SIGPIPE is blocked for the write.
            sigset_t pipeSignal, before;
            sigemptyset(&pipeSignal);
            sigaddset(&pipeSignal, SIGPIPE);
            ::pthread_sigmask(SIG_BLOCK, &pipeSignal, &before);
            const ssize_t n = ::write(child.input(), input.data(), input.size());
            const int code = errno;
            const timespec now = {};
            if (n < 0 && code == EPIPE)
                ::sigtimedwait(&pipeSignal, nullptr, &now);
            ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
            if (n > 0)
                input.remove_prefix(static_cast<std::size_t>(n));
            if ((n < 0 && code != EAGAIN && code != EINTR) || input.empty())
                child.closeInput();
        }
        if (fds[1].revents)
            outputOpen = drain(child.output(), result.output);
        if (fds[2].revents)
            errorsOpen = drain(child.errors(), result.errors);
    }
    const auto exit = child.wait(deadline);
    if (!exit) {
        child.kill();
        return makeError(Errc::RunTimeout, say(Msg::ProgramTookLong, options.program.string()));
    }
    result.exit = *exit;
    return result;
}

} // namespace lathe
