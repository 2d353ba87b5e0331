#pragma once

#include "core/support/result.h"

#include <map>
#include <optional>
#include <string>

namespace lathe::wire {
class RunResult;
}

namespace lathe::measure {

// Whether devices behind a broker stay as they are, and are as their like: a probe, the same program for all of them,
// is measured before and after each share of the candidates.

/// By how much two probes of one device may differ, and one device from the median of those that a run has; shares of
/// the time.
inline constexpr double kSteady = 0.03, kAlike = 0.10;

/// The median of the probe's samples, in ns. Errors: that of the run; DeviceLost (what it says is no time).
Result<double> probeTime(const wire::RunResult& answer);

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

} // namespace lathe::measure
