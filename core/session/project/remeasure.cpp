#include "core/session/project/remeasure.h"

#include "core/session/device_clock.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/options/options_json.h"
#include "core/session/run/clock_times.h"
#include "core/session/run/measure_plan.h"
#include "core/store/log_line.h"
#include "core/support/hash.h"
#include "core/support/message.h"
#include "core/target/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

namespace lathe::session {

namespace {

std::string newTrialId()
{
    std::random_device device;
    return contentHash(fmt::format("{} {} {} {}", device(), device(), device(), unixMs())).hex();
}

/// What is known of a trial before it is measured again.
struct Item
{
    Record record; ///< the one to store; its result is still the old one's
    std::int32_t task = -1;
    double beforeMs = kUnknown;
    TuneOptions options; ///< of its run
};

class Remeasurement
{
public:
    Remeasurement(const LoadedModel& model, store::Project& writer, const RemeasureOptions& options)
        : m_model(model)
        , m_writer(writer)
        , m_options(options)
    {
    }

    Result<std::vector<RemeasuredTrial>> run(std::span<const std::string> trials, const Progress& progress,
                                             std::stop_token stop)
    {
        LATHE_TRY(readRuns());
        std::set<std::string> seen;
        std::vector<Item> items;
        for (const std::string& trial : trials) {
            if (!seen.insert(trial).second)
                continue;
            auto item = prepare(trial);
            if (item) {
                items.push_back(*std::move(item));
            } else {
                RemeasuredTrial refused;
                refused.repeats = trial;
                refused.code = toString(item.error().code);
                refused.text = item.error().message;
                refused.about = item.error().about;
                m_done.push_back(std::move(refused));
            }
        }
        if (items.empty()) {
            if (m_done.empty())
                return makeError(Errc::InvalidArgument, say(Msg::SayWhichTrials));
            return Error{.code = errcFromString(m_done.front().code).value_or(Errc::Internal),
                         .message = m_done.front().text,
                         .about = m_done.front().about};
        }
        m_all = items.size();
        // One pool of workers for all trials that were measured on the same devices.
        std::map<std::vector<std::string>, std::vector<Item>> byDevices;
        for (Item& item : items)
            byDevices[item.options.devices].push_back(std::move(item));
        for (auto& [devices, group] : byDevices)
            LATHE_TRY(measure(group, progress, stop));
        return std::move(m_done);
    }

private:
    Result<> readRuns()
    {
        LATHE_TRY_ASSIGN(const auto sessions, m_writer.sessions());
        for (const store::SessionRow& row : sessions)
            if (auto options = tuneOptionsFromJson(row.options)) {
                m_runs[row.id] = *std::move(options);
                if (row.target == m_model.target.text())
                    m_latestRun = row.id;
            }
        for (std::size_t i = 0; i < m_model.partition.tasks.size(); ++i)
            m_taskOfKey[m_model.partition.tasks[i].key] = static_cast<std::int32_t>(i);
        return {};
    }

    Result<Item> prepare(const std::string& trial)
    {
        LATHE_TRY_ASSIGN(Record old, m_writer.record(trial));
        const std::string name = trial.substr(0, 8);
        const auto task = m_taskOfKey.find(old.candidate.task);
        if (task == m_taskOfKey.end())
            return makeError(Errc::NotFound, say(Msg::TrialOfOtherNetwork, name));
        const bool imported = store::isImported(old);
        if (imported && familyOfRecord(old.target.substr(store::kImportedTarget.size())) != m_model.target.family())
            return makeError(Errc::Incompatible,
                             say(Msg::TrialOfOtherDevice, name,
                                 store::quoted(old.target.substr(store::kImportedTarget.size()), 40),
                                 m_model.target.kind()));
        if (!imported && !old.target.empty() && old.target != m_model.target.text())
            return makeError(Errc::Incompatible, say(Msg::TrialOfOtherTarget, name, old.target));
        LATHE_TRY_ASSIGN(const measure::TaskDataPtr data, dataOf(task->second, old.candidate.alternative));
        Item item;
        item.task = task->second;
        if (old.result.ok())
            item.beforeMs = old.result.meanNs() * 1e-6;
        // What another tuner measured elsewhere is measured as the latest run measures, so that their costs compare.
        if (const auto run = imported && m_latestRun != 0 ? m_runs.find(m_latestRun) : m_runs.find(old.session);
            run != m_runs.end())
            item.options = run->second;
        // A trial that failed early does not know what its caches were to be: its run does.
        m_cold[trial] = old.result.ok() && !imported
                            ? coldBytes(old)
                            : coldBytesOf(item.options, m_model,
                                          clockOf(m_model.target.traits(), old.result.device.fingerprint));
        item.record.trial = newTrialId();
        item.record.repeats = trial;
        item.record.candidate = std::move(old.candidate);
        item.record.target = m_model.target.text();
        return item;
    }

    Result<measure::TaskDataPtr> dataOf(std::int32_t task, const std::string& alternative)
    {
        measure::TaskDataPtr& data = m_data[{task, alternative}];
        if (data)
            return data;
        const graph::Task& t = m_model.partition.tasks[static_cast<std::size_t>(task)];
        const search::SearchTask search = searchTask(t, m_model, false);
        for (const search::SearchAlternative& a : search.alternatives) {
            if (a.name != alternative)
                continue;
            LATHE_TRY_ASSIGN(data, checkedData(a, m_model.target));
            return data;
        }
        return makeError(Errc::NotFound, say(Msg::NoSuchAlgorithm, alternative, t.name));
    }

    Result<> measure(std::vector<Item>& items, const Progress& progress, std::stop_token stop)
    {
        if (stop.stop_requested())
            return {};
        LATHE_TRY_ASSIGN(measure::MeasurerOptions measurerWords, measurerOptions(items.front().options, m_model));
        measurerWords.runTimeoutSeconds = m_options.timeoutSeconds;
        LATHE_TRY_ASSIGN(const auto measurer, measure::Measurer::create(measurerWords, stop));
        std::vector<measure::MeasureRequest> requests;
        for (Item& item : items) {
            measure::MeasureRequest request;
            request.trial = item.record.trial;
            request.candidate = item.record.candidate;
            LATHE_TRY_ASSIGN(request.task, dataOf(item.task, item.record.candidate.alternative));
            request.plan = planOf(item.options, m_cold[item.record.repeats]);
            request.plan.repeat = std::max<std::uint32_t>(request.plan.repeat,
                                                          static_cast<std::uint32_t>(m_options.repeat));
            requests.push_back(std::move(request));
        }
        Result<> stored;
        auto measured = measurer->measure(
            requests,
            [&](std::size_t i, TrialResult result) {
                Item& item = items[i];
                item.record.result = std::move(result);
                item.record.timeMs = unixMs();
                if (stored)
                    stored = m_writer.addRecords(std::span(&item.record, 1));
                if (!stored)
                    return;
                m_done.push_back(view(item));
                ++m_measured;
                if (progress)
                    progress(fmt::format("{} of {} measured", m_measured, m_all),
                             static_cast<double>(m_measured) / static_cast<double>(m_all));
            },
            stop);
        LATHE_TRY(std::move(stored));
        if (!measured && measured.error().code == Errc::Cancelled)
            return {}; // what was measured is kept, and told
        return measured;
    }

    static RemeasuredTrial view(const Item& item)
    {
        const TrialResult& result = item.record.result;
        RemeasuredTrial view;
        view.trial = item.record.trial;
        view.repeats = item.record.repeats;
        view.task = item.task;
        view.alternative = item.record.candidate.alternative;
        view.beforeMs = item.beforeMs;
        if (result.ok())
            view.costMs = result.meanNs() * 1e-6;
        view.code = toString(result.code);
        view.stage = toString(result.stage);
        view.text = result.text;
        view.about = result.about;
        return view;
    }

    const LoadedModel& m_model;
    store::Project& m_writer;
    const RemeasureOptions& m_options;
    std::map<std::int64_t, TuneOptions> m_runs;
    std::int64_t m_latestRun = 0; ///< for the target; 0: none
    std::map<std::string, std::int32_t> m_taskOfKey;
    std::map<std::pair<std::int32_t, std::string>, measure::TaskDataPtr> m_data;
    std::map<std::string, std::int64_t> m_cold; ///< by the trial that is repeated
    std::vector<RemeasuredTrial> m_done;
    std::size_t m_measured = 0, m_all = 0;
};

} // namespace

Result<std::vector<RemeasuredTrial>> remeasureTrials(const LoadedModel& model, store::Project& writer,
                                                     const RemeasureOptions& options,
                                                     std::span<const std::string> trials, const Progress& progress,
                                                     std::stop_token stop)
{
    if (options.repeat < 1 || options.repeat > 1000)
        return makeError(Errc::InvalidArgument, say(Msg::CostsOutOfRange, options.repeat));
    return Remeasurement(model, writer, options).run(trials, progress, std::move(stop));
}

} // namespace lathe::session
