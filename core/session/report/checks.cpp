#include "core/session/report/checks.h"

#include <algorithm>
#include <cmath>

namespace lathe::session {

namespace {

/// The whole network beside what was known of its parts.
Check sumCheck(const Standing& s)
{
    const double alone = s.network.aloneMs; // as its parts were
    if (const double total = s.parts.totalMs(); std::isfinite(alone) && std::isfinite(total))
        return {std::abs(alone / total - 1) <= kSumApart,
                say(Msg::CheckSum, alone, 100 * alone / total, total, s.parts.tasksMs, s.parts.chainMs,
                    s.parts.untunedMs, s.parts.callMs)};
    if (std::isfinite(alone) && std::isfinite(s.tasksMs)) // of a version that did not measure parts
        return {alone < s.tasksMs * 1.25, say(Msg::CheckTasksSum, 100 * alone / s.tasksMs)};
    return {false, say(Msg::CheckNotMeasured)};
}

} // namespace

std::vector<Check> checksOf(const Standing& s)
{
    const auto all = static_cast<std::int64_t>(s.tasks.size());
    const std::int64_t covered = std::ranges::count_if(s.tasks, [](const auto& task) { return !task.trial.empty(); });
    const std::int64_t verified = std::ranges::count_if(s.tasks, [](const auto& task) { return task.verified; });
    std::vector<Check> checks;
    const bool whole = covered == all && covered > 0;
    checks.push_back({whole, whole ? say(Msg::CheckAllCovered, all) : say(Msg::CheckNotCovered, covered, all)});
    if (covered > 0)
        checks.push_back({verified == covered, say(Msg::CheckVerified, verified, covered)});
    checks.push_back(sumCheck(s));
    if (s.verdict.gain.verdict() != Verdict::Unknown)
        checks.push_back({s.verdict.gain.verdict() == Verdict::Faster, sayGain(s.verdict.gain)});
    for (const Finding& finding : s.verdict.findings) // the two others stand here already
        if (finding.gravity == Gravity::Doubt && finding.rule != "gain not proven"
            && finding.rule != "sum of parts apart")
            checks.push_back({false, finding.evidence});
    if (s.trials > 0)
        checks.push_back({s.errors * 4 < s.trials, say(Msg::CheckFailures, 100.0 * static_cast<double>(s.errors)
                                                                               / static_cast<double>(s.trials))});
    return checks;
}

} // namespace lathe::session
