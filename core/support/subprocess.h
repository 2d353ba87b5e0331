#pragma once

#include "core/support/deadline.h"
#include "core/support/result.h"

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe {

/// How a process ended.
struct ProcessExit
{
    bool signalled = false;
    int code = 0; ///< exit status, or the signal
    bool ok() const { return !signalled && code == 0; }
    /// By SIGKILL, which no program brings on itself: a person did it, or the system that ran out of memory.
    bool killed() const { return signalled && code == SIGKILL; }
    std::string text() const; ///< "exit status 3", "signal 11 (SIGSEGV, segmentation fault)"
    Message message() const; ///< the same
};

struct SubprocessOptions
{
    std::filesystem::path program;
    std::vector<std::string> arguments; ///< without the program's name
    std::vector<std::pair<std::string, std::string>> environment; ///< on top of our own
    bool pipeOutput = true; ///< else standard output is /dev/null
    bool pipeErrors = true; ///< else standard error is ours
};

/// A child in a process group of its own. It does not outlive us: the kernel kills it when the thread that started it
/// ends (so start long-lived ones from a long-lived thread), and the destructor kills the whole group and reaps it.
/// The pipes are non-blocking on our side. Not thread safe.
class Subprocess
{
public:
    /// Errors: NotFound (no such program), Internal.
    static Result<Subprocess> start(const SubprocessOptions& options);
    Subprocess() = default;
    ~Subprocess();
    Subprocess(Subprocess&& other) noexcept;
    Subprocess& operator=(Subprocess&& other) noexcept;
    Subprocess(const Subprocess&) = delete;
    Subprocess& operator=(const Subprocess&) = delete;

    bool running() const { return m_pid > 0; } ///< started and not yet reaped
    pid_t pid() const { return m_pid; }
    int input() const { return m_input; } ///< its standard input; -1 once closed
    int output() const { return m_output; }
    int errors() const { return m_errors; }
    void closeInput();

    /// Reaps if it has ended.
    std::optional<ProcessExit> poll();
    std::optional<ProcessExit> wait(Deadline deadline);
    /// SIGKILL to the whole group, then reaps. The exit is that of the first call that reaped.
    ProcessExit kill();
    void signalGroup(int signal) const; ///< SIGSTOP, SIGCONT ...

private:
    void closeAll();
    pid_t m_pid = -1;
    int m_input = -1;
    int m_output = -1;
    int m_errors = -1;
    ProcessExit m_exit;
};

struct RunOutput
{
    ProcessExit exit;
    std::string output;
    std::string errors;
};
/// Runs to the end, feeding `input` and collecting at most maxBytes of each stream (the rest is read and dropped).
/// Errors: those of start; RunTimeout and, after a stop, Cancelled (the group was killed).
Result<RunOutput> runProcess(const SubprocessOptions& options, std::string_view input, Deadline deadline,
                             std::size_t maxBytes = 64 << 20, std::stop_token stop = {});

} // namespace lathe
