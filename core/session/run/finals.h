#pragma once

#include "core/session/options/tune_options.h"
#include "core/store/project.h"

#include <span>
#include <vector>

namespace lathe::session {

// Finals: at its end a run measures the best trials of each task once more, side by side. Among thousands of trials the
// one with the least cost was often measured at a lucky moment (a quiet one, on a machine whose caches others share),
// and its competitors were measured at other moments. Finalists are measured in passes over all tasks, those of one
// task next to each other, so that a bad moment strikes them alike and each is seen at several moments.
//
// Standing of finalist i of a task, with cost c[p][i] in pass p:
//
//     level[p]    = geometric mean of c[p][j] over the task's finalists j
//     standing[i] = robustMean over p of (c[p][i] / level[p])  x  robustMean over p of level[p]
//
// robustMean leaves out a quarter of the values at either end, at least one of three (of three: the median).
//
// For each finalist one record is stored, which names the trial that it repeats. Its cost is the standing; its
// conditions hold "finals" (an id that all records of these finals share), "finals_round" (rounds of the run before
// them) and "passes_ns" (its cost in each pass). No search learns from these records. store/schema.cpp says how they
// decide which record of a task is the best.
//
// A runoff is the same for one task after each of its rounds, and shorter: the incumbent (the program that was the best
// of the task until then) and the fastest of the round are measured in alternation, so that a newcomer wins because it
// is faster than the incumbent at the same time, and not because of the moment. Its records hold "runoff", too. A run's
// estimate is the sum over the winners of the runoffs; the scheduler is told by how much the winner beat the incumbent.
// smoothedCost() gives the cost of the winner, also in finals; the costs of all others of the task change by the same
// factor.

/// Record::round of a final.
inline constexpr std::int32_t kFinalsRound = -1;

/// True: of a runoff; false: of a run's finals, or an ordinary trial.
bool isRunoff(const Record& record);

/// The ordinary trial that a record measured again; its own id if it is one.
std::string originOf(const Record& record);

/// What a candidate computes and how; the same one may have been proposed as several genomes, or measured several
/// times.
std::string programOf(const Candidate& candidate);

/// NaN if there are no values.
double robustMean(std::vector<double> values);

/// costs[pass][finalist], all positive; one standing per finalist.
std::vector<double> standings(std::span<const std::vector<double>> costs);

/// The same for runs with runoffs, for both the runoffs and the finals: the mean over each finalist's quickest third of
/// the passes, at least one. The passes of a runoff are so short and so close together that the machine's speed is the
/// same in all of them, except for moments in which another guest takes a core. Finals use the same formula, since
/// their costs would not compare otherwise.
std::vector<double> quickest(std::span<const std::vector<double>> costs);

struct LevelledCost
{
    double ns = 0;
    std::int64_t moments = 1; ///< of which it is the mean
};

/// The cost of a task's winner, whose standing in this runoff is `standing`, when the incumbent had `cost`, the mean of
/// n moments. If the winner is the incumbent itself, this is one moment more (n counts as 7 if it is larger):
///
///     cost' = cost^(n / (n + 1))  x  min(standing, 1.25 cost)^(1 / (n + 1))
///
/// A newcomer begins with its standing. Its cost is not derived from the incumbent's: the gain over the incumbent is
/// partly luck, and a chain of such gains would sink ever further below any real time. Yet the newcomer is the faster
/// of the two: a standing above 1.25 cost is due to a slow moment, and the old cost is kept. (A shared machine may be
/// slower by a factor of a hundred for seconds.) A standing below cost / 1.5 shows that the old cost was of such a slow
/// moment: then the standing alone counts. It also does if the old cost is that of an ordinary trial (n = 0), which may
/// have been lucky, though by no more than a factor of 2: a standing above 2 cost counts as 2 cost.
LevelledCost smoothedCost(double cost, std::int64_t moments, double standing, bool stoodBefore);

/// How many of a run's `seconds` the search leaves to the finals: 8 %, at least 3 s and at most 45 s, but never more
/// than a fifth; if runoffs were held, 4 %, 1.5 s, 22.5 s and a tenth.
double finalsReserve(double seconds, bool runoffs);

/// Who may compete for a task, the most promising first: the fastest two programs, then the fastest of each other
/// algorithm or sketch within 25 %, then more of the fastest, within 50 %; at most 8. Programs differ in algorithm,
/// edges or steps. Fewer than two, or none that came after the last finals (runoffs apart): empty.
Result<std::vector<Record>> contenders(const store::Project& project, std::string_view task, std::string_view target,
                                       const store::Conditions& conditions);

struct FinalsTask
{
    std::size_t contenders = 0;
    double weight = 0; ///< what it has of the network's latency
};

/// How many of its contenders each task sends, 0 or at least two, at most `most` of all tasks together: tasks that
/// weigh more send more.
std::vector<std::size_t> finalistCounts(std::span<const FinalsTask> tasks, std::size_t most);

} // namespace lathe::session
