#include "core/session/time_spent.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace lathe::session {

namespace {

constexpr std::array kActivities = {
    TimePiece{"start", "starting workers, reading earlier results of a resumed run"},
    TimePiece{"limits", "measuring the device's limits"},
    TimePiece{"propose", "sampling, evolving and featurizing candidates"},
    TimePiece{"score", "ranking candidates with the cost model"},
    TimePiece{"search", "proposing and scoring (not separated by older versions)"},
    TimePiece{"reference", "computing reference outputs"},
    TimePiece{"build", "waiting for builders and for the devices' compilers"},
    TimePiece{"measure", "waiting for devices: loading, checking and timing"},
    TimePiece{"store", "writing results to disk"},
    TimePiece{"train", "training the cost model"},
    TimePiece{"finals", "measuring the best candidates again"},
    TimePiece{"whole network", "compiling and timing the network"},
    TimePiece{"other", "scheduling and everything else"},
};

constexpr std::array kWorkers = {
    TimePiece{"lower", "lowering schedules to loops"},
    TimePiece{"generate", "generating machine code"},
    TimePiece{"link", "linking"},
    TimePiece{"builder other", "reading jobs, sending kernels"},
    TimePiece{"builder idle", "nothing to build, paused while a device is timed, or no free core"},
    TimePiece{"upload", "loading kernels and filling their buffers"},
    TimePiece{"device build", "compiling kernels on the device"},
    TimePiece{"check", "comparing outputs with the reference"},
    TimePiece{"measure", "running the kernels"},
    TimePiece{"runner other", "reading jobs, sending results"},
    TimePiece{"runner idle", "nothing to measure"},
};
constexpr std::size_t kBuilderPieces = 5;

/// Sums of such parts are exact in any order, up to 2^23 s (97 days), so that a replay adds up to what the run told.
double roundedSeconds(double seconds)
{
    constexpr double kParts = 1 << 30; // somewhat less than a nanosecond
    return std::round(seconds * kParts) / kParts;
}

double steadySeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

std::span<const TimePiece> activityPieces()
{
    return kActivities;
}

std::span<const TimePiece> workerPieces()
{
    return kWorkers;
}

bool isBuilderPiece(std::string_view name)
{
    return std::any_of(kWorkers.begin(), kWorkers.begin() + kBuilderPieces,
                       [name](const TimePiece& piece) { return piece.name == name; });
}

TimeSpent& TimeSpent::operator+=(const TimeSpent& other)
{
    for (const auto& [name, seconds] : other.activities)
        activities[name] += seconds;
    for (const auto& [name, time] : other.workers) {
        workers[name].seconds += time.seconds;
        workers[name].processor += time.processor;
    }
    return *this;
}

TimeSpent TimeSpent::since(const TimeSpent& before) const
{
    TimeSpent grown;
    for (const auto& [name, seconds] : activities) {
        const auto old = before.activities.find(name);
        if (const double more = roundedSeconds(seconds - (old == before.activities.end() ? 0 : old->second)); more > 0)
            grown.activities[name] = more;
    }
    for (const auto& [name, time] : workers) {
        const auto old = before.workers.find(name);
        const WorkerSeconds less = old == before.workers.end() ? WorkerSeconds() : old->second;
        const WorkerSeconds more = {std::max(0.0, roundedSeconds(time.seconds - less.seconds)),
                                    std::max(0.0, roundedSeconds(time.processor - less.processor))};
        if (more.seconds > 0 || more.processor > 0)
            grown.workers[name] = more;
    }
    return grown;
}

double TimeSpent::seconds() const
{
    double sum = 0;
    for (const auto& [name, seconds] : activities)
        sum += seconds;
    return sum;
}

std::vector<TimeRow> activityRows(const TimeSpent& spent)
{
    const double all = spent.seconds();
    std::vector<TimeRow> rows;
    std::map<std::string, double> left = spent.activities;
    const auto add = [&](const std::string& name, std::string_view meaning, double seconds) {
        if (seconds > 0)
            rows.push_back({name, meaning, seconds, seconds / all, 0});
    };
    for (const auto& [name, meaning] : kActivities)
        if (const auto found = left.extract(name))
            add(name, meaning, found.mapped());
    for (const auto& [name, seconds] : left)
        add(name, {}, seconds);
    return rows;
}

std::vector<TimeRow> workerRows(const TimeSpent& spent)
{
    double builders = 0, runners = 0;
    for (const auto& [name, time] : spent.workers)
        (isBuilderPiece(name) ? builders : runners) += time.seconds;
    std::vector<TimeRow> rows;
    WorkerTimes left = spent.workers;
    const auto add = [&](const std::string& name, std::string_view meaning, const WorkerSeconds& time) {
        const double all = isBuilderPiece(name) ? builders : runners;
        if (time.seconds > 0 && all > 0)
            rows.push_back({name, meaning, time.seconds, time.seconds / all, time.processor});
    };
    for (const auto& [name, meaning] : kWorkers)
        if (const auto found = left.extract(name))
            add(name, meaning, found.mapped());
    for (const auto& [name, time] : left)
        add(name, {}, time);
    return rows;
}

TimeAccount::TimeAccount(Clock clock)
    : m_clock(clock ? std::move(clock) : Clock(steadySeconds))
    , m_last(m_clock())
{
}

TimeAccount::Scope TimeAccount::in(std::string activity)
{
    mark();
    m_open.push_back(std::move(activity));
    return Scope(*this);
}

void TimeAccount::end()
{
    mark();
    m_open.pop_back();
}

void TimeAccount::mark()
{
    const double now = m_clock(), more = now - m_last;
    m_last = now;
    if (more == 0 || (!m_open.empty() && m_open.back().empty()))
        return;
    m_total += more;
    m_sums[m_open.empty() ? "other" : m_open.back()] += more;
}

void TimeAccount::move(const std::string& from, const std::string& to, double seconds)
{
    mark();
    const double most = std::clamp(seconds, 0.0, m_sums[from]);
    m_sums[from] -= most;
    m_sums[to] += most;
}

const std::map<std::string, double>& TimeAccount::sums()
{
    mark();
    return m_sums;
}

double TimeAccount::seconds() const
{
    return m_open.empty() || !m_open.back().empty() ? m_total + m_clock() - m_last : m_total;
}

} // namespace lathe::session
