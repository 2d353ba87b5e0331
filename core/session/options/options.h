#pragma once

#include "core/policy/default_policy.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::session {

// What a person can ask for, as values: from the command line, the window, or a project. Nothing else is needed to hold
// them.

using OptionShapes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>; ///< by input
using OptionSizes = std::vector<std::pair<std::string, std::int64_t>>; ///< by dimension

/// MODEL of the command line: an ONNX file or "zoo:NAME", and the options that go with it.
struct ModelSpec
{
    std::string source;
    std::optional<std::int64_t> batch;
    OptionShapes shapes;
    OptionSizes sizes; ///< of open dimensions (frontend/open_dimensions.h)
    std::string layout; ///< "", "NHWC", "NCHW"
    bool softmax = false; ///< one is appended to the outputs (frontend/output_softmax.h)
    std::string partition = "lathe";
    /// File of hardware parameters, a CPU's name (-mcpu), or the parameters as JSON; stored with the project; empty:
    /// what is stored, else the target's.
    std::string hardware;
    std::uint64_t seed = 0; ///< of zoo weights
    std::vector<std::string> withoutPasses; ///< names of graph::allPasses() that are left out
    bool passLog = false; ///< the notices tell what each pass did
};

/// A stored run that plays back.
struct ReplayOptions
{
    std::int64_t run = 0; ///< RunView::id; 0: the project's latest
    double speed = 1; ///< Replay::setSpeed()
};

struct OpenOptions
{
    ModelSpec model; ///< empty source: the project's latest model
    std::string target; ///< empty: what the project was last used for, else "cpu"
    std::vector<std::string> variants; ///< further targets, which an export puts into the same library
    std::filesystem::path project; ///< empty: no history is read or written
    bool readOnly = false;
    std::optional<ReplayOptions> replay; ///< of `project`, which is not written to
    std::vector<std::string> templateFiles; ///< people's own templates (core/templates/user_template.h)
};

struct TuneOptions
{
    double seconds = 0; ///< 0: no limit in time
    std::int64_t trials = 0; ///< 0: no limit in trials
    std::int64_t trialsPerTask = 0; ///< cap
    std::int32_t trialsPerRound = 0; ///< 0: 64, fewer where the budget in time is small
    std::string policy = policy::kDefaultPolicy; ///< a name of policy::policies()
    /// Decides which task has the next round: gradient, reference, round-robin, sequential; empty: as the policy's is.
    std::string scheduler;
    std::string tuner; ///< of policy template, a name of templates::tuners(); empty: its default
    std::vector<std::string> tunerSettings; ///< NAME=VALUE of its parameters
    std::string preset; ///< whose tuner, budgets and ways of measuring hold where nothing else is said (presetOf())
    std::vector<std::string> operators; ///< whose tasks alone are tuned: "conv2d"; empty: all
    std::vector<std::string> tasks; ///< numbers of the tasks that alone are tuned; empty: all
    std::int64_t earlyStopPerTask = 0; ///< trials without a faster one after which a task is left; 0: never
    /// What policy sketch begins with: a file (lathe-cli head-start make), "none"; empty: what is installed for the
    /// target, if there is such.
    std::string headStart;
    std::vector<std::string> devices; ///< with a broker: the one key of its devices
    std::string broker; ///< address of a broker whose devices measure (broker/token.h); empty: this machine's devices
    std::string credentials; ///< file of a token for it; empty: it lets everybody in
    std::int32_t priority = 0; ///< among others who want devices of the key, from -4 to 4
    double reserveSeconds = 0; ///< that each of its devices is wanted at least, whoever waits
    std::uint64_t seed = 1;
    bool resume = false; ///< continue the project's latest run with its own options
    /// Begin a run that knows nothing of earlier ones. Else a run goes on from what the project's earlier runs of the
    /// model and target measured: the latest one is continued, the budget on top of what it had; where its options
    /// differ from these, a new run begins with their trials.
    bool startOver = false;
    std::int32_t repeat = 1, number = 3;
    std::optional<double> minRepeatMs; ///< nothing: 20, with policy reference 100
    double timeoutSeconds = 10;
    double cooldownMs = 0;
    std::int64_t earlyStop = 0;
    double minGainPercent = 0; ///< ends when the last `gainWindowSeconds` made the network faster by less; 0: never
    double gainWindowSeconds = 3600;
    std::int32_t buildJobs = 0; ///< 0: one per core
    /// "network": weights are where the network's other weights push them; "warm": runs back to back; "cold": 32 MiB of
    /// other memory are read before each.
    std::string cache = "network";
    /// Whether each round's best is measured beside the task's best so far before it may replace that: "on", "off";
    /// "auto": on, except on simulators, whose costs do not vary.
    std::string runoff = "auto";
    bool strict = false;
    bool verbose = false;
};

struct CompileOptions
{
    std::filesystem::path output; ///< NAME.so; header, description and examples go beside it
    std::string name;
    bool allowDefault = false;
    bool strict = false;
    std::vector<std::string> inputs; ///< NAME=FILE.npy: what the check and the benchmark use for these inputs
    bool verify = true;
    bool benchmark = true;
    unsigned threads = 0; ///< 0: the target's
    /// Name of a device, or of its class (DeviceDirectory), for which the variant of its kind is made, and on which
    /// that is verified and timed; empty: the library chooses.
    std::string device = {};
    /// HOST:PORT: that is the key of devices behind this broker, to one of which the library is sent; and a file with a
    /// token for it. Empty: a device of this machine.
    std::string broker = {}, credentials = {};
    bool overwrite = false; ///< replace files of these names that Lathe did not write
    /// How layouts are chosen where records differ in them: "auto", "dp", "pbqp", "off" (plan/layout_choice.h).
    std::string graphTuner = "auto";
    std::int32_t mostCandidates = 20; ///< of each task, that it chooses among
    std::int64_t conversionRuns = 100; ///< in which a change of layout is timed
    std::vector<std::string> logs; ///< of the template tuner: their best is taken for tasks without a record
    /// Packages (packages.h) for tasks that neither records nor logs have; "none" alone: none. Empty: those for the target
    /// that are found.
    std::vector<std::string> packages;
};

struct RemeasureOptions
{
    double timeoutSeconds = 0; ///< that a candidate may run; 0: the session's runTimeout()
    std::int32_t repeat = 3; ///< costs taken of each, at least
};

} // namespace lathe::session
