#include "core/session/exports/applied_logs.h"

#include "core/session/template_matches.h"
#include "core/store/log_line.h"
#include "core/store/log_reader.h"
#include "core/store/template_logs.h"
#include "core/support/message.h"

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
    const std::vector<std::string> keys = store::targetKeys(reference);
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
    for (const std::filesystem::path& file : files) {
        LATHE_TRY_ASSIGN(store::LogReader reader, store::LogReader::open(file));
        store::LogReader::Line line;
        while (true) {
            LATHE_TRY_ASSIGN(const bool more, reader.next(line));
            if (!more)
                break;
            const auto trial = templates::readTemplateLine(line.text);
            if (trial && !*trial)
                continue; // a comment
            ++applied.lines;
            const auto skip = [&applied](const Error& why) { ++applied.skipped[why.message]; };
            if (!trial) {
                skip(trial.error());
                continue;
            }
            const templates::TemplateTrial& t = **trial;
            if (t.error != 0) {
                skip(makeError(Errc::BadFile, textOf(*store::templateFailure(t.error).about)));
                continue;
            }
            const auto differs = differenceOfTargets(t.target, model.target);
            if (!differs) {
                skip(makeError(Errc::Incompatible, say(Msg::RecordsOfTarget, store::quoted(t.target))));
                continue;
            }
            const auto ofLine = matches.of(t);
            if (!ofLine) {
                skip(ofLine.error());
                continue;
            }
            for (const auto& [task, made] : *ofLine) {
                auto candidate = made.candidate(t.config);
                if (!candidate) {
                    skip(makeError(Errc::InvalidArgument, say(Msg::LineConfigUnfit, task->name, candidate.error())));
                    continue;
                }
                AppliedLogs::OfTask& ofTask = applied.tasks[task->key];
                const bool exact = differs->empty();
                if (!ofTask.records.empty() && !exact && ofTask.differs.empty())
                    continue; // there are lines for this very target
                if (exact && !ofTask.differs.empty())
                    ofTask.records.clear();
                ofTask.differs = exact ? std::string() : store::quoted(t.target) + ": " + *differs;
                Record record;
                record.trial = fmt::format("{}:{}", file.filename().string(), line.number);
                record.candidate = *std::move(candidate);
                record.result.costsNs = {t.meanCost() * 1e9};
                record.target = t.target;
                ofTask.records.push_back(std::move(record));
                ++applied.applied;
            }
        }
    }
    for (auto& [key, ofTask] : applied.tasks)
        std::stable_sort(ofTask.records.begin(), ofTask.records.end(),
                         [](const Record& a, const Record& b) { return a.result.meanNs() < b.result.meanNs(); });
    return applied;
}

} // namespace lathe::session
