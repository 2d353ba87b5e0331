#include "core/store/record_rows.h"

#include "core/record/record_json.h"
#include "core/support/json_values.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace lathe::store {

using nlohmann::json;

Statement& bindRecord(Statement& s, const Record& record)
{
    const Candidate& c = record.candidate;
    const TrialResult& r = record.result;
    json edges = json::array();
    for (const EdgeState& edge : c.edges)
        edges.push_back(toJson(edge));
    s.bind(record.trial).bind(record.session).bind(std::int64_t{record.round}).bind(std::int64_t{record.index});
    s.bind(c.task)
        .bind(c.alternative)
        .bind(edges.dump())
        .bind(c.kind)
        .bind(c.sketch)
        .bind(json(c.genome).dump())
        .bind(c.steps)
        .bind(c.hash().hex());
    s.bind(toString(r.stage)).bind(toString(r.code)).bind(r.text);
    if (r.ok() && std::isfinite(r.meanNs()))
        s.bind(r.meanNs());
    else
        s.bindNull();
    s.bind(json(r.costsNs).dump()).bind(std::int64_t{r.verified}).bind(json(r.durationsMs).dump()).bind(r.conditions);
    s.bind(r.device.fingerprint).bind(record.timeMs);
    if (std::isfinite(c.predictedNs))
        s.bind(c.predictedNs);
    else
        s.bindNull();
    return s.bind(record.target)
        .bind(coldBytes(record))
        .bind(record.repeats)
        .bind(finalsOf(record))
        .bind(r.device.key)
        .bind(toJsonText(r.about));
}

namespace {

Result<Record> readRecord(const Statement& s)
{
    Record record;
    record.trial = s.text(0);
    const auto damaged = [&record](std::string_view column) {
        return makeError(Errc::BadFile, say(Msg::TrialDamaged, record.trial, column));
    };
    record.session = s.integer(1);
    record.round = static_cast<std::int32_t>(s.integer(2));
    record.index = static_cast<std::int32_t>(s.integer(3));
    Candidate& c = record.candidate;
    c.task = s.text(4);
    c.alternative = s.text(5);
    const json edges = json::parse(s.text(6), nullptr, false);
    if (!edges.is_array())
        return damaged("edges");
    for (const json& edge : edges) {
        auto state = edgeStateFromJson(edge);
        if (!state)
            return damaged("edges");
        c.edges.push_back(*std::move(state));
    }
    c.kind = s.text(7);
    c.sketch = s.text(8);
    if (!takeJson(json::parse(s.text(9), nullptr, false), c.genome))
        return damaged("genome");
    c.steps = s.text(10);
    TrialResult& r = record.result;
    const auto stage = trialStageFromString(s.text(12));
    const auto code = errcFromString(s.text(13));
    if (!stage || !code)
        return damaged("stage or code");
    r.stage = *stage;
    r.code = *code;
    r.text = s.text(14);
    const json costs = json::parse(s.text(16), nullptr, false);
    if (!costs.is_array())
        return damaged("costs_ns");
    for (const json& cost : costs) {
        if (!cost.is_number() || cost.get<double>() < 0)
            return damaged("costs_ns");
        r.costsNs.push_back(cost.get<double>());
    }
    r.verified = s.integer(17) != 0;
    const json durations = json::parse(s.text(18), nullptr, false);
    if (!durations.is_object())
        return damaged("durations_ms");
    for (const auto& [name, value] : durations.items()) {
        if (!value.is_number())
            return damaged("durations_ms");
        r.durationsMs[name] = value.get<double>();
    }
    r.conditions = s.text(19);
    r.device.fingerprint = s.text(20);
    record.timeMs = s.integer(21);
    c.predictedNs = s.real(22);
    record.target = s.text(23);
    record.repeats = s.text(24);
    r.device.key = s.text(25);
    r.about = aboutFromJsonText(s.text(26));
    return record;
}

} // namespace

Result<> readRecordsWhile(Statement& s, const std::function<bool(const Record&)>& visit)
{
    while (true) {
        LATHE_TRY_ASSIGN(const bool row, s.step());
        if (!row)
            return {};
        LATHE_TRY_ASSIGN(const Record record, readRecord(s));
        if (!visit(record))
            return {};
    }
}

Result<> readRecords(Statement& s, const std::function<void(const Record&)>& visit)
{
    return readRecordsWhile(s, [&visit](const Record& record) {
        visit(record);
        return true;
    });
}

} // namespace lathe::store
