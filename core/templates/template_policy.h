#pragma once

#include "core/search/policy.h"
#include "core/support/message.h"
#include "core/templates/tunable.h"
#include "core/templates/tuner.h"

#include <deque>
#include <map>
#include <memory>

namespace lathe::templates {

/// What tasks of one workload share in a run: which of them is searched, and what was measured there. A network has a
/// convolution several times with other operators behind it; the reference tunes it once (autotvm.md 5), and so it is
/// here: the others measure what was best there.
class SharedTemplates final : public search::SharedModel
{
public:
    explicit SharedTemplates(std::uint64_t seed);

    struct Board
    {
        std::string searched; ///< Task::key; empty: none is yet
        std::shared_ptr<const Tunable> made; ///< of that task
        std::map<std::uint64_t, double> seconds; ///< by index in its space; infinite: it failed

        /// All that was measured failed. Another task of the workload may have more luck, and searches, too.
        bool failedThroughout() const;
    };
    Board& boardOf(const std::string& workload) { return m_boards[workload]; }
    /// What was measured of other workloads of a template, with features of a kind. Valid as long as this is.
    std::vector<ForeignRecords> othersOf(const Tunable& own, FeatureKind kind) const;

private:
    std::map<std::string, Board> m_boards; ///< by workloadKey()
};

/// Template tuning of one task: a tuner over the space of each template that computes it, in turns; the schedules
/// without a search first, so that the network has an estimate from the start. A task that no template computes has
/// this first round alone.
class TemplatePolicy final : public search::Policy
{
public:
    /// @param ofSketches  the spaces are those of Lathe's sketches instead (policy sketch with a tuner)
    /// Errors: InvalidArgument for an unknown tuner or setting; Unsupported, no sketch fits.
    static Result<std::unique_ptr<TemplatePolicy>> create(const search::SearchTask& task,
                                                          std::shared_ptr<SharedTemplates> shared,
                                                          const search::PolicyOptions& options,
                                                          bool ofSketches = false);

    Result<std::vector<Candidate>> propose(std::uint64_t round, std::int32_t count, Executor& executor,
                                           std::stop_token stop) override;
    Result<> tell(std::span<const search::Measured> results, std::stop_token stop) override;
    Result<std::vector<Candidate>> firstRound(std::int32_t count) const override;
    std::map<std::string, double> statistics() const override;
    bool remembersProposals() const override { return true; }
    /// While it is searched itself.
    bool proposesAhead() const override;
    void takeBackProposals() override;

    /// Where the last configurations could not be run.
    std::optional<Message> whyNothing() const override;
    /// What another task of the workload finds comes first.
    bool waitsForOthers() const override;

    /// How many of the best configurations of a workload a task measures that is not searched itself: of those that it
    /// can run, and besides those that turned out to fail.
    static constexpr std::size_t kTaken = 8;
    /// Configurations of a template in a row that cannot be run, after which no others of it are looked at.
    static constexpr std::uint64_t kMostRefusedInARow = 4096;

private:
    struct Refusal
    {
        Message why;
        std::uint64_t count = 0;
    };
    /// A template with its tuner. Neither moves: tuners refer to spaces.
    struct Way
    {
        std::shared_ptr<const Tunable> made;
        std::string workload; ///< workloadKey()
        std::unique_ptr<Tuner> tuner;
        bool transfers = false; ///< it is to learn from other workloads before it gives anything
        FeatureKind features = FeatureKind::None;
        std::map<std::uint64_t, double> told; ///< infinite: it failed
        std::map<std::string, Refusal> refusedBy; ///< configurations that cannot be run, by why
        std::uint64_t refusedInARow = 0; ///< the latest of them, up to the end if the tuner gave up
    };

    using Proposed = std::vector<std::pair<Way*, std::uint64_t>>;

    TemplatePolicy(search::SearchTask task, std::shared_ptr<SharedTemplates> shared,
                   const search::PolicyOptions& options)
        : m_task(std::move(task))
        , m_shared(std::move(shared))
        , m_firsts{options.exported, options.untuned}
    {
    }
    bool searches(const Way& way) const; ///< it is the task of its workload that is searched, or may become it
    void refuse(Way& way, std::uint64_t index, const Error& why);
    /// A candidate that the task's device can run, as far as that is known without building it. Errors: what is in the
    /// way.
    Result<Candidate> runnable(const Way& way, const Config& config) const;
    Result<std::vector<Candidate>> proposeOf(Way& way, std::size_t count, Proposed& proposed, std::stop_token stop);
    Result<std::vector<Candidate>> bestOfOthers(const Way& way, std::size_t count) const;

    search::SearchTask m_task;
    std::shared_ptr<SharedTemplates> m_shared;
    std::vector<std::function<std::optional<Candidate>(const search::SearchTask&)>> m_firsts; ///< of the first round
    std::vector<std::unique_ptr<Way>> m_ways;
    std::deque<Proposed> m_proposed; ///< what tuners gave, by propose(), as long as results are awaited
};

} // namespace lathe::templates
