#include "core/measure/steadiness.h"

#include "core/support/median.h"
#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lathe::measure {

Result<double> probeTime(const wire::RunResult& answer)
{
    if (answer.failure().code() != 0)
        return wire::errorOf(answer.failure());
    const std::vector<double> samples(answer.costs_ns().begin(), answer.costs_ns().end());
    const auto isTime = [](double ns) { return std::isfinite(ns) && ns > 0; };
    if (samples.empty() || !std::ranges::all_of(samples, isTime))
        return makeError(Errc::DeviceLost, say(Msg::WorkerAnsweredElse));
    return medianOf(samples);
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

} // namespace lathe::measure
