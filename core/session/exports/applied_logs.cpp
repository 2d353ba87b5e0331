#include "core/session/exports/applied_logs.h"

#include "core/session/device_directory.h"
#include "core/session/packages.h"
#include "core/session/template_matches.h"
#include "core/store/log_line.h"
#include "core/store/template_logs.h"
#include "core/support/message.h"
#include "core/target/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace lathe::session {

namespace {

/// The words of a target that decide what code is made; what else it has (keys, libraries, how parameters are linked)
/// says nothing of the device.
constexpr std::array<std::string_view, 6> kTelling = {
    "-mcpu=", "-arch=", "-device=", "-model=", "-mattr=", "-mtriple="};

std::set<std::string> tellingWords(std::string_view target)
{
    std::set<std::string> words;
    for (std::size_t at = 0; at < target.size();) {
        const std::size_t end = std::min(target.find(' ', at), target.size());
        const std::string word(target.substr(at, end - at));
        const bool telling = std::any_of(kTelling.begin(), kTelling.end(),
                                         [&word](std::string_view start) { return word.starts_with(start); });
        if (telling && word != "-model=unknown")
            words.insert(word);
        at = end + 1;
    }
    return words;
}

std::string joined(const std::set<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text.empty() ? "nothing" : text;
}

} // namespace

std::optional<std::string> differenceOfTargets(std::string_view reference, const Target& target)
{
    if (reference == target.text()) // of a kind that the reference does not have
        return std::string();
    const std::vector<std::string> keys = referenceKeys(reference);
    const std::string& family = target.family();
    if (std::find(keys.begin(), keys.end(), family) == keys.end())
        return std::nullopt;
    std::set<std::string> theirs = tellingWords(reference), ours = tellingWords(target.text());
    std::set<std::string> onlyTheirs, onlyOurs;
    std::set_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                        std::inserter(onlyTheirs, onlyTheirs.end()));
    std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                        std::inserter(onlyOurs, onlyOurs.end()));
    if (onlyTheirs.empty() && onlyOurs.empty())
        return std::string();
    return fmt::format("{} there, {} here", joined(onlyTheirs), joined(onlyOurs));
}

Result<AppliedLogs> applyLogs(const LoadedModel& model, std::span<const std::filesystem::path> files)
{
    const TemplateMatches matches(model);
    AppliedLogs applied;
    store::SkippedCounts skipped;
    const auto visit = [&](const templates::TemplateTrial& trial, const store::TrialLine& line) -> Result<> {
        const auto skip = [&](const Message& why) { skipped.add(why, line.file, line.number); };
        if (trial.error != 0) {
            skip(*store::templateFailure(trial.error).about);
            return {};
        }
        const auto differs = differenceOfTargets(trial.target, model.target);
        if (!differs) {
            skip(say(Msg::RecordsOfTarget, store::quoted(trial.target)));
            return {};
        }
        const auto ofLine = matches.of(trial);
        if (!ofLine) {
            skip(messageOf(ofLine.error()));
            return {};
        }
        for (const auto& [task, made] : *ofLine) {
            auto candidate = made.candidate(trial.config);
            if (!candidate) {
                skip(say(Msg::LineConfigUnfit, task->name, messageOf(candidate.error())));
                continue;
            }
            About about;
            if (!differs->empty())
                about = lathe::about(say(Msg::RecordsOfTarget, store::quoted(trial.target) + ": " + *differs));
            Record record;
            record.trial = fmt::format("{}:{}", line.file, line.number);
            record.candidate = *std::move(candidate);
            record.result.costsNs = {trial.meanCost() * 1e9};
            record.target = trial.target;
            applied.tasks[task->key].push_back({std::move(record), std::move(about)});
            ++applied.given.fitting;
        }
        return {};
    };
    LATHE_TRY_ASSIGN(applied.given.lines, store::forEachTrial(files, skipped, visit));
    applied.given.skipped = skipped.take();
    for (auto& [key, ofTask] : applied.tasks)
        std::ranges::stable_sort(ofTask, {}, [](const AppliedLogs::Applied& each) {
            return std::pair(each.differs != nullptr, each.record.result.meanNs());
        });
    return applied;
}

namespace {

/// Its records for those of the tasks that `logs` have nothing of.
void applyPackage(const Package& package, const std::filesystem::path& file, const About& differs,
                  const std::set<std::string>& tasks, AppliedLogs& logs)
{
    std::map<std::string, std::vector<AppliedLogs::Applied>> ofPackage;
    for (const Record& record : package.records) {
        if (!tasks.contains(record.candidate.task) || logs.tasks.contains(record.candidate.task))
            continue;
        Record taken = record;
        taken.trial = file.filename().string() + ':' + record.trial;
        ofPackage[record.candidate.task].push_back({std::move(taken), differs});
        ++logs.given.fitting;
    }
    logs.tasks.merge(ofPackage);
}

} // namespace

Result<AppliedLogs> recordsOfFiles(const LoadedModel& model, const CompileOptions& options)
{
    const std::vector<std::filesystem::path> files(options.logs.begin(), options.logs.end());
    AppliedLogs applied;
    if (!files.empty()) {
        LATHE_TRY_ASSIGN(applied, applyLogs(model, files));
    }
    if (options.packages == std::vector<std::string>{"none"})
        return applied;
    const std::string target = model.target.text();
    std::vector<std::pair<std::filesystem::path, Package>> packages;
    if (options.packages.empty()) {
        packages = packagesFor(target);
    } else {
        for (const std::string& file : options.packages) {
            LATHE_TRY_ASSIGN(Package package, readPackage(file));
            if (package.target != target)
                return makeError(Errc::Incompatible, say(Msg::PackageOfOtherTarget, file, package.target, target));
            packages.emplace_back(file, std::move(package));
        }
    }
    std::set<std::string> tasks;
    for (const graph::Task& task : model.partition.tasks)
        tasks.insert(task.key);
    for (const auto& [file, package] : packages) {
        // What runs elsewhere has a target that says for what.
        const bool ours = !model.target.traits().runsHere || hasDeviceOfClass(model.target.kind(), package.deviceKey);
        if (ours)
            applyPackage(package, file, {}, tasks, applied);
        else if (!options.packages.empty()) // what merely lies there must fit
            applyPackage(package, file, about(say(Msg::PackageOfOtherDevice, package.deviceName)), tasks, applied);
    }
    return applied;
}

} // namespace lathe::session
