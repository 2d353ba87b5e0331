#include "core/measure/device_words.h"

#include "core/measure/types.h"
#include "core/support/message.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace lathe::measure {

namespace {

constexpr std::size_t kMostBytes = 64u << 10; ///< of a device's words
constexpr int kDeepest = 16; ///< levels of them
/// Of one run, four months: a simulated device's clock is none that anybody waits for.
constexpr double kMostNs = 1e16;
constexpr double kMostMs = 1e12; ///< of what a runner did for one job
constexpr std::uint32_t kMostRepeats = 10'000; ///< as the runner has it

bool isTime(double value, double most)
{
    return std::isfinite(value) && value >= 0 && value <= most;
}

Error nonsense(const std::string& what)
{
    return makeError(Errc::BadFile, say(Msg::Noted, say(Msg::RunnerAnsweredElse), phrase(what)));
}

} // namespace

Result<nlohmann::json> deviceWords(std::string_view text)
{
    if (text.size() > kMostBytes)
        return nonsense(fmt::format("{} bytes about itself", text.size()));
    bool isDeep = false;
    nlohmann::json words = nlohmann::json::parse(
        text,
        [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
            isDeep = isDeep || depth > kDeepest;
            return depth <= kDeepest;
        },
        false);
    if (isDeep || !words.is_object())
        return nonsense("what it says of itself cannot be read");
    return words;
}

Result<> checkAnswer(const wire::RunResult& run, const MeasureRequest& request)
{
    const auto trial = Hash128::fromHex(request.trial);
    if (trial && run.has_trial() && wire::fromWire(run.trial()) != *trial)
        return nonsense("it is about another trial");
    for (const double ms :
         {run.prepare_ms(), run.build_ms(), run.measure_ms(), run.check_ms(), run.prepare_processor_ms(),
          run.build_processor_ms(), run.measure_processor_ms(), run.check_processor_ms(), run.processor_ms()})
        if (!isTime(ms, kMostMs))
            return nonsense(fmt::format("{} ms for a part of the work", ms));
    if (run.failure().code() != 0)
        return {};
    if (run.stage() != static_cast<std::uint32_t>(TrialStage::Done))
        return nonsense(fmt::format("all went well, but it ended at stage {}", run.stage()));
    if (run.verified() && !isTime(run.max_rel_error(), 1e300))
        return nonsense(fmt::format("outputs with an error of {}", run.max_rel_error()));
    const auto most = static_cast<int>(std::clamp<std::uint32_t>(request.plan.repeat, 1, kMostRepeats));
    if (run.costs_ns_size() == 0 || run.costs_ns_size() > most)
        return nonsense(fmt::format("{} latencies instead of {}", run.costs_ns_size(), most));
    for (const double ns : run.costs_ns())
        if (!isTime(ns, kMostNs) || ns == 0)
            return nonsense(fmt::format("a latency of {} ns", ns));
    return {};
}

} // namespace lathe::measure
