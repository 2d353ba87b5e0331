#pragma once

#include "core/session/options/tune_options.h"
#include "core/store/project.h"

#include <span>
#include <vector>

namespace lathe::session {

// Finals: at its end a run measures the best trials of each task once more, side by side. Among thousands of trials the
// one with the least cost was often measured in a lucky moment (a quiet one, where neighbours share caches), and no
// other trial of that minute is beside it. Finalists are measured in passes over all tasks, those of one task next to
// each other, so that a bad moment strikes them alike and each is seen at several moments.
//
// Standing of finalist i of a task, with cost c[p][i] in pass p:
//
//     level[p]    = geometric mean of c[p][j] over the task's finalists j
//     standing[i] = robustMean over p of (c[p][i] / level[p])  x  robustMean over p of level[p]
//
// robustMean leaves out a quarter of the values at either end, at least one of three (of three: the median).
//
// One record for each finalist names the trial that it repeats; its cost is the standing, its conditions hold "finals"
// (an id, that of all finals of this moment), "finals_round" (rounds of the run before them) and "passes_ns" (its cost
// in each pass). No search learns from them. What they mean for who stands best is in store/schema.cpp.
//
// A runoff is the like for one task after each of its rounds, and shorter: what stands and the fastest of the round, in
// turns, so that a newcomer wins by what it takes beside the old one and not by its minute. Its records hold "runoff",
// too. A run's estimate is the sum of what won the runoffs; the scheduler is told how much the winner won beside what
// stood. levelledCost() says what its cost is, also in finals; that of all others of the task changes by the same
// factor.

/// Record::round of a final.
inline constexpr std::int32_t kFinalsRound = -1;

/// Of a runoff (or, false, of a run's finals, or an ordinary trial).
bool isRunoff(const Record& record);

/// The ordinary trial that a record measured again; its own id if it is one.
std::string originOf(const Record& record);

/// What a candidate computes and how; the same one may have been proposed as several genomes, or measured several
/// times.
std::string programOf(const Candidate& candidate);

/// Of no value: NaN.
double robustMean(std::vector<double> values);

/// costs[pass][finalist], all positive; one standing per finalist.
std::vector<double> standings(std::span<const std::vector<double>> costs);

/// The same where runoffs are held, of these and of the finals: the mean of each one's quickest third of the passes,
/// one at least. A runoff's passes are so short and so close together that the machine's speed is one and the same, but
/// for moments in which another guest takes a core; finals that say it in another way would not compare.
std::vector<double> quickest(std::span<const std::vector<double>> costs);

struct LevelledCost
{
    double ns = 0;
    std::int64_t moments = 1; ///< of which it is the mean
};

/// The cost of a task's winner, whose standing in this runoff is `standing`, where what stood had `cost` as the mean of
/// n moments. If it is what stood, this is one moment more (one of many, if n > 7):
///
///     cost' = cost^(n / (n + 1))  x  min(standing, 1.25 cost)^(1 / (n + 1))
///
/// A newcomer begins with its standing: what it won beside the old one is partly luck, and a chain of such gains would
/// sink ever deeper below what anything takes. Yet it is quicker than the old one: a standing above 1.25 cost is the
/// moment's, and the old cost is kept. (A machine that is shared may be slower by a factor of hundred for seconds.) A
/// standing below cost / 1.5 says that the old cost was of such a moment: it counts alone, as it does where the old
/// cost is that of an ordinary trial (n = 0), which may have been lucky, though not by more than half: a standing above
/// 2 cost counts as that.
LevelledCost levelledCost(double cost, std::int64_t moments, double standing, bool stoodBefore);

/// Seconds of a run of so many that its search leaves to the finals: 8 %, at least 3 s and at most 45, never over a
/// fifth; where runoffs were held, 4 %, 1.5 s, 22.5 and a tenth.
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
