#include "core/store/template_logs.h"

#include "core/store/line_file.h"
#include "core/store/log_line.h"
#include "core/store/log_reader.h"
#include "core/support/message.h"
#include "core/templates/template_table.h"
#include "core/templates/workload_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace lathe::store {

namespace {

using templates::TemplateTrial;

constexpr std::size_t kMostReasons = 100;

/// Each line of the template tuner, with its text; what is none is counted by why.
Result<> forEachTrial(std::span<const std::filesystem::path> files, std::int64_t& lines,
                      std::map<std::string, PassedOver>& skipped,
                      const std::function<Result<>(const TemplateTrial&, std::string_view)>& visit)
{
    std::vector<LogReader> readers; // all of them, so that a name that is wrong changes nothing
    for (const std::filesystem::path& file : files) {
        LATHE_TRY_ASSIGN(LogReader reader, LogReader::open(file));
        readers.push_back(std::move(reader));
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
        LogReader::Line line;
        const auto skip = [&](std::string why) {
            if (skipped.size() >= kMostReasons && !skipped.contains(why))
                why = textOf(say(Msg::LineOtherReasons));
            PassedOver& alike = skipped[why];
            if (alike.count++ == 0) {
                alike.file = files[i].filename().string();
                alike.line = line.number;
            }
        };
        while (true) {
            LATHE_TRY_ASSIGN(const bool more, readers[i].next(line));
            if (!more)
                break;
            if (line.tooLong) {
                ++lines;
                skip(textOf(say(Msg::LineTooLong, LogReader::kMaxLine >> 20)));
                continue;
            }
            const auto read = templates::readTemplateLine(line.text);
            if (!read) {
                ++lines;
                skip(line.cutOff ? textOf(say(Msg::LineCutOff)) : read.error().message);
            } else if (*read) {
                ++lines;
                LATHE_TRY(visit(**read, line.text));
            }
        }
    }
    return {};
}

} // namespace

std::vector<std::string> targetKeys(std::string_view target)
{
    std::vector<std::string> keys;
    constexpr std::string_view kKeys = "-keys=";
    if (const std::size_t at = target.find(kKeys); at != std::string_view::npos) {
        const std::string_view list = target.substr(at + kKeys.size(),
                                                    std::min(target.find(' ', at), target.size()) - at - kKeys.size());
        for (std::size_t from = 0; from <= list.size();) {
            const std::size_t comma = std::min(list.find(',', from), list.size());
            if (comma > from)
                keys.emplace_back(list.substr(from, comma - from));
            from = comma + 1;
        }
        return keys;
    }
    const std::string_view kind = target.substr(0, target.find(' '));
    if (kind == "llvm" || kind == "c")
        return {"cpu"};
    if (kind == "cuda" || kind == "opencl" || kind == "vulkan" || kind == "rocm" || kind == "metal")
        return {std::string(kind), "gpu"};
    return {std::string(kind)};
}

std::string targetModel(std::string_view target)
{
    constexpr std::string_view kModel = "-model=";
    const std::size_t at = target.find(kModel);
    if (at == std::string_view::npos)
        return {};
    std::string model(
        target.substr(at + kModel.size(), std::min(target.find(' ', at), target.size()) - at - kModel.size()));
    return model == "unknown" ? std::string() : model;
}

Result<LogSummary> summarizeLogs(std::span<const std::filesystem::path> files, std::stop_token stop)
{
    LogSummary summary;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    LATHE_TRY(forEachTrial(
        files, summary.lines, summary.skipped, [&](const TemplateTrial& trial, std::string_view) -> Result<> {
            if (stop.stop_requested())
                return makeError(Errc::Cancelled, say(Msg::QueryStopped));
            const std::string key = templates::workloadKey(trial.workload);
            const auto [place, isNew] = known.try_emplace({trial.target, key}, summary.workloads.size());
            if (isNew) {
                WorkloadOfLog workload;
                workload.target = trial.target;
                workload.name = trial.workload.task;
                workload.workload = key;
                workload.plainWorkload = templates::workloadKey(templates::unpacked(trial.workload));
                workload.known = templates::findTemplate(trial.workload.task) != nullptr;
                summary.workloads.push_back(std::move(workload));
            }
            WorkloadOfLog& workload = summary.workloads[place->second];
            ++workload.trials;
            workload.failed += trial.error != 0 ? 1 : 0;
            if (const double mean = trial.meanCost(); mean < workload.bestSeconds) {
                workload.bestSeconds = mean;
                workload.bestConfig = templates::configText(trial.config);
            }
            return {};
        }));
    return summary;
}

Result<LogsWritten> pickBest(std::span<const std::filesystem::path> files, const std::filesystem::path& output)
{
    LogsWritten done;
    struct Winner
    {
        double seconds;
        std::int64_t place;
    };
    std::map<std::pair<std::string, std::string>, Winner> winners; ///< by (key or model of the target, workload)
    std::map<std::int64_t, std::string> texts; ///< of those that won once, by place
    LATHE_TRY(forEachTrial(
        files, done.read, done.skipped, [&](const TemplateTrial& trial, std::string_view text) -> Result<> {
            const double mean = trial.meanCost();
            if (trial.error != 0) {
                ++done.failed;
                return {};
            }
            const std::string workload = templates::workloadKey(trial.workload);
            std::vector<std::string> keys = targetKeys(trial.target);
            for (std::string& key : keys)
                key.insert(0, "key ");
            if (const std::string model = targetModel(trial.target); !model.empty())
                keys.push_back("model " + model);
            for (std::string& key : keys) {
                const auto [best, isNew] = winners.try_emplace({std::move(key), workload}, Winner{mean, done.read});
                if (!isNew && mean < best->second.seconds)
                    best->second = {mean, done.read};
                if (best->second.place == done.read)
                    texts[done.read] = text;
            }
            return {};
        }));
    std::set<std::int64_t> places;
    for (const auto& [key, winner] : winners)
        places.insert(winner.place);
    LATHE_TRY_ASSIGN(LineFile out, LineFile::create(output));
    for (const std::int64_t place : places) {
        out.line(texts[place]);
        ++done.written;
    }
    LATHE_TRY(out.close());
    done.files.push_back(output);
    return done;
}

Result<LogsWritten> splitByWorkload(std::span<const std::filesystem::path> files, const std::filesystem::path& folder)
{
    LogsWritten done;
    struct Part
    {
        std::string name;
        std::vector<std::string> lines;
    };
    std::vector<Part> parts;
    std::map<std::string, std::size_t> known;
    std::set<std::string> seen;
    LATHE_TRY(forEachTrial(
        files, done.read, done.skipped, [&](const TemplateTrial& trial, std::string_view text) -> Result<> {
            if (!seen.insert(templates::trialKey(trial)).second) {
                ++done.duplicates;
                return {};
            }
            const auto [place, isNew] = known.try_emplace(templates::workloadKey(trial.workload), parts.size());
            if (isNew)
                parts.push_back({trial.workload.task, {}});
            parts[place->second].lines.emplace_back(text);
            return {};
        }));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        std::string name = parts[i].name.substr(0, 100); // of others: no path, and no name that ends elsewhere
        std::replace_if(
            name.begin(), name.end(),
            [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.'; }, '_');
        const std::filesystem::path file = folder / fmt::format("{:04}-{}.log", i, name);
        LATHE_TRY_ASSIGN(LineFile out, LineFile::create(file));
        for (const std::string& line : parts[i].lines) {
            out.line(line);
            ++done.written;
        }
        LATHE_TRY(out.close());
        done.files.push_back(file);
    }
    return done;
}

Result<LogsWritten> mergeLogs(std::span<const std::filesystem::path> files, const std::filesystem::path& output)
{
    LogsWritten done;
    std::set<std::string> seen;
    LATHE_TRY_ASSIGN(LineFile out, LineFile::create(output));
    LATHE_TRY(forEachTrial(files, done.read, done.skipped,
                           [&](const TemplateTrial& trial, std::string_view text) -> Result<> {
                               if (!seen.insert(templates::trialKey(trial)).second) {
                                   ++done.duplicates;
                                   return {};
                               }
                               done.failed += trial.error != 0 ? 1 : 0;
                               out.line(std::string(text));
                               ++done.written;
                               return {};
                           }));
    LATHE_TRY(out.close());
    done.files.push_back(output);
    return done;
}

} // namespace lathe::store
