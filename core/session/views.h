#pragma once

#include "core/support/message.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace lathe::session {

/// Plain structs handed to app/ and ui/: snapshots, complete and never changed again. Unknown numbers are NaN.

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct TensorView
{
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::vector<std::int32_t> dynamicAxes = {}; ///< of outputs of the network: where `shape` has the most that can be
    std::int32_t constant = -1; ///< by which Weights knows its values; -1: they are computed, or an input
    bool derived = false; ///< the model does not hold the constant as it is; then, as of graph::Provenance:
    std::vector<std::string> sources = {}, steps = {};
};

struct NodeView
{
    std::int32_t id = 0; ///< index into GraphView::nodes
    std::string name; ///< unique
    std::string op;
    std::vector<std::pair<std::string, std::string>> attributes; ///< as text
    std::vector<TensorView> inputs; ///< constants included
    std::vector<TensorView> outputs;
    std::int32_t task = -1; ///< index into the task list, -1: part of no task
    std::int32_t subgraph = -1; ///< nodes of one fused function share it
    std::string reason; ///< why it is in no task
    About about = {}; ///< the reason
    std::string origin = {}; ///< the model's own name of the node that it came from; empty: none
};

struct EdgeView
{
    std::int32_t from = -1; ///< node, -1: a graph input
    std::int32_t to = -1; ///< node, -1: a graph output
    TensorView tensor;
};

struct GraphView
{
    std::string name;
    std::vector<NodeView> nodes; ///< topological order
    std::vector<EdgeView> edges; ///< activations only
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
};

struct WorkloadView
{
    std::string key;
    std::string dag; ///< for people: in full, long lines shortened
    std::string hashed; ///< the text that the key's hash is of
};

enum class TaskState : std::uint8_t
{
    Untuned,
    Waiting,
    Active, ///< has the current round
    Exhausted
};

struct TaskView
{
    std::int32_t id = 0;
    std::string key;
    std::string name;
    std::string description;
    std::int32_t weight = 1;
    bool inBranch = false, inLoop = false; ///< runs not always, or not once: of any occurrence (graph/task.h)
    double flop = 0;
    double bytes = 0; ///< of inputs, weights and outputs, each once
    double weightBytes = 0; ///< of these, the weights
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
    std::vector<std::string> alternatives;
    std::vector<std::int32_t> nodes; ///< of all occurrences
    std::map<std::string, WorkloadView> workloads; ///< "flat", "nested", "hash"
    // Moving with the run:
    double bestMs = kUnknown;
    double gflops = kUnknown;
    double share = kUnknown; ///< of the estimated total, 0..1
    double lowerBoundMs = kUnknown; ///< that the device's limits allow (roofline.h)
    std::int64_t trials = 0;
    std::int64_t errors = 0;
    std::string bestAlternative;
    TaskState state = TaskState::Untuned;
};

/// What a device can do at most, as measured.
struct DeviceLimits
{
    struct Level
    {
        std::string name; ///< "L1", "L2", "L3", "memory"
        double bytes = 0; ///< that it holds; 0: no bound
        double gbytesPerS = 0;
    };
    double gflops = kUnknown;
    std::vector<Level> levels; ///< fastest first
    bool known() const { return gflops > 0 && !levels.empty(); }
};

/// What a person asks of the scheduler for one task.
struct TaskBudget
{
    bool pinned = false; ///< pinned tasks go first
    bool muted = false; ///< gets no trials
    double boost = 1; ///< factor on what the task promises
    std::int64_t trialCap = 0; ///< of a run; 0: none
    friend bool operator==(const TaskBudget&, const TaskBudget&) = default;
};

struct UntunedView
{
    std::string name;
    std::string reason;
    About about = {}; ///< the reason
};

struct DeviceView
{
    std::string key; ///< by which its machine calls it; empty: there is no device
    std::string kind;
    std::string name;
    std::string state; ///< "ready", "absent: why", "busy"
    std::string deviceKey; ///< of the class of equal devices, among which costs compare
    bool ready() const { return state == "ready"; }
    /// Why it is absent.
    std::string reason() const { return state.starts_with("absent: ") ? state.substr(8) : state; }
    /// Whether `--device asked` means it.
    bool isCalled(const std::string& asked) const { return asked == key || asked == deviceKey; }
    struct Limit
    {
        std::string name;
        std::int64_t value = 0;
        std::string origin;
    };
    std::vector<Limit> hardware;
    About about = {}; ///< why it is absent
    std::string fingerprint = {}; ///< DeviceIdentity::fingerprint
    std::string words = {}; ///< "-gpu=a100": it is for targets that say nothing else of these; empty: for all of its kind
};

/// One row of the trial list.
struct TrialView
{
    std::string id;
    std::int32_t round = 0;
    std::int32_t index = 0;
    std::int32_t task = -1;
    std::string candidate; ///< hash
    std::string sketch;
    double costMs = kUnknown;
    std::string stage; ///< where it ended; "done"
    std::string code; ///< Errc, "Ok"
    std::string text;
    About about = {}; ///< the text
};

/// A trial whose candidate was measured again.
struct RemeasuredTrial
{
    std::string trial; ///< the new one; empty: it was not measured, `text` says why
    std::string repeats; ///< the old one
    std::int32_t task = -1;
    std::string alternative;
    double beforeMs = kUnknown, costMs = kUnknown;
    std::string code, stage, text;
    About about = {}; ///< the text
};

/// What the best record of a task is made of.
struct ScheduleView
{
    std::string alternative;
    std::string sketch;
    std::string steps; ///< JSON, a step a line
    std::string loops; ///< loop tree
};

/// A network that comes with Lathe.
struct ZooView
{
    std::string name;
    std::string description;
    std::vector<std::string> layouts;
    std::string input = {}; ///< shape of the first one at batch 1 in the first layout: "1x3x224x224"
    double gflop = 0; ///< of its tasks, computed directly: what winograd saves is not taken off
    double weights = 0; ///< how many values
};

} // namespace lathe::session
