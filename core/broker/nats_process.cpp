#include "core/broker/nats_process.h"

#include "core/support/deadline.h"
#include "core/support/log.h"
#include "core/support/stop_bell.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace fs = std::filesystem;

namespace lathe::broker {

namespace {

constexpr double kListensWithinSeconds = 20; // a busy board reads a program slowly
constexpr double kEndsWithinSeconds = 2;
constexpr std::size_t kLongestLine = 4096;

/// A line of its log without process, date and time: "[7] 2026/11/27 23:40:01.044072 [FTL] why". Others are words for
/// people as they are ("nats-server: Parse error on line 6").
struct LogLine
{
    std::string_view level; ///< "FTL"; empty: it is none of the log's
    std::string_view text;
};

LogLine logLine(std::string_view line)
{
    if (const std::size_t at = line.find(" ["); line.starts_with('[') && at != std::string_view::npos)
        if (const std::string_view rest = line.substr(at + 2); rest.size() > 5 && rest.substr(3, 2) == "] ")
            return {rest.substr(0, 3), rest.substr(5)};
    return {{}, line};
}

} // namespace

Result<fs::path> NatsProcess::findServer()
{
    const char* const variable = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe): nobody sets variables
    const std::string places = std::string(variable != nullptr ? variable : "") + ":/usr/sbin:/usr/bin";
    for (std::size_t at = 0; at < places.size();) {
        const std::size_t end = std::min(places.find(':', at), places.size());
        const fs::path program = fs::path(places.substr(at, end - at)) / "nats-server";
        if (program.is_absolute() && ::access(program.c_str(), X_OK) == 0)
            return program;
        at = end + 1;
    }
    return makeError(Errc::NotFound, say(Msg::NatsServerMissing, "nats-server"));
}

Result<NatsProcess> NatsProcess::start(const fs::path& server, const fs::path& config, const std::string& where,
                                       std::stop_token stop)
{
    SubprocessOptions options;
    options.program = server;
    options.arguments = {"--config", config.string()};
    options.pipeOutput = false;
    LATHE_TRY_ASSIGN(Subprocess child, Subprocess::start(options));
    NatsProcess process(std::move(child));
    const StopBell bell(stop);
    for (const Deadline end = Deadline::inSeconds(kListensWithinSeconds); !end.passed();) {
        if (auto why = process.turn())
            return makeError(Errc::WorkerCrashed, *std::move(why));
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::ProgramStopped, "nats-server"));
        if (process.m_listens)
            return process;
        std::array<pollfd, 2> watched = {bell.watched(), process.watched()};
        ::poll(watched.data(), watched.size(), std::min(end.pollMs(), 100));
    }
    return makeError(Errc::RunTimeout, say(Msg::NatsServerSilent, where));
}

NatsProcess::~NatsProcess()
{
    m_process.signalGroup(SIGTERM);
    if (m_process.running())
        (void)m_process.wait(Deadline::inSeconds(kEndsWithinSeconds));
}

void NatsProcess::take(std::string_view line)
{
    log(LogLevel::Debug, "nats-server", line);
    const auto [level, text] = logLine(line);
    // Both lines are told once its port is open; which of the two a version has does not matter.
    if (text == "Server is ready" || text.starts_with("Listening for client connections on "))
        m_listens = true;
    if (level == "ERR" && text.find("reload") != std::string_view::npos)
        m_refusedReload = true;
    if ((level.empty() || level == "FTL") && !text.empty())
        m_lastWords = text;
}

void NatsProcess::hear()
{
    std::array<char, 4096> bytes;
    ssize_t count;
    while ((count = ::read(m_process.errors(), bytes.data(), bytes.size())) > 0 || (count < 0 && errno == EINTR)) {
        for (const char c : std::string_view(bytes.data(), count < 0 ? 0 : static_cast<std::size_t>(count))) {
            if (c == '\n')
                take(std::exchange(m_line, {}));
            else if (m_line.size() < kLongestLine)
                m_line.push_back(c);
        }
    }
}

std::optional<Message> NatsProcess::turn()
{
    hear();
    const auto exit = m_process.poll();
    if (!exit)
        return std::nullopt;
    hear(); // what it said between the two
    if (!m_line.empty())
        take(std::exchange(m_line, {}));
    return exit->signalled || m_lastWords.empty() ? say(Msg::NatsServerEnded, exit->message())
                                                  : say(Msg::NatsServerEnded, m_lastWords);
}

void NatsProcess::reload()
{
    m_refusedReload = false;
    m_process.signalGroup(SIGHUP);
}

} // namespace lathe::broker
