#include "core/record/record_json.h"

#include "core/support/json_fields.h"
#include "core/support/json_values.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

using nlohmann::json;

Error off(std::string_view key, std::string_view wanted)
{
    return makeError(Errc::BadFile, "'" + std::string(key) + "' is not " + std::string(wanted));
}

/// Reads members of one object; remembers the first thing that is off.
class Reader
{
public:
    explicit Reader(const json& object, std::string_view what)
        : m_object(object)
    {
        if (!object.is_object())
            m_error = off(what, "an object");
    }

    void text(const char* key, std::string& value) { take(key, value, "a text"); }
    template<std::integral T>
    void integer(const char* key, T& value)
    {
        take(key, value, "an integer in range");
    }
    void boolean(const char* key, bool& value) { take(key, value, "true or false"); }
    template<typename T>
    void take(const char* key, T& value, std::string_view wanted)
    {
        read(
            key, [&](const json& j) { return takeJson(j, value); }, wanted);
    }
    template<typename Fn>
    void read(const char* key, Fn&& take, std::string_view wanted)
    {
        if (m_error)
            return;
        const auto found = m_object.find(key);
        if (found != m_object.end() && !take(*found))
            m_error = off(key, wanted);
    }
    /// A member with a reader of its own.
    template<typename T>
    void nested(const char* key, T& value, Result<T> (*fromJson)(const json&))
    {
        if (m_error)
            return;
        const auto found = m_object.find(key);
        if (found == m_object.end())
            return;
        Result<T> result = fromJson(*found);
        if (result)
            value = *std::move(result);
        else
            m_error = std::move(result).error().note(key);
    }
    Result<> finish()
    {
        if (m_error)
            return *std::move(m_error);
        return {};
    }

private:
    const json& m_object;
    std::optional<Error> m_error;
};

/// So that counts and offsets of the map fit their type.
bool fitsMemory(const IndexMap& map)
{
    constexpr std::int64_t kMaxElements = std::int64_t{1} << 40;
    const auto fits = [](std::int64_t a, std::int64_t b) { return a == 0 || b <= kMaxElements / a; };
    std::int64_t logical = 1;
    for (int d = 0; d < map.logicalRank; ++d) {
        if (!fits(logical, map.logicalShape[d]))
            return false;
        logical *= map.logicalShape[d];
    }
    std::int64_t last = 0;
    for (int j = 0; j < map.physicalRank; ++j) {
        if (!fits(map.axes[j].extent - 1, map.axes[j].stride))
            return false;
        last += (map.axes[j].extent - 1) * map.axes[j].stride;
    }
    return last < kMaxElements;
}

} // namespace

json toJson(const IndexMap& map)
{
    json shape = json::array(), axes = json::array();
    for (int d = 0; d < map.logicalRank; ++d)
        shape.push_back(map.logicalShape[d]);
    for (int j = 0; j < map.physicalRank; ++j)
        axes.push_back({map.axes[j].dim, map.axes[j].div, map.axes[j].extent, map.axes[j].stride});
    return {{"shape", std::move(shape)}, {"axes", std::move(axes)}};
}

Result<IndexMap> indexMapFromJson(const json& value)
{
    IndexMap map;
    Reader reader(value, "index map");
    reader.read(
        "shape",
        [&](const json& shape) {
            if (!shape.is_array() || shape.size() > kMaxRank)
                return false;
            for (const json& extent : shape) {
                if (!takeJson(extent, map.logicalShape[map.logicalRank]) || map.logicalShape[map.logicalRank] < 0)
                    return false;
                ++map.logicalRank;
            }
            return true;
        },
        "a list of at most 8 extents");
    reader.read(
        "axes",
        [&](const json& axes) {
            if (!axes.is_array() || axes.size() > kMaxPhysicalRank)
                return false;
            for (const json& j : axes) {
                IndexMap::Axis& axis = map.axes[map.physicalRank];
                if (!j.is_array() || j.size() != 4 || !takeJson(j[0], axis.dim) || !takeJson(j[1], axis.div)
                    || !takeJson(j[2], axis.extent) || !takeJson(j[3], axis.stride))
                    return false;
                if (axis.dim < 0 || axis.dim >= map.logicalRank || axis.div < 1 || axis.extent < 1 || axis.stride < 0)
                    return false;
                ++map.physicalRank;
            }
            return true;
        },
        "a list of at most 24 axes [dim, div, extent, stride]");
    LATHE_TRY(reader.finish());
    if (!fitsMemory(map))
        return off("index map", "of a tensor of at most 2^40 elements");
    return map;
}

json toJson(const EdgeState& edge)
{
    return {{"map", toJson(edge.map)}, {"split", edge.split}};
}

Result<EdgeState> edgeStateFromJson(const json& value)
{
    EdgeState edge;
    Reader reader(value, "edge state");
    reader.nested("map", edge.map, indexMapFromJson);
    reader.text("split", edge.split);
    LATHE_TRY(reader.finish());
    return edge;
}

json toJson(const Candidate& candidate)
{
    json edges = json::array();
    for (const EdgeState& edge : candidate.edges)
        edges.push_back(toJson(edge));
    return {{"task", candidate.task},  {"alternative", candidate.alternative}, {"edges", std::move(edges)},
            {"kind", candidate.kind},  {"sketch", candidate.sketch},           {"genome", candidate.genome},
            {"steps", candidate.steps}};
}

Result<Candidate> candidateFromJson(const json& value)
{
    Candidate candidate;
    Reader reader(value, "candidate");
    reader.text("task", candidate.task);
    reader.text("alternative", candidate.alternative);
    Result<> edgeError;
    reader.read(
        "edges",
        [&](const json& edges) {
            if (!edges.is_array())
                return false;
            for (const json& j : edges) {
                Result<EdgeState> edge = edgeStateFromJson(j);
                if (!edge) {
                    edgeError = std::move(edge).error();
                    return true;
                }
                candidate.edges.push_back(*std::move(edge));
            }
            return true;
        },
        "a list");
    reader.text("kind", candidate.kind);
    reader.text("sketch", candidate.sketch);
    reader.take("genome", candidate.genome, "a list of 32-bit integers");
    reader.text("steps", candidate.steps);
    LATHE_TRY(reader.finish());
    LATHE_TRY(std::move(edgeError));
    return candidate;
}

json toJson(const TrialResult& result)
{
    json value = {
        {"stage", toString(result.stage)}, {"code", toString(result.code)}, {"text", result.text},
        {"costs_ns", result.costsNs},      {"verified", result.verified},   {"durations_ms", result.durationsMs},
        {"conditions", result.conditions}};
    if (result.about)
        value["about"] = json::parse(toJsonText(result.about));
    return value;
}

Result<TrialResult> trialResultFromJson(const json& value)
{
    TrialResult result;
    Reader reader(value, "result");
    reader.read(
        "stage",
        [&](const json& j) {
            const auto stage = j.is_string() ? trialStageFromString(j.get<std::string>()) : std::nullopt;
            result.stage = stage.value_or(TrialStage::Done);
            return stage.has_value();
        },
        "a stage of a trial");
    reader.read(
        "code",
        [&](const json& j) {
            const auto code = j.is_string() ? errcFromString(j.get<std::string>()) : std::nullopt;
            result.code = code.value_or(Errc::Internal);
            return code.has_value();
        },
        "an error code");
    reader.text("text", result.text);
    reader.read(
        "about",
        [&](const json& about) {
            result.about = aboutFromJsonText(
                about.dump(-1, ' ', false, json::error_handler_t::replace)); // what is not known is left to the text
            return true;
        },
        "an object");
    reader.read(
        "costs_ns",
        [&](const json& costs) {
            return takeJson(costs, result.costsNs)
                   && std::all_of(result.costsNs.begin(), result.costsNs.end(),
                                  [](double ns) { return std::isfinite(ns) && ns >= 0; });
        },
        "a list of times");
    reader.boolean("verified", result.verified);
    reader.read(
        "durations_ms",
        [&](const json& durations) {
            if (!durations.is_object())
                return false;
            for (const auto& [activity, j] : durations.items())
                if (!takeJson(j, result.durationsMs[activity]))
                    return false;
            return true;
        },
        "an object of times");
    reader.text("conditions", result.conditions);
    LATHE_TRY(reader.finish());
    return result;
}

json toJson(const Record& record)
{
    json value = {{"trial", record.trial},
                  {"session", record.session},
                  {"round", record.round},
                  {"index", record.index},
                  {"candidate", toJson(record.candidate)},
                  {"result", toJson(record.result)},
                  {"target", record.target},
                  {"device", record.result.device.fingerprint},
                  {"device_key", record.result.device.key},
                  {"time_ms", record.timeMs}};
    if (!record.repeats.empty())
        value["repeats"] = record.repeats;
    if (std::isfinite(record.candidate.predictedNs))
        value["predicted_ns"] = record.candidate.predictedNs;
    return value;
}

Result<Record> recordFromJson(const json& value)
{
    Record record;
    Reader reader(value, "record");
    reader.text("trial", record.trial);
    reader.integer("session", record.session);
    reader.integer("round", record.round);
    reader.integer("index", record.index);
    reader.nested("candidate", record.candidate, candidateFromJson);
    reader.nested("result", record.result, trialResultFromJson);
    reader.text("target", record.target);
    reader.text("device", record.result.device.fingerprint);
    reader.text("device_key", record.result.device.key);
    reader.integer("time_ms", record.timeMs);
    reader.text("repeats", record.repeats);
    reader.read(
        "predicted_ns",
        [&](const json& j) {
            return takeJson(j, record.candidate.predictedNs) && std::isfinite(record.candidate.predictedNs);
        },
        "a time");
    LATHE_TRY(reader.finish());
    if (record.result.device.key.empty()) // written before devices had keys
        record.result.device = identityOf(std::move(record.result.device.fingerprint));
    return record;
}

DeviceIdentity identityOf(std::string fingerprint)
{
    json device = json::parse(fingerprint, nullptr, false);
    if (!device.is_object())
        return {fingerprint, fingerprint};
    device.erase("key");
    const std::string kind = textIn(device, "kind", "device");
    const std::string alike = device.dump(-1, ' ', false, json::error_handler_t::replace);
    return {kind + '-' + contentHash(alike).hex().substr(0, 12), std::move(fingerprint)};
}

std::optional<TrialStage> trialStageFromString(std::string_view name)
{
    for (int i = 0; i <= static_cast<int>(TrialStage::Transport); ++i)
        if (toString(static_cast<TrialStage>(i)) == name)
            return static_cast<TrialStage>(i);
    return std::nullopt;
}

std::int64_t coldBytes(const Record& record)
{
    const json conditions = json::parse(record.result.conditions, nullptr, false);
    const std::int64_t cold = wholeIn(conditions, "cold_bytes");
    return cold != 0 ? cold : -wholeIn(conditions, "rotate_bytes");
}

std::string finalsOf(const Record& record)
{
    if (record.result.conditions.find("\"finals\"") == std::string::npos)
        return {}; // nearly all
    return textIn(json::parse(record.result.conditions, nullptr, false), "finals");
}

} // namespace lathe
