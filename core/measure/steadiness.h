#pragma once

#include "core/support/message.h"
#include "core/support/result.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace lathe::wire {
class RunResult;
}

namespace lathe::measure {

// Whether devices behind a broker stay as they are, and are as their like: a probe, the same program for all of them,
// is measured before and after each share of the candidates.

/// By how much two probes of one device may differ, and one device from the median of those that a run has; shares of
/// the time.
inline constexpr double kSteady = 0.03, kAlike = 0.10;

/// The fastest of the probe's samples, in ns: what else a device does for a moment makes some samples slower, and one
/// that changed all of them. Errors: that of the run; DeviceLost (what it says is no time).
Result<double> probeTime(const wire::RunResult& answer);

/// The probes of one device, one after another.
class ProbeCourse
{
public:
    struct Step
    {
        double drift = 0; ///< the probe took 1 + `drift` times what it took before
        double usual = 0; ///< what the probe differed by in the middle of the last few times, before this one
        double limit = kSteady; ///< the device is as before where it is not beyond
        bool moved = false; ///< it is
    };
    /// Nothing: it is the first.
    std::optional<Step> take(double ns);
    void interrupt() { m_last.reset(); } ///< the next one is the first again

private:
    double usual() const;
    std::optional<double> m_last;
    std::deque<double> m_drifts;
};

/// What the probe took last on the devices that a run has.
class Peers
{
public:
    struct Stray
    {
        double ratio = 1; ///< to the median of all, or the other one of two
        /// With two devices: the other one, and nobody can say which of them strays. Else empty.
        std::string other;
    };
    /// Nothing: it is like the others, as far as one knows.
    std::optional<Stray> take(const std::string& device, double ns);
    void forget(const std::string& device) { m_took.erase(device); }

private:
    std::map<std::string, double> m_took; ///< ns, by device
};

/// What a run makes of all its probes. Used on one thread.
class Steadiness
{
public:
    using Time = std::chrono::steady_clock::time_point;

    /// @param key  that the devices have at the broker
    /// @param tell  what people are to know; each thing once, or once a minute
    Steadiness(std::string key, std::function<void(const Message&)> tell)
        : m_key(std::move(key))
        , m_tell(std::move(tell))
    {
    }

    struct Verdict
    {
        std::optional<double> drift = {}; ///< as in ProbeCourse; nothing: there is no probe before this one
        bool moved = false; ///< what it measured in between does not count
        std::optional<Message> setAside = {}; ///< why the device is of no use
    };
    /// @param took  ns, or why the probe does not run there
    Verdict take(const std::string& device, const Result<double>& took);
    /// The device was lost with a probe in hand. @return why it is of no use; nothing: it may be tried again
    std::optional<Message> lost(const std::string& device, const Error& why);
    /// So many trials are measured again.
    void rejected(const std::string& device, std::size_t trials, double drift, Time now);
    /// It left, or something else came in between; what is known of how it differs is kept.
    void forget(const std::string& device);

private:
    struct Told
    {
        std::size_t trials = 0; ///< since
        std::optional<Time> at;
    };
    std::optional<Message> judgePeers(const std::string& device, double ns);

    std::string m_key;
    std::function<void(const Message&)> m_tell;
    Peers m_peers;
    std::map<std::string, ProbeCourse> m_courses;
    std::map<std::string, int> m_lost; ///< times in a row that the device ended with a probe in hand
    std::map<std::string, Told> m_rejected;
    std::set<std::string> m_unchecked; ///< devices that were told of
    std::map<std::string, double> m_unsteady; ///< likewise, and the limit that was told
    std::set<std::pair<std::string, std::string>> m_disagreeing; ///< pairs of them, likewise
};

} // namespace lathe::measure
