// Whether devices behind a supervisor stay as they are: what a batch makes of its probes.

#include "core/measure/batch.h"
#include "core/measure/device_words.h"
#include "core/measure/measure_times.h"
#include "core/measure/steadiness.h"
#include "core/support/message.h"
#include "core/wire/failure.h"
#include "core/wire/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::measure {

namespace {

/// A share is closed by a probe after so many candidates, or so long: what is rejected is not much, and of a device
/// that is always busy probes take a few hundredths of the time. One that waits for builders is probed meanwhile.
constexpr std::size_t kMostInShare = 16;
constexpr std::chrono::seconds kLongestShare(4);
/// A candidate whose samples were rejected so often is what it is: the device is never steady.
constexpr std::size_t kMostRejected = 2;

} // namespace

bool Batch::isProbing() const
{
    return std::ranges::any_of(m_runners, [&](const Lane& lane) {
        return std::ranges::any_of(lane.flights, &Flight::isProbe) && m_now - *lane.share.probed < kProbeWait;
    });
}

void Batch::giveHeld()
{
    for (Lane& lane : m_runners)
        acceptHeld(lane, std::nullopt);
    giveResults();
}

bool Batch::isProbed(const Lane& lane) const
{
    return !lane.builder && m_options.probe != nullptr && lane.endpoint->traits().supervised && !lane.share.fails;
}

/// Before the device is given another candidate.
bool Batch::wantsProbe(const Lane& lane) const
{
    const Share& share = lane.share;
    return isProbed(lane) && (!share.probed || share.given >= kMostInShare || m_now - *share.probed >= kLongestShare);
}

Result<> Batch::giveProbe(Lane& lane)
{
    lane.share.given = 0;
    lane.share.probed = m_now;
    Flight& flight = lane.flights.emplace_back();
    flight.isProbe = true;
    return queueRun(lane, flight);
}

/// Devices that have nothing to do: nobody waits for a result longer than for the probe.
Result<> Batch::closeShares()
{
    for (Lane& lane : m_runners) {
        if (lane.busy() || lane.share.held.empty() || !lane.endpoint->ready())
            continue;
        const bool shares = lane.endpoint->traits().sharesMachine;
        if (shares && !mayShareCores())
            continue;
        if (shares)
            setQuiet(true);
        LATHE_TRY(giveProbe(lane));
    }
    return {};
}

void Batch::finishProbe(Lane& lane, const wire::RunResult& answer)
{
    if (const Result<> checked = checkAnswer(answer, *m_options.probe); !checked) { // no candidate wrote into that
        deviceLost(lane, checked.error());
        return;
    }
    addRun(m_times, answer, 0);
    const Result<double> took = probeTime(answer);
    const std::string name = lane.endpoint->name();
    const Steadiness::Verdict verdict = m_options.steadiness->take(name, took);
    lane.share.isOpen = took.has_value();
    lane.share.fails = !took;
    if (verdict.moved && verdict.drift && !lane.share.held.empty() && !verdict.setAside)
        m_options.steadiness->rejected(name, lane.share.held.size(), *verdict.drift, m_now);
    if (verdict.moved || verdict.setAside)
        rejectHeld(lane, verdict.drift);
    acceptHeld(lane, verdict.drift);
    if (verdict.setAside)
        deviceLost(lane, makeError(Errc::DeviceLost, *verdict.setAside), true);
}

/// What was measured since the last probe counts.
void Batch::acceptHeld(Lane& lane, std::optional<double> drift)
{
    for (const std::size_t index : std::exchange(lane.share.held, {})) {
        Item& item = m_items[index];
        nlohmann::json conditions = nlohmann::json::parse(item.result.conditions, nullptr, false);
        if (drift)
            conditions["probe_drift"] = *drift;
        nlohmann::json rejected = nlohmann::json::array();
        for (const Item::Rejected& sample : item.rejected) {
            rejected.push_back({{"costs_ns", sample.costsNs}});
            if (sample.drift)
                rejected.back()["probe_drift"] = *sample.drift;
        }
        if (!rejected.empty())
            conditions["rejected"] = std::move(rejected);
        item.result.conditions = conditions.dump();
        finish(index, std::move(item.result));
    }
}

/// It is measured again, by whoever is free; but for what has been often enough, which stays.
void Batch::rejectHeld(Lane& lane, std::optional<double> drift)
{
    std::vector<std::size_t> kept;
    for (const std::size_t index : std::exchange(lane.share.held, {})) {
        Item& item = m_items[index];
        if (item.rejected.size() >= kMostRejected) {
            kept.push_back(index);
            continue;
        }
        item.rejected.push_back({std::move(item.result.costsNs), drift});
        item.result = {};
        enter(index, Phase::Built, nullptr);
    }
    lane.share.held = std::move(kept);
}

} // namespace lathe::measure
