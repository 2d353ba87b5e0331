#include "core/session/project/round_quality.h"

#include "core/support/json_fields.h"
#include "core/support/median.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::int32_t kQualitySample = 8; ///< trials of a round that tell how it was measured

/// What records tell of how they were measured.
struct Samples
{
    std::vector<double> spread, control, mhz, celsius, load, drift;
    std::int64_t trials = 0, rejected = 0;

    void add(const store::MeasuredHow& record, const json& conditions)
    {
        ++trials;
        const json costs = json::parse(record.costsNs, nullptr, false);
        if (costs.is_array() && costs.size() > 1 && std::all_of(costs.begin(), costs.end(), [](const json& cost) {
                return cost.is_number() && cost.get<double>() > 0;
            })) {
            const auto [low, high] = std::minmax_element(costs.begin(), costs.end(), [](const json& a, const json& b) {
                return a.get<double>() < b.get<double>();
            });
            spread.push_back((high->get<double>() - low->get<double>()) / low->get<double>());
        }
        for (const auto& [name, values] : {std::pair{"calibration_ns", &control}, std::pair{"mhz", &mhz},
                                           std::pair{"celsius", &celsius}, std::pair{"load", &load}})
            if (const double value = numberIn(conditions, name); std::isfinite(value))
                values->push_back(value);
        if (const double change = numberIn(conditions, "probe_drift"); std::isfinite(change))
            drift.push_back(std::abs(change));
        if (!conditions.is_object() || !conditions.contains("rejected") || !conditions["rejected"].is_array())
            return;
        for (const json& sample : conditions["rejected"]) {
            ++rejected;
            if (const double change = numberIn(sample, "probe_drift"); std::isfinite(change))
                drift.push_back(std::abs(change));
        }
    }
};

/// By its name at the broker, or as it calls itself.
std::string deviceIn(const store::MeasuredHow& record, const json& conditions)
{
    const std::string name = textIn(conditions, "runner");
    return name.empty() ? textIn(json::parse(record.device, nullptr, false), "name") : name;
}

/// Several devices, or one behind a broker, beside which others come and go.
bool areOfSeveral(const std::vector<store::MeasuredHow>& records)
{
    std::set<std::string> names;
    for (const store::MeasuredHow& record : records) {
        const json conditions = json::parse(record.conditions, nullptr, false);
        if (!textIn(conditions, "runner").empty())
            return true;
        names.insert(deviceIn(record, conditions));
    }
    return names.size() > 1;
}

} // namespace

Result<QualityView> qualityOf(const store::RecordReader& reader, const store::RoundRow& round)
{
    LATHE_TRY_ASSIGN(auto records, reader.measuredHow(round.session, round.index, kQualitySample));
    const bool isCounted = areOfSeveral(records); // devices that are held side by side: all trials count
    if (isCounted) {
        LATHE_TRY_ASSIGN(records,
                         reader.measuredHow(round.session, round.index, std::numeric_limits<std::int32_t>::max()));
    }
    QualityView view;
    view.round = round.index;
    view.atSeconds = round.atSeconds;
    const json machine = partIn(json::parse(round.durations, nullptr, false), "machine");
    view.others = numberIn(machine, "others");
    view.stolen = numberIn(machine, "stolen");
    const double scale = round.trials / std::max<double>(1, static_cast<double>(records.size()));
    Samples whole;
    std::map<std::string, Samples> ofDevice;
    for (const store::MeasuredHow& record : records) {
        const json conditions = json::parse(record.conditions, nullptr, false);
        const std::string name = deviceIn(record, conditions);
        whole.add(record, conditions);
        ofDevice[name].add(record, conditions);
        QualityView::Device& device = view.devices[name];
        const json durations = json::parse(record.durationsMs, nullptr, false);
        const auto seconds = [&](const char* part) {
            const double ms = numberIn(durations, part);
            return std::isfinite(ms) ? 1e-3 * scale * ms : 0.0;
        };
        device.upload += seconds("upload");
        device.measure += seconds("measure") + seconds("check");
        device.build += 1e-3 * scale * std::max(0.0, numberIn(conditions, "device_build_ms", 0));
    }
    for (auto& [name, device] : view.devices) {
        const Samples& samples = ofDevice[name];
        const double all = isCounted ? 1 : scale;
        device.trials = std::llround(all * static_cast<double>(samples.trials));
        device.rejected = std::llround(all * static_cast<double>(samples.rejected));
        device.spread = medianOf(samples.spread);
        device.controlNs = medianOf(samples.control);
        device.drift = medianOf(samples.drift);
    }
    view.spread = medianOf(whole.spread);
    view.controlNs = medianOf(whole.control);
    view.mhz = medianOf(whole.mhz);
    view.celsius = medianOf(whole.celsius);
    view.load = medianOf(whole.load);
    return view;
}

} // namespace lathe::session
