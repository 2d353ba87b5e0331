#pragma once

#include "core/policy/policy_table.h"
#include "core/session/exports/kernel_choices.h"
#include "core/session/run/finals.h"
#include "core/session/run/run_parts.h"
#include "core/session/untuned.h"
#include "tests/support/must.h"
#include "tests/support/runs.h"

#include <condition_variable>
#include <functional>
#include <mutex>

namespace lathe::test {

/// Devices of which a test says what they answer: nothing is built, no process is started, no time passes.
class FakeDevices final : public session::TrialDevices
{
public:
    /// Of one request; by default a valid one that takes costNs().
    std::function<TrialResult(const measure::MeasureRequest&)> answer = [](const measure::MeasureRequest& request) {
        return took(costNs(request.candidate));
    };
    std::size_t most =
        std::numeric_limits<std::size_t>::max(); ///< results of one call; then it waits until it is stopped
    std::vector<std::vector<measure::MeasureRequest>> asked; ///< by call
    std::vector<std::vector<measure::MeasureRequest>> builtAhead; ///< by call that had some
    bool meanwhile = false; ///< builders work while devices measure
    bool looks = true; ///< whether it asks what to build ahead; else the answer comes when the round has been measured
    measure::MeasureTimes spent;

    /// Between 1 and 2 ms, always the same for the same candidate.
    static double costNs(const Candidate& candidate)
    {
        return 1e6 + static_cast<double>(candidate.hash().low % 1000) * 1e3;
    }
    static TrialResult took(double ns)
    {
        TrialResult result;
        result.costsNs = {ns};
        result.conditions = "{}";
        result.device = {"fake", "left"};
        return result;
    }
    static TrialResult failed(Errc code)
    {
        TrialResult result;
        result.stage = TrialStage::Run;
        result.code = code;
        result.text = "as the test says";
        result.conditions = "{}";
        result.device = {"fake", "left"};
        return result;
    }

    Result<> measure(std::span<const measure::MeasureRequest> requests,
                     const measure::Measurer::ResultCallback& onResult, std::stop_token stop,
                     const measure::Measurer::AheadCallback& ahead = {}) override
    {
        asked.emplace_back(requests.begin(), requests.end());
        while (ahead && looks) { // as long as it takes
            builtAhead.push_back(ahead());
            if (!builtAhead.back().empty())
                break;
            builtAhead.pop_back();
            if (stop.stop_requested())
                break;
        }
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (i >= most) {
                std::mutex mutex;
                std::unique_lock lock(mutex);
                std::condition_variable_any never;
                never.wait(lock, stop, [] { return false; });
            }
            if (stop.stop_requested())
                return makeError(Errc::Cancelled, "measuring was stopped");
            onResult(i, answer(requests[i]));
        }
        return {};
    }
    measure::MeasureTimes times() const override { return spent; }
    bool buildsMeanwhile() const override { return meanwhile; }
    std::size_t builders() const override { return 1; }
    std::size_t devices() const override { return 2; }
    std::string networkDevice() const override { return R"({"key": "left"})"; }
    const std::string& deviceKey() const override { return m_key; }

private:
    std::string m_key = "fake";
};

/// The parts of a run of a small network, ready for its rounds, runoffs or finals, and who watches it.
class FakeRun
{
public:
    /// `project` null: nothing is kept. Time stands still but for what a test adds to `seconds`.
    explicit FakeRun(session::TuneOptions wanted, store::Project* project = nullptr, bool runoffs = false)
        : options(std::move(wanted))
        , clock(options, [this] { return seconds; })
        , journal(project, m_control, clock)
        , time(clock, devices)
    {
        session::ModelSpec spec;
        spec.source = "zoo:mlp";
        model = must(session::loadModel(spec, "sim"));
        search::PolicyOptions policyOptions;
        policyOptions.seed = options.seed;
        policyOptions.trialsPerRound = options.trialsPerRound;
        policyOptions.untuned = session::untunedCandidate;
        policyOptions.tuner = options.tuner;
        policyOptions.tunerSettings = options.tunerSettings;
        costModel = must(policy::makeSharedModel(options.policy, model->partition.tasks.size(), policyOptions));
        std::vector<search::ScheduledTask> scheduled;
        for (const graph::Task& task : model->partition.tasks) {
            search::SearchTask searched = session::searchTask(task, *model, false);
            auto policy = must(policy::makePolicy(options.policy, searched, costModel, policyOptions));
            scheduled.push_back({task.name, static_cast<double>(task.weight), task.flop, {}, 0});
            tasks.add(session::RunTask(std::move(searched), std::move(policy), static_cast<double>(task.weight)));
        }
        search::SchedulerOptions schedulerOptions;
        schedulerOptions.trialsPerRound = options.trialsPerRound;
        scheduler = must(
            search::TaskScheduler::create(session::schedulerOf(options), std::move(scheduled), schedulerOptions));
        parts.emplace(session::RunParts{*model, options, m_executor, clock, journal, tasks, devices, time, *scheduler,
                                        *costModel, "nonce"});
        parts->runoffs = runoffs;
        parts->modelTime = true;
        m_control.setObserver(&watcher);
        if (project != nullptr) {
            const auto row = must(project->addModel({0, model->hash, "zoo:mlp", "mlp", "{}"}));
            must(journal.begin({0, row, model->target.text(), "{}", 1, 0, "running"}));
        }
    }

    /// Of a task, whatever there are, as a policy would propose them.
    std::vector<Candidate> candidates(std::int32_t task, std::int32_t count)
    {
        return must(tasks[task].policy->propose(1000, count, m_executor, {}));
    }
    /// A trial of one of them, as a round would have it.
    session::Ahead trial(const Candidate& candidate, double ns) const
    {
        session::Ahead one;
        one.record.trial = candidate.hash().hex();
        one.record.session = journal.session();
        one.record.candidate = candidate;
        one.record.target = model->target.text();
        one.record.result = FakeDevices::took(ns);
        one.built = measure::makeBuiltKernel();
        return one;
    }
    /// The same with another journal: of a later life, whose journal goes on with what an earlier one stored.
    session::RunParts partsWith(session::RunJournal& other)
    {
        session::RunParts same{*model,  options, m_executor, clock,      other,       tasks,
                               devices, time,    *scheduler, *costModel, parts->nonce};
        same.modelTime = parts->modelTime;
        return same;
    }
    session::RunControl& control() { return m_control; }

    double seconds = 0;
    session::TuneOptions options;
    std::shared_ptr<const session::LoadedModel> model;
    FakeDevices devices;
    Watcher watcher;

private:
    session::RunControl m_control;
    SerialExecutor m_executor;

public:
    session::BudgetClock clock;
    session::RunJournal journal;
    session::RunTime time;
    session::RunTasks tasks;
    std::shared_ptr<search::SharedModel> costModel;
    std::unique_ptr<search::TaskScheduler> scheduler;
    std::optional<session::RunParts> parts;
};

} // namespace lathe::test
