#include "core/store/template_logs.h"

#include "core/store/line_file.h"
#include "core/store/log_line.h"
#include "core/store/log_reader.h"
#include "core/support/message.h"
#include "core/target/presets.h"
#include "core/templates/template_table.h"
#include "core/templates/workload_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace lathe::store {

using templates::TemplateTrial;

Result<std::int64_t> forEachTrial(std::span<const std::filesystem::path> files, SkippedCounts& skipped,
                                  const std::function<Result<>(const TemplateTrial&, const TrialLine&)>& visit)
{
    std::vector<LogReader> readers; // all of them, so that a name that is wrong changes nothing
    for (const std::filesystem::path& file : files) {
        LATHE_TRY_ASSIGN(LogReader reader, LogReader::open(file));
        readers.push_back(std::move(reader));
    }
    std::int64_t lines = 0;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string name = files[i].filename().string();
        LogReader::Line line;
        while (true) {
            LATHE_TRY_ASSIGN(const bool more, readers[i].next(line));
            if (!more)
                break;
            if (line.tooLong) {
                ++lines;
                skipped.add(say(Msg::LineTooLong, LogReader::kMaxLine >> 20), name, line.number);
                continue;
            }
            const auto read = templates::readTemplateLine(line.text);
            if (!read) {
                ++lines;
                skipped.add(line.cutOff ? say(Msg::LineCutOff) : messageOf(read.error()), name, line.number);
            } else if (*read) {
                ++lines;
                LATHE_TRY(visit(**read, {line.text, name, line.number}));
            }
        }
    }
    return lines;
}

Result<LogSummary> summarizeLogs(std::span<const std::filesystem::path> files, std::stop_token stop)
{
    LogSummary summary;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    SkippedCounts skipped;
    LATHE_TRY_ASSIGN(summary.lines,
                     forEachTrial(files, skipped, [&](const TemplateTrial& trial, const TrialLine&) -> Result<> {
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
    summary.skipped = skipped.take();
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
    std::int64_t place = 0; ///< of a trial among all
    SkippedCounts skipped;
    LATHE_TRY_ASSIGN(
        done.read, forEachTrial(files, skipped, [&](const TemplateTrial& trial, const TrialLine& line) -> Result<> {
            ++place;
            const double mean = trial.meanCost();
            if (trial.error != 0) {
                ++done.failed;
                return {};
            }
            const std::string workload = templates::workloadKey(trial.workload);
            std::vector<std::string> keys = referenceKeys(trial.target);
            for (std::string& key : keys)
                key.insert(0, "key ");
            if (const std::string model = referenceModel(trial.target); !model.empty())
                keys.push_back("model " + model);
            for (std::string& key : keys) {
                const auto [best, isNew] = winners.try_emplace({std::move(key), workload}, Winner{mean, place});
                if (!isNew && mean < best->second.seconds)
                    best->second = {mean, place};
                if (best->second.place == place)
                    texts[place] = line.text;
            }
            return {};
        }));
    done.skipped = skipped.take();
    std::set<std::int64_t> places;
    for (const auto& [key, winner] : winners)
        places.insert(winner.place);
    LATHE_TRY_ASSIGN(LineFile out, LineFile::create(output));
    for (const std::int64_t won : places) {
        out.line(texts[won]);
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
    SkippedCounts skipped;
    LATHE_TRY_ASSIGN(
        done.read, forEachTrial(files, skipped, [&](const TemplateTrial& trial, const TrialLine& line) -> Result<> {
            if (!seen.insert(templates::trialKey(trial)).second) {
                ++done.duplicates;
                return {};
            }
            const auto [place, isNew] = known.try_emplace(templates::workloadKey(trial.workload), parts.size());
            if (isNew)
                parts.push_back({trial.workload.task, {}});
            parts[place->second].lines.emplace_back(line.text);
            return {};
        }));
    done.skipped = skipped.take();
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
    SkippedCounts skipped;
    LATHE_TRY_ASSIGN(done.read,
                     forEachTrial(files, skipped, [&](const TemplateTrial& trial, const TrialLine& line) -> Result<> {
                         if (!seen.insert(templates::trialKey(trial)).second) {
                             ++done.duplicates;
                             return {};
                         }
                         done.failed += trial.error != 0 ? 1 : 0;
                         out.line(std::string(line.text));
                         ++done.written;
                         return {};
                     }));
    done.skipped = skipped.take();
    LATHE_TRY(out.close());
    done.files.push_back(output);
    return done;
}

} // namespace lathe::store
