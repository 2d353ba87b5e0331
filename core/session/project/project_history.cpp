#include "core/session/project/project_history.h"

#include "core/compute/json.h"
#include "core/ir/loop_nest.h"
#include "core/measure/builder_client.h"
#include "core/record/record_json.h"
#include "core/schedule/lower.h"
#include "core/schedule/step.h"
#include "core/search/features.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/project/round_quality.h"
#include "core/session/project/stored_events.h"
#include "core/session/project/stored_runs.h"
#include "core/session/project/stored_time.h"
#include "core/session/project/template_history.h"
#include "core/store/record_reader.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/templates/task_template.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace lathe::session {

using nlohmann::json;

namespace {

constexpr double kListingSeconds = 60;

double toMs(double ns)
{
    return ns * 1e-6;
}

/// A field of a line of comma-separated values.
std::string quoted(const std::string& field)
{
    if (field.find_first_of(",\"\n\r") == std::string::npos)
        return field;
    std::string out = "\"";
    for (const char c : field)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

std::string figure(double value)
{
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

class ProjectHistory final : public History
{
public:
    ProjectHistory(store::RecordReader reader, const HistorySource& source)
        : m_reader(std::move(reader))
        , m_modelRow(source.modelRow)
        , m_model(source.model)
        , m_front(source.front)
    {
        for (std::size_t i = 0; i < m_model->partition.tasks.size(); ++i)
            m_taskOfKey[m_model->partition.tasks[i].key] = static_cast<std::int32_t>(i);
    }

    std::unique_ptr<History> again() const override
    {
        return openHistory({m_reader.project().file(), m_modelRow, m_model, m_front});
    }
    Result<std::vector<std::int64_t>> find(const TrialQuery& query, std::stop_token stop) override;
    Result<std::vector<TrialRow>> rows(std::span<const std::int64_t> rows) override;
    Result<TrialDetail> detail(std::int64_t row) override;
    Result<TrialPoints> points(const TrialQuery& query, TrialAxis x, TrialAxis y, std::stop_token stop) override;
    Result<std::int64_t> rowOf(const std::string& trial) override { return m_reader.rowOf(trial); }
    Result<std::string> projectNote() override { return m_reader.project().note(store::kProjectNote); }
    Result<Listing> listing(std::int64_t row, const std::string& name) override;
    Result<std::vector<FailureView>> failures(std::stop_token stop) override;
    Result<std::vector<RunView>> runs() override;
    Result<std::vector<RoundView>> rounds(std::int64_t run) override;
    Result<std::vector<Check>> checks() override;
    Result<std::vector<QualityView>> quality(std::int64_t run, std::int32_t fromRound, std::stop_token stop) override;
    Result<TemplateHistory> templateTrials(std::int32_t task, std::stop_token stop) override;
    Result<> write(std::span<const std::int64_t> rows, const std::filesystem::path& file, TrialFile format,
                   std::stop_token stop) override;

private:
    std::int32_t taskOf(const std::string& key) const
    {
        const auto found = m_taskOfKey.find(key);
        return found == m_taskOfKey.end() ? -1 : found->second;
    }
    TrialRow view(store::RecordSummary s) const;
    Result<store::RecordQuery> storeQuery(const TrialQuery& query) const;
    Result<const graph::Alternative*> alternativeOf(const Candidate& candidate) const;
    Result<> describe(const Candidate& candidate, TrialDetail& detail) const;
    Result<> writeRecords(std::span<const std::int64_t> rows, std::ostream& out) const;
    Result<> writeLines(std::span<const std::int64_t> rows, std::ostream& out) const;

    store::RecordReader m_reader;
    std::int64_t m_modelRow;
    std::shared_ptr<const LoadedModel> m_model;
    std::shared_ptr<const ReplayFront> m_front; ///< null: all is shown
    std::map<std::string, std::int32_t> m_taskOfKey;
    std::unique_ptr<measure::BuilderClient> m_builder; ///< started when a listing is first asked for
};

Result<store::RecordQuery> ProjectHistory::storeQuery(const TrialQuery& query) const
{
    store::RecordQuery q;
    if (query.task >= 0) {
        if (query.task >= static_cast<std::int32_t>(m_model->partition.tasks.size()))
            return makeError(Errc::InvalidArgument, say(Msg::NoTask, query.task));
        q.task = m_model->partition.tasks[static_cast<std::size_t>(query.task)].key;
    }
    q.session = query.run;
    q.target = query.target;
    q.code = query.code;
    q.stage = query.stage;
    q.cause = query.cause;
    q.text = query.text;
    q.noted = query.noted;
    q.minNs = query.minMs * 1e6;
    q.maxNs = query.maxMs * 1e6;
    q.afterRow = query.afterRow;
    switch (query.order) {
    case TrialQuery::Order::Time: q.order = store::RecordQuery::Order::Time; break;
    case TrialQuery::Order::Task: q.order = store::RecordQuery::Order::Task; break;
    case TrialQuery::Order::Alternative: q.order = store::RecordQuery::Order::Alternative; break;
    case TrialQuery::Order::Sketch: q.order = store::RecordQuery::Order::Sketch; break;
    case TrialQuery::Order::Latency: q.order = store::RecordQuery::Order::Latency; break;
    case TrialQuery::Order::Predicted: q.order = store::RecordQuery::Order::Predicted; break;
    case TrialQuery::Order::State: q.order = store::RecordQuery::Order::State; break;
    case TrialQuery::Order::Round: q.order = store::RecordQuery::Order::Round; break;
    case TrialQuery::Order::Verified: q.order = store::RecordQuery::Order::Verified; break;
    case TrialQuery::Order::Trial: q.order = store::RecordQuery::Order::Trial; break;
    case TrialQuery::Order::Text: q.order = store::RecordQuery::Order::Text; break;
    case TrialQuery::Order::Note: q.order = store::RecordQuery::Order::Note; break;
    case TrialQuery::Order::Repeats: q.order = store::RecordQuery::Order::Repeats; break;
    }
    q.descending = query.descending;
    return q;
}

Result<std::vector<std::int64_t>> ProjectHistory::find(const TrialQuery& query, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const store::RecordQuery q, storeQuery(query));
    LATHE_TRY_ASSIGN(auto rows, m_reader.find(q, stop));
    if (m_front)
        std::erase_if(rows, [last = m_front->row.load()](std::int64_t row) { return row > last; });
    return rows;
}

Result<TemplateHistory> ProjectHistory::templateTrials(std::int32_t task, std::stop_token stop)
{
    TrialQuery query;
    query.task = task;
    query.text = templates::kTemplateSketch;
    LATHE_TRY_ASSIGN(const auto rows, find(query, stop));
    LATHE_TRY_ASSIGN(TemplateHistory history, readTemplateTrials(*m_model, task, m_reader, rows, stop));
    if (!m_front && !rows.empty()) {
        LATHE_TRY_ASSIGN(auto ways, bestWays(*m_model, task, m_reader.project(), stop));
        history.byTemplate = std::move(ways.first);
        history.bySearch = std::move(ways.second);
    }
    return history;
}

namespace {

store::RecordAxis axisOf(TrialAxis axis)
{
    switch (axis) {
    case TrialAxis::Number: return store::RecordAxis::Number;
    case TrialAxis::Time: return store::RecordAxis::Time;
    case TrialAxis::Latency: return store::RecordAxis::Latency;
    case TrialAxis::Predicted: return store::RecordAxis::Predicted;
    case TrialAxis::Ratio: return store::RecordAxis::Ratio;
    case TrialAxis::Round: return store::RecordAxis::Round;
    }
    return store::RecordAxis::Number;
}

/// From the store's unit to the axis' own.
void convert(std::vector<double>& values, TrialAxis axis)
{
    const double first = axis == TrialAxis::Time && !values.empty() ? *std::min_element(values.begin(), values.end())
                                                                    : 0;
    const double factor = axis == TrialAxis::Time                                      ? 1e-3
                          : axis == TrialAxis::Latency || axis == TrialAxis::Predicted ? 1e-6
                                                                                       : 1;
    for (double& value : values)
        value = (value - first) * factor;
}

} // namespace

Result<TrialPoints> ProjectHistory::points(const TrialQuery& query, TrialAxis x, TrialAxis y, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const store::RecordQuery q, storeQuery(query));
    LATHE_TRY_ASSIGN(auto found, m_reader.points(q, axisOf(x), axisOf(y), stop));
    if (m_front)
        std::erase_if(found.points,
                      [last = m_front->row.load()](const store::RecordPoint& point) { return point.row > last; });
    std::sort(found.points.begin(), found.points.end(),
              [](const store::RecordPoint& a, const store::RecordPoint& b) { return a.row < b.row; });
    TrialPoints points;
    points.left = found.left;
    points.x.reserve(found.points.size());
    points.y.reserve(found.points.size());
    points.rows.reserve(found.points.size());
    for (const store::RecordPoint& point : found.points) {
        points.x.push_back(point.x);
        points.y.push_back(point.y);
        points.rows.push_back(point.row);
    }
    convert(points.x, x);
    convert(points.y, y);
    return points;
}

TrialRow ProjectHistory::view(store::RecordSummary s) const
{
    TrialRow row;
    row.row = s.row;
    row.trial = std::move(s.trial);
    row.run = s.session;
    row.round = s.round;
    row.index = s.index;
    row.task = taskOf(s.task);
    row.alternative = std::move(s.alternative);
    row.sketch = std::move(s.sketch);
    row.code = std::move(s.code);
    row.stage = std::move(s.stage);
    row.text = std::move(s.text);
    row.about = std::move(s.about);
    row.note = std::move(s.note);
    row.repeats = std::move(s.repeats);
    row.runoff = s.runoff;
    row.costMs = toMs(s.meanNs);
    row.predictedMs = toMs(s.predictedNs);
    row.verified = s.verified;
    row.timeMs = s.timeMs;
    return row;
}

Result<std::vector<TrialRow>> ProjectHistory::rows(std::span<const std::int64_t> rows)
{
    LATHE_TRY_ASSIGN(auto summaries, m_reader.rows(rows));
    std::vector<TrialRow> views;
    views.reserve(summaries.size());
    for (store::RecordSummary& summary : summaries)
        views.push_back(view(std::move(summary)));
    return views;
}

Result<const graph::Alternative*> ProjectHistory::alternativeOf(const Candidate& candidate) const
{
    const std::int32_t task = taskOf(candidate.task);
    if (task < 0)
        return makeError(Errc::NotFound, say(Msg::TrialOfOtherNetworkShown));
    for (const graph::Alternative& alternative : m_model->partition.tasks[static_cast<std::size_t>(task)].alternatives)
        if (alternative.name == candidate.alternative)
            return &alternative;
    return makeError(Errc::NotFound, say(Msg::NoAlgorithmForTask, candidate.alternative));
}

Result<> ProjectHistory::describe(const Candidate& candidate, TrialDetail& detail) const
{
    const json steps = json::parse(candidate.steps, nullptr, false);
    LATHE_TRY_ASSIGN(const auto list, schedule::stepsFromJson(steps));
    for (const json& step : steps)
        detail.steps.push_back(step.dump());
    LATHE_TRY_ASSIGN(const graph::Alternative* const alternative, alternativeOf(candidate));
    LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(alternative->dag, list));
    LATHE_TRY(state.inferBounds());
    detail.loops = state.print();
    if (const auto features = search::referenceFeatures(state, m_model->hardware)) {
        const auto& names = search::referenceFeatureNames();
        const std::size_t stores = features->size() / names.size();
        for (std::size_t i = 0; i < features->size(); ++i)
            if ((*features)[i] != 0)
                detail.features.emplace_back(
                    stores > 1 ? fmt::format("store {}: {}", i / names.size(), names[i % names.size()])
                               : names[i % names.size()],
                    (*features)[i]);
    }
    schedule::LowerOptions options;
    options.form = m_model->target.traits().form;
    const auto search = searchTask(m_model->partition.tasks[static_cast<std::size_t>(taskOf(candidate.task))], *m_model,
                                   false);
    for (const search::SearchAlternative& a : search.alternatives)
        if (a.name == candidate.alternative)
            options.constantInputs = a.constantInputs;
    LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(std::move(state), options));
    detail.nest = ir::print(kernel.nest);
    return {};
}

Result<TrialDetail> ProjectHistory::detail(std::int64_t row)
{
    LATHE_TRY_ASSIGN(auto summaries, m_reader.rows(std::span(&row, 1)));
    LATHE_TRY_ASSIGN(const Record record, m_reader.record(row));
    TrialDetail detail;
    if (!summaries.empty())
        detail.row = view(std::move(summaries.front()));
    LATHE_TRY_ASSIGN(auto repeats, m_reader.repeatsOf(record.trial));
    for (store::RecordSummary& repeat : repeats)
        detail.repeats.push_back(view(std::move(repeat)));
    detail.text = record.result.text;
    detail.aboutText = record.result.about;
    detail.candidate = record.candidate.hash().hex();
    detail.genome = json(record.candidate.genome).dump();
    for (const double ns : record.result.costsNs)
        detail.repeatsMs.push_back(toMs(ns));
    detail.durationsMs = record.result.durationsMs;
    detail.conditions = record.result.conditions;
    detail.device = record.result.device.fingerprint;
    detail.listings = listingsOf(m_model->target);
    if (auto described = describe(record.candidate, detail); !described) {
        detail.problem = described.error().message;
        detail.aboutProblem = described.error().about;
    }
    return detail;
}

Result<Listing> ProjectHistory::listing(std::int64_t row, const std::string& name)
{
    LATHE_TRY_ASSIGN(const Record record, m_reader.record(row));
    LATHE_TRY_ASSIGN(const graph::Alternative* const alternative, alternativeOf(record.candidate));
    measure::KernelJob job;
    job.name = "kernel";
    job.dagJson = compute::toJson(*alternative->dag).dump();
    job.steps = record.candidate.steps;
    const auto search = searchTask(m_model->partition.tasks[static_cast<std::size_t>(taskOf(record.candidate.task))],
                                   *m_model, false);
    for (const search::SearchAlternative& a : search.alternatives)
        if (a.name == record.candidate.alternative)
            job.constantInputs = a.constantInputs;
    if (!m_builder) {
        LATHE_TRY_ASSIGN(m_builder, measure::BuilderClient::start(m_model->target.text()));
    }
    LATHE_TRY_ASSIGN(measure::BuiltProduct built, m_builder->build(std::span(&job, 1), measure::Product::Listing,
                                                                   Deadline::inSeconds(kListingSeconds), name));
    if (!built.kernels.empty() && built.kernels.front().code != Errc::Ok)
        return Error{.code = built.kernels.front().code,
                     .message = built.kernels.front().text,
                     .about = built.kernels.front().about};
    if (built.listings.empty())
        return makeError(Errc::Unsupported, say(Msg::NoListing, m_model->target.kind()));
    return std::move(built.listings.front());
}

Result<std::vector<FailureView>> ProjectHistory::failures(std::stop_token stop)
{
    std::vector<FailureView> views;
    const std::int64_t upTo = m_front ? m_front->row.load() : 0;
    if (m_front && upTo == 0)
        return views;
    LATHE_TRY_ASSIGN(auto groups, m_reader.failures(stop, upTo));
    for (store::FailureGroup& group : groups) {
        FailureView view;
        view.code = std::move(group.code);
        view.stage = std::move(group.stage);
        view.cause = std::move(group.cause);
        view.count = group.count;
        view.example = group.example;
        std::map<std::int32_t, std::int64_t> byTask;
        for (const auto& [key, count] : group.byTask)
            byTask[taskOf(key)] += count;
        view.byTask.assign(byTask.begin(), byTask.end());
        std::stable_sort(view.byTask.begin(), view.byTask.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        if (const auto record = m_reader.record(group.example)) {
            view.text = record->result.text;
            view.about = record->result.about;
        }
        views.push_back(std::move(view));
    }
    return views;
}

Result<std::vector<RunView>> ProjectHistory::runs()
{
    LATHE_TRY_ASSIGN(const auto sessions, m_reader.project().sessions());
    std::vector<RunView> views;
    for (const store::SessionRow& row : sessions) {
        if (row.model != m_modelRow || row.target != m_model->target.text() || (m_front && row.id != m_front->run))
            continue;
        LATHE_TRY_ASSIGN(RunView view,
                         runView(m_reader.project(), row,
                                 m_front ? m_front->seconds.load() : std::numeric_limits<double>::infinity()));
        views.push_back(std::move(view));
    }
    return views;
}

Result<std::vector<Check>> ProjectHistory::checks()
{
    LATHE_TRY_ASSIGN(const Standing now, standing(Baseline{.project = m_reader.project().file(), .model = m_modelRow}));
    return checksOf(now);
}

Result<std::vector<RoundView>> ProjectHistory::rounds(std::int64_t run)
{
    LATHE_TRY_ASSIGN(const auto rows, m_reader.project().rounds(run));
    LATHE_TRY_ASSIGN(const auto best, m_reader.bestByRound(run));
    std::vector<RoundView> views;
    for (const store::RoundRow& row : rows) {
        if (m_front && row.atSeconds > m_front->seconds.load())
            break;
        const json durations = json::parse(row.durations, nullptr, false);
        const json terms = json::parse(row.terms, nullptr, false);
        views.push_back({run, row.index, taskOf(row.task), row.trials, numbersIn(terms), textIn(terms, "reason"),
                         timeSpentIn(durations), row.atSeconds, row.estimateMs, kUnknown,
                         numberIn(durations, "tasks_ms"), numberIn(durations, "low_ms"), numberIn(durations, "high_ms"),
                         rejectedIn(durations)});
        if (const auto found = best.find(row.index); found != best.end())
            views.back().bestMs = toMs(found->second);
    }
    return views;
}

Result<std::vector<QualityView>> ProjectHistory::quality(std::int64_t run, std::int32_t fromRound, std::stop_token stop)
{
    LATHE_TRY_ASSIGN(const auto rows, m_reader.project().rounds(run));
    std::vector<QualityView> views;
    for (const store::RoundRow& row : rows) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::QueryStopped));
        if (m_front && row.atSeconds > m_front->seconds.load())
            break;
        if (row.index < fromRound)
            continue;
        LATHE_TRY_ASSIGN(QualityView view, qualityOf(m_reader, row));
        views.push_back(std::move(view));
    }
    return views;
}

Result<> ProjectHistory::write(std::span<const std::int64_t> rows, const std::filesystem::path& file, TrialFile format,
                               std::stop_token stop)
{
    const std::filesystem::path part = file.string() + ".part";
    auto written = [&]() -> Result<> {
        std::ofstream out(part, std::ios::binary | std::ios::trunc);
        if (format == TrialFile::Csv)
            out << "trial,run,round,index,task,task_key,algorithm,sketch,state,stage,latency_ms,predicted_ms,verified,"
                   "time_ms,text,repeats,note\n";
        constexpr std::size_t kBatch = 500;
        for (std::size_t at = 0; at < rows.size() && out; at += kBatch) {
            if (stop.stop_requested())
                return makeError(Errc::Cancelled, say(Msg::WriteStopped));
            const auto batch = rows.subspan(at, std::min(kBatch, rows.size() - at));
            if (format == TrialFile::JsonLines)
                LATHE_TRY(writeRecords(batch, out));
            else
                LATHE_TRY(writeLines(batch, out));
        }
        out.close();
        if (!out)
            return makeError(Errc::StoreFailed, say(Msg::FileNotWritten, file.string()));
        return {};
    }();
    std::error_code failed;
    if (written)
        std::filesystem::rename(part, file, failed);
    if (written && failed)
        written = makeError(Errc::StoreFailed, say(Msg::FileNotWrittenWhy, file.string(), failed.message()));
    if (!written)
        std::filesystem::remove(part, failed);
    return written;
}

Result<> ProjectHistory::writeRecords(std::span<const std::int64_t> rows, std::ostream& out) const
{
    for (const std::int64_t row : rows) {
        LATHE_TRY_ASSIGN(const Record record, m_reader.record(row));
        json line = toJson(record);
        LATHE_TRY_ASSIGN(const std::string note, m_reader.project().note(store::noteOf(record.trial)));
        if (!note.empty())
            line["note"] = note;
        out << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
    }
    return {};
}

Result<> ProjectHistory::writeLines(std::span<const std::int64_t> rows, std::ostream& out) const
{
    LATHE_TRY_ASSIGN(const auto summaries, m_reader.rows(rows));
    for (const store::RecordSummary& s : summaries) {
        const std::int32_t task = taskOf(s.task);
        const std::string name = task < 0 ? std::string()
                                          : m_model->partition.tasks[static_cast<std::size_t>(task)].name;
        out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", s.trial, s.session, s.round, s.index,
                           quoted(name), s.task, quoted(s.alternative), quoted(s.sketch), s.code, s.stage,
                           figure(toMs(s.meanNs)), figure(toMs(s.predictedNs)), s.verified ? 1 : 0, s.timeMs,
                           quoted(s.text), s.repeats, quoted(s.note));
    }
    return {};
}

} // namespace

Result<std::unique_ptr<History>> readProjectHistory(const HistorySource& source)
{
    LATHE_TRY_ASSIGN(store::RecordReader reader, store::RecordReader::open(source.project));
    return std::unique_ptr<History>(std::make_unique<ProjectHistory>(std::move(reader), source));
}

std::string causeOf(const std::string& text)
{
    return store::failureCause(text);
}

} // namespace lathe::session
