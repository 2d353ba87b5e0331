#pragma once

#include "core/record/record.h"
#include "core/search/cost_model.h"
#include "core/search/search_task.h"
#include "core/search/sketch.h"
#include "core/support/executor.h"
#include "core/support/message.h"
#include "core/support/result.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::search {

struct HeadStart;

/// A candidate and what came of measuring it.
struct Measured
{
    Candidate candidate;
    TrialResult result;
};

/// Features and costs of all trials of a run, with the model trained on them; shared by the policies of its tasks, so
/// that a new task profits from those before it. Not thread-safe: one round at a time.
class SharedModel
{
public:
    virtual ~SharedModel() = default; ///< policies whose tasks share more derive theirs from it
    SharedModel(std::unique_ptr<CostModel> model, std::int32_t columns, std::size_t warmup);

    /// Rows of one program. Call trainIfDue() after a round.
    void add(std::string_view task, std::span<const float> rows, double seconds);
    Result<> trainIfDue(std::stop_token stop = {});

    /// Rows that a head start brings; `group` tells apart what was measured together. They count as much as the run's
    /// own at first, half after 256 own trials, and are left out once that is less than a sixteenth.
    void inherit(std::string_view group, std::span<const float> rows, double seconds);
    Result<> trainInherited(std::stop_token stop = {}); ///< on these alone
    /// What a row of them weighs beside an own one now; 0: they are left out.
    double inheritedWeight() const;
    bool ready() const { return m_model->trained(); }
    const CostModel& model() const { return *m_model; }
    CostModel& model() { return *m_model; }
    /// As the model's, timed.
    Result<std::vector<float>> predict(const FeatureMatrix& features);
    double predictSeconds() const { return m_predictSeconds; } ///< so far
    const TrainingSet& data() const { return m_data; }
    std::uint64_t version() const { return m_version; } ///< how often it was trained

private:
    using Ids = std::map<std::string, std::int32_t, std::less<>>;
    static void addTo(TrainingSet& data, Ids& ids, std::string_view task, std::span<const float> rows, double seconds);
    std::unique_ptr<CostModel> m_model;
    TrainingSet m_data, m_inherited;
    Ids m_taskIds, m_groupIds;
    std::size_t m_warmup;
    std::size_t m_trainedOn = 0;
    std::uint64_t m_version = 0;
    double m_predictSeconds = 0;
};

/// Proposes candidates for one task and is told their results. Ask/tell: it never measures. Same seed, rounds and
/// results give the same candidates on any number of threads. Calls come from one thread at a time.
class Policy
{
public:
    virtual ~Policy() = default;

    /// Up to `count` complete candidates, best guesses first, each once and none that tell() has brought. Empty: the
    /// space is exhausted. What was proposed and never told, because a budget ended in the middle of its round, may be
    /// proposed again: a run that goes on is told results alone, and must not differ from one that was never stopped.
    /// `round` is the run's round number, part of the random seed. Errors: Cancelled, Unsupported (no sketch fits the
    /// task), Internal.
    virtual Result<std::vector<Candidate>> propose(std::uint64_t round, std::int32_t count, Executor& executor,
                                                   std::stop_token stop = {}) = 0;

    /// Results in the order in which they were proposed, also those of an earlier run that is continued. Trains the
    /// model.
    virtual Result<> tell(std::span<const Measured> results, std::stop_token stop = {}) = 0;

    /// What the first round of its task measures instead of proposals, so that the whole network has an estimate after
    /// seconds: at most `count` complete candidates. Empty: the first round is one of propose(), too. Always the same.
    /// Errors: Internal.
    virtual Result<std::vector<Candidate>> firstRound(std::int32_t count) const
    {
        (void)count;
        return std::vector<Candidate>();
    }

    /// Takes what similar tasks found into the first population. Returns how far each task of the head start is from
    /// this one (lathe/adapt.h's distance); infinite: not similar. Empty: the policy takes nothing over.
    virtual std::vector<double> inherit(const HeadStart&) { return {}; }
    /// The first kHeirs candidates that came so, the most promising first; for a first round. Always the same.
    virtual Result<std::vector<Candidate>> heirs() const { return std::vector<Candidate>(); }

    /// For display: sketches, population, best score ... of the latest round.
    virtual std::map<std::string, double> statistics() const { return {}; }

    /// Whether propose() may be asked once more before tell() has brought what came of its proposals: results then are
    /// of the earlier ones first. Where proposals are looked for while others are measured.
    virtual bool proposesAhead() const { return false; }
    /// The latest proposals are not going to be measured: they may be proposed again.
    virtual void takeBackProposals() {}
    /// propose() would give nothing now, but may later, once other tasks have results: it is not asked meanwhile.
    virtual bool waitsForOthers() const { return false; }
    /// Why propose() gave nothing, where that is not that all of the space was proposed.
    virtual std::optional<Message> whyNothing() const { return std::nullopt; }

    /// Whether proposals depend on those before them, not on results alone. A run that goes on then asks for its stored
    /// rounds again, before it tells what came of them.
    virtual bool remembersProposals() const { return false; }
};

struct PolicyOptions
{
    std::uint64_t seed = 1;
    std::int32_t trialsPerRound = 64;
    /// How the target's back end schedules a task without any search; nothing: it has no schedule for this task. Null:
    /// it has none for any task.
    std::function<std::optional<Candidate>(const SearchTask& task)> untuned;
    /// What an export runs for a task that nothing was measured of, which may be faster; as above.
    std::function<std::optional<Candidate>(const SearchTask& task)> exported = {};
    /// Candidates by (sketch, genome) besides which nothing is proposed: a search replayed on recorded trials. Null:
    /// all there are. Only for policies that rank what they draw: others refuse it.
    std::shared_ptr<const std::vector<Candidate>> pool;
    /// Of policies that choose by a tuner (core/templates/tuner_table.h): its name, empty for the default; and
    /// NAME=VALUE of its parameters.
    std::string tuner = {};
    std::vector<std::string> tunerSettings = {};
};

} // namespace lathe::search
