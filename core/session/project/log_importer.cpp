#include "core/session/project/log_importer.h"

#include "core/compute/key.h"
#include "core/schedule/state.h"
#include "core/session/template_matches.h"
#include "core/store/log_line.h"
#include "core/store/log_reader.h"
#include "core/store/template_logs.h"
#include "core/support/hash.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace lathe::session {

using nlohmann::json;

namespace {

/// A workload key with its shapes in one row, so that flat and nested ones of one DAG are equal. Nothing: it is no key.
std::optional<std::string> flattened(std::string_view key)
{
    if (!store::nestsShallow(key))
        return std::nullopt;
    const json parsed = json::parse(key, nullptr, false);
    if (!parsed.is_array() || parsed.empty() || !parsed[0].is_string())
        return std::nullopt;
    json row = json::array();
    const auto add = [&row](const json& value, const auto& self) -> void {
        if (!value.is_array())
            row.push_back(value);
        else
            for (const json& item : value)
                self(item, self);
    };
    add(parsed, add);
    return row.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// What a line with a workload key is replayed on.
struct Workload
{
    const graph::Task* task = nullptr;
    const graph::Alternative* alternative = nullptr; ///< null: this partition has none of the reference's stages
};

class LogImporter
{
public:
    /// `writer` null: what would be taken is counted alone.
    LogImporter(const LoadedModel& model, const store::Project& project, store::Project* writer)
        : m_model(model)
        , m_project(project)
        , m_writer(writer)
        , m_templates(model)
    {
    }

    Result<LogImport> run(std::span<const std::filesystem::path> files, const Progress& progress, std::stop_token stop)
    {
        LATHE_TRY(readTasks());
        std::vector<store::LogReader> readers; // all of them, so that a name that is wrong changes nothing
        for (const std::filesystem::path& file : files) {
            LATHE_TRY_ASSIGN(store::LogReader reader, store::LogReader::open(file));
            readers.push_back(std::move(reader));
        }
        for (std::size_t i = 0; i < files.size(); ++i) {
            m_file = files[i].filename().string();
            store::LogReader::Line line;
            while (true) {
                LATHE_TRY_ASSIGN(const bool more, readers[i].next(line));
                if (!more)
                    break;
                take(line);
                if (m_batch.size() < kBatch && line.number % 4096 != 0)
                    continue;
                LATHE_TRY(flush());
                if (stop.stop_requested())
                    return makeError(Errc::Cancelled, m_writer != nullptr ? say(Msg::ImportStopped, m_done.taken)
                                                                          : say(Msg::QueryStopped));
                if (progress)
                    progress(m_file,
                             (static_cast<double>(i) + readers[i].fraction()) / static_cast<double>(files.size()));
            }
        }
        LATHE_TRY(flush());
        m_done.tasks = static_cast<std::int32_t>(m_fresh.size());
        m_done.skipped = m_skipped.take();
        return std::move(m_done);
    }

    /// Records that are new, by the key of their task.
    const std::map<std::string, std::int64_t>& fresh() const { return m_fresh; }
    /// The tasks that a workload of the template tuner is for, by its key with plain layouts.
    std::vector<std::int32_t> tasksOf(const std::string& workload) const
    {
        std::vector<std::int32_t> tasks;
        for (const auto& [task, made] : m_templates.ofWorkload(workload))
            tasks.push_back(static_cast<std::int32_t>(task - m_model.partition.tasks.data()));
        return tasks;
    }

private:
    static constexpr std::size_t kBatch = 1000;

    Result<> readTasks()
    {
        LATHE_TRY_ASSIGN(const auto models, m_project.models());
        for (const store::ModelRow& model : models) {
            LATHE_TRY_ASSIGN(const auto tasks, m_project.tasks(model.id));
            for (const store::TaskRow& task : tasks)
                m_known.insert(task.key);
        }
        for (const graph::Task& task : m_model.partition.tasks) {
            Workload workload{&task, nullptr};
            for (const graph::Alternative& alternative : task.alternatives)
                // Lathe's own partition may compute the reference's algorithm in stages of its own.
                if (alternative.isReference && task.nested
                    && compute::workloadKey(*alternative.dag, compute::NameEra::Nested) == task.nested->key)
                    workload.alternative = &alternative;
            std::set<std::string> keys; // generations without shapes or with equal names have equal keys
            for (const auto& text : {task.flat, task.nested, task.hash})
                if (text)
                    if (const auto key = flattened(text->key))
                        keys.insert(*key);
            for (const std::string& key : keys)
                m_workloads[key].push_back(workload);
        }
        return {};
    }

    void skip(const Message& why, std::int64_t line) { m_skipped.add(why, m_file, line); }

    void take(const store::LogReader::Line& line)
    {
        if (line.tooLong) {
            ++m_done.lines;
            skip(say(Msg::LineTooLong, store::LogReader::kMaxLine >> 20), line.number);
            return;
        }
        auto read = store::readLogLine(line.text);
        if (!read) {
            ++m_done.lines;
            skip(line.cutOff && read.error().code == Errc::BadFile ? say(Msg::LineCutOff) : messageOf(read.error()),
                 line.number);
        } else if (auto* own = std::get_if<Record>(&*read)) {
            ++m_done.lines;
            takeOwn(std::move(*own), line.number);
        } else if (const auto* foreign = std::get_if<store::ForeignTrial>(&*read)) {
            ++m_done.lines;
            takeForeign(*foreign, line);
        } else if (const auto* byTemplate = std::get_if<templates::TemplateTrial>(&*read)) {
            ++m_done.lines;
            takeTemplate(*byTemplate, line);
        }
    }

    void takeOwn(Record record, std::int64_t line)
    {
        if (!m_known.contains(record.candidate.task)) {
            skip(say(Msg::LineOfOtherTask), line);
            return;
        }
        record.session = 0; // runs stay in the project that made them
        m_batch.push_back({std::move(record), false});
    }

    void takeForeign(const store::ForeignTrial& trial, const store::LogReader::Line& line)
    {
        const auto key = flattened(trial.workload);
        if (!key) {
            skip(say(Msg::LineWithoutKey), line.number);
            return;
        }
        const auto found = m_workloads.find(*key);
        if (found == m_workloads.end()) {
            skip(say(Msg::LineOfOtherWorkload), line.number);
            return;
        }
        // Tasks that the reference could not tell apart have one key: the steps belong to those that they fit.
        Message problem;
        bool fits = false;
        for (const Workload& workload : found->second) {
            if (workload.alternative == nullptr) {
                problem = say(Msg::LineOtherStages, workload.task->name);
                continue;
            }
            if (const auto replayed = replay(*workload.alternative, trial.steps); !replayed) {
                problem = say(Msg::LineStepsUnfit, workload.task->name, store::quoted(replayed.error().message, 160));
                continue;
            }
            m_batch.push_back({recordOf(trial, workload, line), true});
            fits = true;
        }
        if (!fits)
            skip(problem, line.number);
    }

    void takeTemplate(const templates::TemplateTrial& trial, const store::LogReader::Line& line)
    {
        const auto found = m_templates.of(trial);
        if (!found) {
            skip(messageOf(found.error()), line.number);
            return;
        }
        Message problem;
        bool fits = false;
        for (const auto& [task, made] : *found) {
            auto candidate = made.candidate(trial.config);
            if (!candidate) {
                problem = say(Msg::LineConfigUnfit, task->name, store::quoted(candidate.error().message, 160));
                continue;
            }
            m_batch.push_back({recordOf(trial, *std::move(candidate), line), true});
            fits = true;
        }
        if (!fits)
            skip(problem, line.number);
    }

    Record recordOf(const templates::TemplateTrial& trial, Candidate candidate,
                    const store::LogReader::Line& line) const
    {
        Record record;
        record.candidate = std::move(candidate);
        json costs = json::array();
        for (const templates::Real& seconds : trial.costs)
            costs.push_back(seconds.value * 1e9);
        if (trial.error == 0)
            record.result.costsNs = costs.get<std::vector<double>>();
        else
            record.result = store::templateFailure(trial.error);
        record.result.conditions = json{
            {"log", m_file},
            {"line", line.number},
            {"log_version", "0.2"},
            {"tvm_version", trial.version.value_or("")},
            {"all_s", trial.allCost.value},
            {store::kTemplateLine,
             line.text}}.dump(-1, ' ', false, json::error_handler_t::replace);
        const std::string target = store::quoted(trial.target, 300);
        record.target = std::string(store::kImportedTarget) + target;
        record.result.device = identityOf(deviceOf(target, {}));
        record.index = placeOf(line.number);
        record.timeMs = static_cast<std::int64_t>(trial.timestamp.value) * 1000;
        record.trial = contentHash(fmt::format("template {} {} {} {} {} {}", record.candidate.hash().hex(),
                                               trial.target, costs.dump(), trial.error, trial.allCost.value,
                                               trial.timestamp.value))
                           .hex();
        return record;
    }

    static std::int32_t placeOf(std::int64_t line)
    {
        return static_cast<std::int32_t>(std::min<std::int64_t>(line - 1, std::numeric_limits<std::int32_t>::max()));
    }

    static Result<> replay(const graph::Alternative& alternative, const std::vector<schedule::Step>& steps)
    {
        LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(alternative.dag, steps));
        if (!state.concrete())
            return makeError(Errc::IllegalSchedule, say(Msg::SplitWithoutLength));
        return state.inferBounds();
    }

    Record recordOf(const store::ForeignTrial& trial, const Workload& workload,
                    const store::LogReader::Line& line) const
    {
        Record record;
        record.candidate.task = workload.task->key;
        record.candidate.alternative = workload.alternative->name;
        record.candidate.kind = "steps";
        record.candidate.sketch = "imported log";
        record.candidate.steps = schedule::toJson(trial.steps).dump();
        if (trial.error == 0)
            record.result.costsNs = trial.costsNs;
        else
            record.result = store::foreignFailure(trial.error);
        const std::string target = store::quoted(trial.target, 300);
        record.result.conditions = json{
            {"log", m_file},
            {"line", line.number},
            {"log_version", trial.version},
            {"all_s", trial.allSeconds},
            {store::kAutoSchedulerLine,
             line.text}}.dump(-1, ' ', false, json::error_handler_t::replace);
        record.target = std::string(store::kImportedTarget) + target;
        record.result.device = identityOf(deviceOf(target, trial.hardware));
        record.index = placeOf(line.number);
        record.timeMs = trial.timeMs;
        // The same line gives the same trial, whatever file it stands in.
        record.trial = contentHash(fmt::format("auto-scheduler {} {} {} {} {} {}", record.candidate.hash().hex(),
                                               trial.target, json(trial.costsNs).dump(), trial.error, trial.allSeconds,
                                               trial.timeMs))
                           .hex();
        return record;
    }

    std::string deviceOf(const std::string& target, const std::vector<std::int64_t>& hardware) const
    {
        static constexpr std::array<const char*, 8> kNames = {"num_cores",
                                                              "vector_unit_bytes",
                                                              "cache_line_bytes",
                                                              "max_shared_memory_per_block",
                                                              "max_local_memory_per_block",
                                                              "max_threads_per_block",
                                                              "max_vthread_extent",
                                                              "warp_size"};
        json limits = json::object();
        for (std::size_t i = 0; i < std::min(hardware.size(), kNames.size()); ++i)
            limits[kNames[i]] = {{"value", hardware[i]}, {"origin", "log"}};
        return json{
            {"name", fmt::format("{} of {}", target, m_file)}, {"imported", true}, {"hardware", std::move(limits)}}
            .dump(-1, ' ', false, json::error_handler_t::replace);
    }

    /// What is new of the batch, in one transaction.
    Result<> flush()
    {
        std::vector<Record> fresh;
        std::set<std::string> here;
        std::int64_t foreign = 0;
        for (auto& [record, isForeign] : m_batch) {
            // What is not written is not found there the next time.
            bool known = !(m_writer != nullptr ? here : m_counted).insert(record.trial).second;
            if (!known) {
                const auto there = m_project.record(record.trial);
                if (!there && there.error().code != Errc::NotFound)
                    return there.error();
                known = there.has_value();
            }
            if (known) {
                ++m_done.known;
                continue;
            }
            foreign += isForeign ? 1 : 0;
            ++m_fresh[record.candidate.task];
            fresh.push_back(std::move(record));
        }
        m_batch.clear();
        if (!fresh.empty() && m_writer != nullptr)
            LATHE_TRY(m_writer->addRecords(fresh));
        m_done.taken += static_cast<std::int64_t>(fresh.size());
        m_done.foreign += foreign;
        return {};
    }

    const LoadedModel& m_model;
    const store::Project& m_project;
    store::Project* m_writer; ///< null: nothing is written
    std::set<std::string> m_known; ///< tasks of the project
    std::map<std::string, std::vector<Workload>> m_workloads; ///< by flattened key
    TemplateMatches m_templates;
    std::string m_file;
    std::vector<std::pair<Record, bool>> m_batch; ///< with whether it is foreign
    store::SkippedCounts m_skipped;
    std::map<std::string, std::int64_t> m_fresh; ///< by the key of the task
    std::set<std::string> m_counted; ///< trials that would be new, where nothing is written
    LogImport m_done;
};

} // namespace

Result<LogImport> importTuningLogs(const LoadedModel& model, store::Project& writer,
                                   std::span<const std::filesystem::path> files, const Progress& progress,
                                   std::stop_token stop)
{
    if (files.empty())
        return makeError(Errc::InvalidArgument, say(Msg::SayWhichLogs));
    return LogImporter(model, writer, &writer).run(files, progress, std::move(stop));
}

Result<LogPreview> previewTuningLogs(const LoadedModel& model, const store::Project& project,
                                     std::span<const std::filesystem::path> files, const Progress& progress,
                                     std::stop_token stop)
{
    if (files.empty())
        return makeError(Errc::InvalidArgument, say(Msg::SayWhichLogs));
    LogImporter counter(model, project, nullptr);
    LogPreview preview;
    LATHE_TRY_ASSIGN(preview.would, counter.run(files, progress, stop));
    std::map<std::string, std::int32_t> places;
    for (std::size_t i = 0; i < model.partition.tasks.size(); ++i)
        places[model.partition.tasks[i].key] = static_cast<std::int32_t>(i);
    for (const auto& [key, count] : counter.fresh())
        if (const auto place = places.find(key); place != places.end())
            preview.byTask.emplace_back(place->second, count);
    std::stable_sort(preview.byTask.begin(), preview.byTask.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    LATHE_TRY_ASSIGN(const store::LogSummary summary, store::summarizeLogs(files, std::move(stop)));
    for (const store::WorkloadOfLog& logged : summary.workloads)
        preview.workloads.push_back({store::quoted(logged.target, 300), store::quoted(logged.name, 60), logged.workload,
                                     logged.trials, logged.failed,
                                     std::isfinite(logged.bestSeconds) ? logged.bestSeconds * 1e3 : kUnknown,
                                     logged.bestConfig, logged.known, counter.tasksOf(logged.plainWorkload)});
    return preview;
}

} // namespace lathe::session
