#pragma once

#include "core/search/lathe/launch_sketches.h"

#include <memory>
#include <string>
#include <vector>

namespace lathe::bench {

/// A candidate of Lathe's search for GPUs and what it took on one.
struct LaunchTrial
{
    std::shared_ptr<const search::LaunchSketch> sketch;
    search::Genome genome;
    double seconds = 0;
};

struct TrialTask
{
    search::SearchTask task;
    std::vector<LaunchTrial> trials;
};

/// Of a file of tests/data/launches. Its first line is an object: "network", "target", "hardware", "tasks" (keys). Each
/// further line is a trial: the number of its task, sketch, genome, nanoseconds. Says on standard error how many trials
/// are of rules that are no more.
Result<std::vector<TrialTask>> readTrials(const std::string& file);

/// Spearman's rank correlation.
double rankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

} // namespace lathe::bench
