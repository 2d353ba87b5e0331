#include "core/session/options_json.h"

#include "core/session/head_start.h"
#include "core/session/tune_options.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace lathe::session {

using nlohmann::json;

namespace {

/// Whether a value can be taken for the field's type as it is.
template<typename T>
struct Fits
{
    static bool check(const json& value)
    {
        if constexpr (std::is_same_v<T, bool>)
            return value.is_boolean();
        else if constexpr (std::is_floating_point_v<T>)
            return value.is_number();
        else if constexpr (std::is_integral_v<T>)
            return value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>()) : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
        else
            return value.is_string();
    }
};
template<typename T>
struct Fits<std::vector<T>>
{
    static bool check(const json& value) { return value.is_array() && std::all_of(value.begin(), value.end(), Fits<T>::check); }
};
template<typename A, typename B>
struct Fits<std::pair<A, B>>
{
    static bool check(const json& value) { return value.is_array() && value.size() == 2 && Fits<A>::check(value[0]) && Fits<B>::check(value[1]); }
};

/// Reads fields of one object; remembers the first that is off.
class Reader
{
public:
    Reader(std::string_view text, std::string_view what) : m_json(json::parse(text, nullptr, false)), m_what(what)
    {
        if (!m_json.is_object())
            m_bad = "it is no JSON object";
    }
    template<typename T>
    Reader& get(const char* key, T& field)
    {
        if (!m_bad.empty() || !m_json.contains(key))
            return *this;
        if (const json& value = m_json[key]; Fits<T>::check(value))
            field = value.template get<T>();
        else
            m_bad = fmt::format("key {} has a value that does not belong there", key);
        return *this;
    }
    Result<> done() const
    {
        if (m_bad.empty())
            return {};
        return makeError(Errc::BadFile, say(Msg::ProjectPartUnreadable, m_what, m_bad));
    }

private:
    json m_json;
    std::string m_what, m_bad;
};

} // namespace

json toJson(const TuneOptions& o)
{
    return {{"seconds", o.seconds}, {"trials", o.trials}, {"trials_per_task", o.trialsPerTask}, {"trials_per_round", o.trialsPerRound},
            {"policy", o.policy}, {"scheduler", o.scheduler}, {"devices", o.devices}, {"seed", o.seed},
            {"repeat", o.repeat}, {"number", o.number}, {"min_repeat_ms", minRepeatMs(o)}, {"timeout_s", o.timeoutSeconds},
            {"cooldown_ms", o.cooldownMs}, {"early_stop", o.earlyStop}, {"min_gain_percent", o.minGainPercent},
            {"gain_window_s", o.gainWindowSeconds}, {"build_jobs", o.buildJobs}, {"cache", o.cache}, {"runoff", o.runoff}, {"strict", o.strict}, {"head_start", o.headStart}};
}

Result<TuneOptions> tuneOptionsFromJson(std::string_view text)
{
    TuneOptions o;
    o.headStart = kNoHeadStart; // of runs that knew none
    o.runoff = "off";
    double repeatMs = kUnknown;
    Reader reader(text, "tuning options");
    reader.get("seconds", o.seconds).get("trials", o.trials).get("trials_per_task", o.trialsPerTask).get("trials_per_round", o.trialsPerRound);
    reader.get("policy", o.policy).get("scheduler", o.scheduler).get("devices", o.devices).get("seed", o.seed);
    reader.get("repeat", o.repeat).get("number", o.number).get("min_repeat_ms", repeatMs).get("timeout_s", o.timeoutSeconds);
    reader.get("cooldown_ms", o.cooldownMs).get("early_stop", o.earlyStop).get("min_gain_percent", o.minGainPercent).get("gain_window_s", o.gainWindowSeconds);
    reader.get("build_jobs", o.buildJobs).get("cache", o.cache).get("runoff", o.runoff).get("strict", o.strict).get("head_start", o.headStart);
    LATHE_TRY(reader.done());
    if (!std::isnan(repeatMs))
        o.minRepeatMs = repeatMs;
    return o;
}

json toJson(const ModelSpec& s)
{
    json shapes = json::array();
    for (const auto& [name, shape] : s.shapes)
        shapes.push_back({name, shape});
    return {{"source", s.source}, {"batch", s.batch.value_or(0)}, {"shapes", shapes}, {"layout", s.layout}, {"partition", s.partition},
            {"hardware", s.hardware}, {"seed", s.seed}};
}

Result<ModelSpec> modelSpecFromJson(std::string_view text)
{
    ModelSpec s;
    std::int64_t batch = 0;
    Reader reader(text, "model options");
    reader.get("source", s.source).get("batch", batch).get("shapes", s.shapes).get("layout", s.layout);
    reader.get("partition", s.partition).get("hardware", s.hardware).get("seed", s.seed);
    LATHE_TRY(reader.done());
    if (batch > 0)
        s.batch = batch;
    return s;
}

} // namespace lathe::session
