#pragma once

#include "core/search/policy.h"
#include "core/target/target.h"

#include <limits>
#include <string_view>

namespace lathe::search {

/// A head start: what the search found for tasks of other networks. The policy "sketch" makes two things of it.
///
/// Members of its first population: the best candidates of similar tasks, with their tile sizes adapted to what the new
/// extents allow (lathe/adapt.h). A task's first round measures the first few of them beside its default schedule.
///
/// Training data: rows of (features, seconds). It is data and not a trained model, since SharedModel fits its model to
/// all data anew whenever there are new trials. The old trials are used beside the run's own, with labels relative to
/// their own tasks, and lose weight as the run's own trials come in, until they are left out; a trained booster could
/// not forget like that. At most kInheritedRows rows are taken, of the tasks that resemble the network's most, which
/// bounds the time of a training.
///
/// A value, equal on all machines; head_start_file.h has its bytes.
struct HeadStart
{
    /// A good candidate of a task, by what its genes stand for.
    struct Seed
    {
        std::string form; ///< formOf(its sketch)
        std::vector<std::int64_t> extents; ///< extentsOf(its sketch)
        std::vector<std::int64_t> values; ///< one per parameter
        double ns = 0;
    };
    /// A task as one device measured it: costs of others do not compare.
    struct Task
    {
        std::string key; ///< graph::Task::key
        std::string name;
        std::string network; ///< "zoo:NAME", or the name of the model's file without its ending
        std::string target; ///< text
        std::string device; ///< its name, for people
        std::vector<Seed> seeds; ///< the fastest first
        std::vector<float> features; ///< a row per cost
        std::vector<double> costs; ///< ns; infinite: the trial failed
    };

    std::string features; ///< featureVersion() of the build that made it
    std::int32_t columns = 0; ///< of a row
    std::vector<std::string> without; ///< networks whose tasks were left out: "zoo:NAME", names of files
    std::vector<Task> tasks;

    std::size_t seeds() const;
    std::size_t rows() const;
};

/// What the features of this build are: their number, their names and what they mean. Rows of another version teach
/// nothing.
std::string featureVersion();

/// Errors: Incompatible if its rows have other features than this build's.
Result<> checkFeatures(const HeadStart& headStart);

/// Whether what was measured for one target says something of another (BackendTraits::headStart): of a CPU, the same
/// instruction set.
bool comparable(const Target& made, const Target& wanted);

/// At most so many rows train a run's model before its first round.
inline constexpr std::size_t kInheritedRows = 2048;
/// Candidates of similar tasks that a task's first round measures.
inline constexpr std::size_t kHeirs = 3;

struct HeadStartUse
{
    std::size_t tasks = 0; ///< of the network that have similar ones in it
    std::size_t rows = 0; ///< trained on
};

/// Gives it to the policies of a run's tasks and trains their model. Call it once, before the first round. What is
/// there for no comparable target is left out. Errors: Incompatible, those of training.
Result<HeadStartUse> takeHeadStart(const HeadStart& headStart, const Target& target, std::span<Policy* const> policies,
                                   SharedModel& model, std::stop_token stop = {});

} // namespace lathe::search
