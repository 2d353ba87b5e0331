#include "core/session/project/run_choices.h"

#include "core/policy/policy_table.h"
#include "core/session/back_ends.h"
#include "core/session/options/options_json.h"
#include "core/session/options/search_choice.h"
#include "core/support/json_fields.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr std::string_view kChoices = "choices"; ///< a snapshot of no run

} // namespace

Result<TuneOptions> usualOptionsOf(const store::Project& project, std::int64_t modelRow, std::string_view target)
{
    LATHE_TRY_ASSIGN(const auto runs, project.sessions());
    const store::SessionRow* latest = runs.empty() ? nullptr : &runs.back();
    for (const store::SessionRow& run : runs)
        if (run.model == modelRow && run.target == target)
            latest = &run;
    if (latest == nullptr)
        return TuneOptions();
    LATHE_TRY_ASSIGN(TuneOptions usual, tuneOptionsFromJson(latest->options));
    usual.seconds = usual.minGainPercent = 0;
    usual.trials = 0;
    if (latest->target != target)
        usual.devices.clear();
    if (latest->model != modelRow) { // they are tasks of that model
        usual.operators.clear();
        usual.tasks.clear();
    }
    return usual;
}

TuneOptions forTarget(const Target& target, TuneOptions usual)
{
    usual.policy = policyFor(target, std::move(usual.policy));
    // One that an earlier run had with another policy is no use to this one.
    if (const auto policy = policy::findPolicy(usual.policy); policy && !(*policy)->takesHeadStart)
        usual.headStart.clear();
    return usual;
}

Result<RunChoices> choicesOf(const store::Project& project)
{
    LATHE_TRY_ASSIGN(const auto bytes, project.snapshot(0, kChoices));
    if (!bytes)
        return RunChoices();
    const auto* const text = reinterpret_cast<const char*>(
        bytes->data()); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
    const json kept = json::parse(text, text + bytes->size(), nullptr, false);
    RunChoices choices{textIn(kept, "budget"), std::nullopt};
    if (kept.is_object() && kept.contains("head_start"))
        choices.headStart = textIn(kept, "head_start");
    if (kept.is_object() && kept.contains("search")) {
        LATHE_TRY_ASSIGN(const TuneOptions held, tuneOptionsFromJson(kept["search"].dump()));
        choices.search = searchOf(held);
    }
    return choices;
}

Result<> keepChoices(store::Project& project, const RunChoices& choices)
{
    json kept = {{"budget", choices.budget}};
    if (choices.headStart)
        kept["head_start"] = *choices.headStart;
    if (choices.search) {
        // As options are stored, so that a project that is read later has the same words.
        TuneOptions held;
        putSearch(held, *choices.search);
        kept["search"] = toJson(held);
    }
    const std::string text = kept.dump(-1, ' ', false, json::error_handler_t::replace);
    return project.putSnapshot(0, kChoices, 0, std::as_bytes(std::span(text)));
}

} // namespace lathe::session
