#pragma once

#include "core/measure/measurer.h"
#include "core/measure/task_data.h"
#include "core/search/head_start.h"
#include "core/search/policy.h"
#include "core/search/task_scheduler.h"
#include "core/session/forecast.h"
#include "core/session/kernel_choices.h"
#include "core/session/loaded_model.h"
#include "core/session/run_control.h"
#include "core/session/steering.h"
#include "core/session/time_spent.h"
#include "core/store/project.h"
#include "core/support/executor.h"

#include <algorithm>
#include <chrono>

namespace lathe::session {

/// Measures the whole network with the best records (or, untuned, with default schedules); called between rounds.
using NetworkMeasure = std::function<Result<MeasuredEvent>(bool untuned, const RecordChoice& choice, std::stop_token stop)>;

struct RunSetup
{
    std::shared_ptr<const LoadedModel> model;
    store::Project* project = nullptr; ///< null: nothing is kept
    std::int64_t modelRow = 0;
    TuneOptions options;
    Executor* executor = nullptr;
    RunControl* control = nullptr;
    Steering* steering = nullptr;
    NetworkMeasure measureNetwork; ///< may be empty
};

/// The tuning loop: joins search (ask/tell), measure and store. One object per run, used on one thread.
///
/// What a round sees is fixed by its number: results of all rounds before it, the seed, and recorded durations. So a run
/// that was killed goes on as if nothing had happened: stored rounds are told again in order, a round that was cut short is
/// proposed again (the same candidates) and only its missing trials are measured.
class TuningRun
{
public:
    explicit TuningRun(RunSetup setup);

    /// Runs until the budget is used, nothing is left, or `stop`. Emits all events, StateEvents too.
    Result<> run(std::stop_token stop);

private:
    /// A program that stands best of its task, or nearly so.
    struct Ahead
    {
        Record record; ///< what it costs, by the latest that measured it
        measure::BuiltKernelPtr built;
    };
    struct Task
    {
        search::SearchTask search;
        std::unique_ptr<search::Policy> policy;
        std::map<std::string, measure::TaskDataPtr> data; ///< by alternative
        double bestNs = std::numeric_limits<double>::infinity(); ///< of what stands best: the least, or what finals and runoffs said
        std::vector<Ahead> ahead; ///< where runoffs are held; the best first
        /// Its algorithm is one of the task's; else the record is of another version, or not strict.
        bool offers(const Record& known) const
        {
            return std::any_of(search.alternatives.begin(), search.alternatives.end(), [&known](const search::SearchAlternative& a) { return a.name == known.candidate.alternative; });
        }
        std::int64_t moments = 0; ///< that bestNs is the mean of; 0: it is a single trial's
    };

    Result<bool> open(std::stop_token stop);
    Result<> prepare();
    Result<> startMeasurer();
    /// Of a run that begins: finds, reads and takes the head start that its options name, and says so.
    Result<> takeHeadStart(std::stop_token stop);
    /// Of a run that goes on: the same bytes, from the project or their file. Incompatible: they are not there any more.
    Result<> takeHeadStartAgain(const store::SessionRow& resumed, std::stop_token stop);
    Result<> keepHeadStart(); ///< in the project, so that the run can go on whatever becomes of the file
    Result<search::HeadStartUse> give(const search::HeadStart& headStart, std::stop_token stop);
    /// Of a task's first round, of at most `count` trials.
    Result<> addHeirs(const Task& task, std::int32_t count, std::vector<Candidate>& candidates) const;
    std::string storedOptions() const; ///< JSON
    Result<> followSteering();
    search::Terms explain(std::int32_t task, std::string& reason) const;
    TimeSpent timeSoFar(); ///< since this object began
    TimeSpent timeSinceLast(); ///< since it was asked last
    Result<> restore(std::stop_token stop);
    Result<> oneRound(std::int32_t task, std::stop_token stop);
    Result<measure::TaskDataPtr> taskData(Task& task, const std::string& alternative);
    /// `bestSeconds` is what the scheduler is told; nothing: the least cost of the records.
    Result<> tellRound(std::int32_t task, const std::vector<Record>& records, double elapsedSeconds, std::optional<double> bestSeconds, std::stop_token stop);
    /// What a round's runoff says of its task, as it is kept with the round.
    struct RoundBest
    {
        double ms = kUnknown; ///< NaN: nothing stands yet
        std::string alternative;
        bool final = false; ///< by a runoff, not by a single trial
        double toldSeconds = std::numeric_limits<double>::infinity(); ///< to the scheduler; infinite: nothing was won
    };
    /// Measures the best of the round beside what stands, and takes over who wins.
    Result<RoundBest> holdRunoff(std::int32_t task, std::span<const Ahead> round, double roundSeconds, std::stop_token stop);
    Result<std::vector<Ahead>> fromEarlierRuns(const Task& task) const;
    static std::vector<Ahead> competitors(const Task& task, std::span<const Ahead> round);
    Result<std::vector<Record>> runoffOf(std::int32_t task, std::span<const Ahead> competing, double roundSeconds, std::stop_token stop);
    static void takeAhead(Task& task, std::vector<Ahead> ahead);
    std::optional<double> restoreRunoff(Task& task, const std::string& durations, std::span<const Record> told);
    Result<> holdFinals(std::stop_token stop);
    struct FinalsGroup;
    Result<std::vector<FinalsGroup>> finalists(double seconds);
    enum class Look
    {
        Glance, ///< a few milliseconds
        Whole ///< as a trial that may be the best
    };
    Result<> finalsPass(std::span<FinalsGroup> groups, bool backwards, Look look, std::stop_token stop);
    std::vector<Record> finalRecords(FinalsGroup& group, const std::string& id, bool runoff) const;
    std::string finalsId() const;
    std::int64_t toLevelOfRun(const FinalsGroup& group, std::vector<double>& costs) const;
    void takeFinals(std::span<const Record> records);
    Result<> measureWhole(bool untuned, std::stop_token stop);
    void emitRecord(const Record& record, std::vector<Event>& events);
    void emit(std::vector<Event> events);
    void emitOne(decltype(Event::what) what);
    Result<> emitKept(decltype(Event::what) what); ///< stored with the run, so that it can be replayed
    EstimateEvent estimate(double at) const;
    std::vector<ForecastTask> forecastTasks() const;
    void emitDone(std::string_view ending, const About& about);
    Result<> keepModel();
    Result<> keepLimits();
    void setState(RunState state, std::string text = {}, About about = {});
    double atSeconds() const; ///< active time, over all resumptions
    bool budgetLeft() const;
    double searchSeconds() const; ///< of the budget in time; infinite without one
    double networkReserve() const;
    double estimatedSeconds() const; ///< of the network, by what stands best; infinite while a task has nothing
    void pauseIfAsked(std::stop_token stop);
    std::optional<Message> gainedTooLittle() const;
    store::Conditions conditions() const; ///< under which this run's costs are measured
    Message whatIsLeft() const;
    bool modelTime() const; ///< simulators: durations come from results, so that runs replay

    RunSetup m_setup;
    TuneOptions& m_options;
    std::int64_t m_session = 0;
    std::string m_nonce; ///< trial ids are hashes of it, round and index
    std::vector<Task> m_tasks;
    std::map<std::string, std::int32_t> m_taskOfKey;
    std::shared_ptr<search::SharedModel> m_model;
    struct
    {
        std::string bytes, hash; ///< empty: none
        std::optional<Message> note;
    } m_headStart;
    std::unique_ptr<search::TaskScheduler> m_scheduler;
    std::unique_ptr<measure::Measurer> m_measurer;
    std::string m_device;

    std::int32_t m_round = 0;
    std::vector<Record> m_partial; ///< stored trials of the round that was cut short
    std::vector<std::pair<double, std::int32_t>> m_told; ///< when which trials of the round were told of
    std::int64_t m_trials = 0;
    std::int64_t m_freshTrials = 0; ///< measured since this object began
    double m_bestObjective = std::numeric_limits<double>::infinity(); ///< the estimate; infinite until every task has a valid result
    std::int64_t m_trialsAtBest = 0; ///< when it was reached
    std::vector<std::pair<double, double>> m_estimates; ///< (seconds, ms) after each round, since every task has a valid result
    std::map<std::string, std::int64_t> m_errors;
    bool m_runoffs = false; ///< are held
    std::int64_t m_coldBytes = 0; ///< lathe::coldBytes of its records
    TimeAccount m_time;
    measure::MeasureTimes m_measurerTimes; ///< of measurers that were replaced
    TimeSpent m_accounted; ///< of this object's time, what rounds and finals have told
    TimeSpent m_past; ///< of the run before it was continued
    double m_measuredMs = kUnknown;
    double m_resumedSeconds = 0;
    double m_networkAt = 0; ///< when the whole network was last measured
    double m_networkSeconds = 0; ///< how long that took
    double m_networkEstimate = std::numeric_limits<double>::infinity();
};

} // namespace lathe::session
