#include "core/measure/steadiness.h"

#include "core/support/median.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lathe::measure {

namespace {

/// A device whose probes seldom agree is measured again only where they differ by more than this many times what is
/// usual there: else nearly all would be measured again, each time in vain.
constexpr double kBeyondUsual = 2;
/// However unsteady it is: what differs by so much is no noise, but another clock.
constexpr double kMostLimit = 0.25;
constexpr std::size_t kRemembered = 8, kFewest = 4; ///< differences that say what is usual
constexpr int kMostLost = 3;
constexpr std::chrono::minutes kTellAgain(1);
constexpr double kTellLarger = 2; ///< a limit that was told, and has grown so much

} // namespace

Result<double> probeTime(const wire::RunResult& answer)
{
    if (answer.failure().code() != 0)
        return wire::errorOf(answer.failure());
    const auto& samples = answer.costs_ns();
    const auto isTime = [](double ns) { return std::isfinite(ns) && ns > 0; };
    if (samples.empty() || !std::all_of(samples.begin(), samples.end(), isTime))
        return makeError(Errc::DeviceLost, say(Msg::WorkerAnsweredElse));
    return *std::min_element(samples.begin(), samples.end());
}

double ProbeCourse::usual() const
{
    return m_drifts.size() < kFewest ? 0 : medianOf({m_drifts.begin(), m_drifts.end()});
}

std::optional<ProbeCourse::Step> ProbeCourse::take(double ns)
{
    const std::optional<double> before = std::exchange(m_last, ns);
    if (!before)
        return std::nullopt;
    Step step;
    step.drift = ns / *before - 1;
    step.usual = usual();
    step.limit = std::clamp(kBeyondUsual * step.usual, kSteady, kMostLimit);
    step.moved = std::abs(step.drift) > step.limit;
    m_drifts.push_back(std::abs(step.drift));
    if (m_drifts.size() > kRemembered)
        m_drifts.pop_front();
    return step;
}

std::optional<Peers::Stray> Peers::take(const std::string& device, double ns)
{
    m_took[device] = ns;
    if (m_took.size() < 2)
        return std::nullopt;
    const auto other = std::ranges::find_if(m_took, [&](const auto& one) { return one.first != device; });
    std::vector<double> all;
    all.reserve(m_took.size());
    for (const auto& [name, took] : m_took)
        all.push_back(took);
    const bool isPair = all.size() == 2;
    Stray stray = {ns / (isPair ? other->second : medianOf(all)), isPair ? other->first : std::string()};
    if (std::abs(stray.ratio - 1) <= kAlike)
        return std::nullopt;
    return stray;
}

Steadiness::Verdict Steadiness::take(const std::string& device, const Result<double>& took)
{
    m_lost.erase(device);
    Verdict verdict;
    if (!took) {
        forget(device);
        if (took.error().code == Errc::WrongAnswer) // nor would what it measures be right
            verdict.setAside = messageOf(took.error());
        else if (m_unchecked.insert(device).second)
            m_tell(say(Msg::DeviceNotChecked, device, messageOf(took.error())));
        return verdict;
    }
    if (const auto step = m_courses[device].take(*took)) {
        verdict.drift = step->drift;
        verdict.moved = step->moved;
        if (double& told = m_unsteady[device]; step->limit > std::max(kSteady, kTellLarger * told)) {
            told = step->limit;
            m_tell(say(Msg::DeviceUnsteady, device, 100 * step->usual, 100 * step->limit));
        }
    }
    verdict.setAside = judgePeers(device, *took);
    if (verdict.setAside)
        forget(device);
    return verdict;
}

std::optional<Message> Steadiness::lost(const std::string& device, const Error& why)
{
    if (++m_lost[device] < kMostLost)
        return std::nullopt;
    m_lost.erase(device);
    return say(Msg::DeviceLostChecked, kMostLost, messageOf(why));
}

/// The reason for which the device is set aside, if it strays from the others.
std::optional<Message> Steadiness::judgePeers(const std::string& device, double ns)
{
    const auto stray = m_peers.take(device, ns);
    if (!stray)
        return std::nullopt;
    if (stray->other.empty())
        return say(Msg::DeviceStrays, stray->ratio, m_key);
    if (m_disagreeing.insert(std::minmax(device, stray->other)).second)
        m_tell(say(Msg::DevicesDisagree, device, stray->ratio, stray->other, m_key));
    return std::nullopt;
}

void Steadiness::rejected(const std::string& device, std::size_t trials, double drift, Time now)
{
    Told& told = m_rejected[device];
    told.trials += trials;
    if (told.at && now - *told.at < kTellAgain)
        return;
    told.at = now;
    m_tell(say(Msg::SamplesRejected, std::exchange(told.trials, 0), device, 100 * std::abs(drift)));
}

void Steadiness::forget(const std::string& device)
{
    m_peers.forget(device);
    if (const auto course = m_courses.find(device); course != m_courses.end())
        course->second.interrupt();
}

} // namespace lathe::measure
