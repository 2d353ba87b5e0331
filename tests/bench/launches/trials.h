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
/// are of rules that are no more. Errors: BadFile, with the line; those of loadModel().
Result<std::vector<TrialTask>> readTrials(const std::string& file);

/// Likewise, by the steps of its schedule.
struct MeasuredKernel
{
    std::size_t alternative = 0; ///< of the task
    std::vector<schedule::Step> steps;
    std::string sketch;
    double estimated = 0; ///< seconds by whoever proposed it; NaN: not told
    double seconds = 0;
};

struct MeasuredTask
{
    search::SearchTask task;
    std::vector<MeasuredKernel> kernels;
};

/// Of a file as readTrials() takes it, or of the records of a project for a target of the kind "cuda" from the devices
/// that were measured on last, whose times compare. NotFound: it has none.
Result<std::vector<MeasuredTask>> readMeasured(const std::string& file);

/// Spearman's rank correlation; equal values have the mean of their ranks. NaN: all of one side are equal.
double rankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

} // namespace lathe::bench
