#include "core/session/project/template_log_export.h"

#include "core/session/template_matches.h"
#include "core/store/line_file.h"
#include "core/store/log_line.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/target/presets.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace lathe::session {

namespace {

/// The reference's number of what went wrong (autotvm.md 8).
std::int32_t errorOf(const TrialResult& result)
{
    if (result.ok())
        return 0;
    switch (result.stage) {
    case TrialStage::Lower: return 1;
    case TrialStage::Build:
    case TrialStage::Load: return result.code == Errc::BuildTimeout ? 6 : 2;
    case TrialStage::Verify: return 5;
    default: return result.code == Errc::RunTimeout ? 7 : 4;
    }
}

templates::Real real(double value)
{
    return {value, {}};
}

/// What the reference calls our target, with the words that say what code is made for.
std::string targetText(const Target& target)
{
    std::string text = referenceTargetText(target);
    for (const char* key : {"mcpu", "arch", "device", "model"})
        if (const auto value = target.attribute(key); value && text.find(std::string("-") + key) == std::string::npos)
            text += std::string(" -") + key + '=' + *value;
    return text;
}

} // namespace

templates::TemplateTrial templateTrialOf(const Record& record, const templates::TaskTemplate& made,
                                         templates::Config config, const Target& target)
{
    templates::TemplateTrial trial;
    trial.target = targetText(target);
    trial.workload = made.workload;
    if (const auto index = made.space.indexOf(config))
        config.index = *index;
    trial.config = std::move(config);
    trial.error = errorOf(record.result);
    for (const double ns : record.result.costsNs)
        trial.costs.push_back(real(ns * 1e-9));
    if (trial.error != 0)
        trial.costs = {real(1e9)};
    const auto& durations = record.result.durationsMs;
    trial.allCost = real(1e-3
                         * std::accumulate(durations.begin(), durations.end(), 0.0,
                                           [](double sum, const auto& each) { return sum + each.second; }));
    trial.timestamp = real(static_cast<double>(record.timeMs) * 1e-3);
    return trial;
}

Result<LogExport> writeTemplateLog(const LoadedModel& model, const store::Project& project,
                                   const std::filesystem::path& file, std::stop_token stop)
{
    const TemplateMatches matches(model);
    LATHE_TRY_ASSIGN(store::LineFile out, store::LineFile::create(file));
    LogExport done;
    store::SkippedCounts skipped;
    const auto skip = [&skipped](const std::string& reason) { skipped.add(say(Msg::Plain, reason), {}, 0); };
    const std::string target = model.target.text();
    std::string lastLine; // a line is the record of each task that has its workload
    LATHE_TRY(project.forEachRecord({}, [&](const Record& record) {
        if (stop.stop_requested())
            return;
        if (store::isImported(record)) {
            std::string line = store::importedLine(record, store::kTemplateLine);
            if (line.empty()) {
                skip("imported from another tuner's log");
            } else if (line != lastLine) {
                out.line(line);
                ++done.written;
                lastLine = std::move(line);
            }
            return;
        }
        const templates::TaskTemplate* const made = matches.of(record.candidate);
        if (made == nullptr) {
            skip(record.candidate.kind == "template" ? "its task is not in this network" : "not made by a template");
            return;
        }
        if (record.target != target) {
            skip("made for " + record.target);
            return;
        }
        std::optional<templates::Config> config = made->configOf(record.candidate);
        if (!config) {
            skip("its configuration cannot be read");
            return;
        }
        out.line(templates::templateLine(templateTrialOf(record, *made, *std::move(config), model.target)));
        ++done.written;
    }));
    if (stop.stop_requested())
        return makeError(Errc::Cancelled, say(Msg::Stopped));
    LATHE_TRY(out.close());
    done.skipped = skipped.take();
    return done;
}

} // namespace lathe::session
