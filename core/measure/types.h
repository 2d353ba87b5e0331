#pragma once

#include "core/record/record.h"
#include "core/wire/seeded.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lathe::measure {

/// What an output must be at some points (linear logical indices).
struct ExpectedOutput
{
    std::int32_t output = 0; ///< position in Dag::outputs
    std::vector<std::int64_t> points;
    std::vector<double> values;
    double tolerance = 1e-4; ///< max |y - r| <= tolerance * max |r|
};

/// What all candidates of one alternative of a task share. Made once (makeTaskData), then shared.
struct TaskData
{
    std::string dagJson;
    Hash128 dagHash; ///< of dagJson
    std::vector<bool> constantInputs; ///< by position in Dag::inputs
    std::uint64_t seed = 1; ///< input i is filled from wire::inputSeed(seed, i)
    std::vector<wire::SeededRange> ranges; ///< one per input, or empty: the dtype's default
    std::vector<ExpectedOutput> expected; ///< empty: outputs are not checked
};
using TaskDataPtr = std::shared_ptr<const TaskData>;

/// How a candidate is timed (auto-scheduler.md 9.1, 9.2; the defaults are the reference's).
struct RunPlan
{
    std::uint32_t number = 3;
    std::uint32_t repeat = 1;
    double minRepeatMs = 100;
    double cooldownMs = 0;
    std::uint64_t coldBytes = 0; ///< unrelated memory read before each run; forces number 1, minRepeatMs 0
    /// Constants are read in turns from copies of so many bytes together: as in a network whose other
    /// weights push them out of the caches meanwhile. 0: always the same ones, warm.
    std::uint64_t rotateBytes = 0;
    /// The first timed run is all a candidate gets if it is slower than this many times `bestNs`; 0: never cut short.
    double loserFactor = 0;
    /// A mean over a few milliseconds is all it gets if that is slower than this many times `bestNs`; 0: never cut
    /// short.
    double contenderFactor = 0;
};

struct BuiltKernel;

/// Where a candidate that is measured several times keeps its program in between (jobs.h).
using BuiltKernelPtr = std::shared_ptr<BuiltKernel>;

struct MeasureRequest
{
    std::string trial; ///< 128-bit id, 32 hex digits
    Candidate candidate;
    TaskDataPtr task;
    RunPlan plan;
    double bestNs = std::numeric_limits<double>::infinity();
    std::int64_t ordinal =
        -1; ///< of the trial in the run; part of the kernel's name, so that fault scripts can name it
    BuiltKernelPtr
        built; ///< null, or made by makeBuiltKernel(): filled by the first measurement, from then on nothing is built
};

/// A device that a local runner opens.
struct DeviceSpec
{
    std::string kind; ///< the plugin
    std::string key; ///< empty: its first device
    std::string options; ///< the target's words after the kind: "-threads=2"
};

struct WorkerPrograms
{
    std::filesystem::path builder; ///< empty: lathe-builder beside this program
    std::filesystem::path runner;
    std::vector<std::pair<std::string, std::string>> environment; ///< on top of our own
};

} // namespace lathe::measure
