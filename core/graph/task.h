#pragma once

#include "core/compute/dag.h"
#include "core/graph/graph.h"
#include "core/graph/operator.h"
#include "core/target/target.h"

#include <optional>
#include <string_view>

namespace lathe::graph {

class PassRunner;

/// How one DAG input of an alternative is made from the task's own inputs.
struct InputBinding
{
    std::int32_t taskInput = 0; ///< index into Task::inputs
    /// Null: the input itself. Else a DAG with one placeholder (the task input, a constant) whose output is the DAG
    /// input: the winograd weight transform, a transpose. Executed ahead of time by the DAG interpreter.
    compute::DagPtr recipe;
};

/// One compute DAG that computes a task.
struct Alternative
{
    std::string name; ///< "direct", "winograd:2", "winograd:4", "gemm"
    compute::DagPtr dag;
    std::vector<InputBinding> bindings; ///< one per entry of dag->inputs
    bool isReference =
        false; ///< the one that the reference compiler picks; the keys are those of its DAG as the reference writes it
};

/// Whether the algorithm of that name transforms its operands, as winograd does: fewer operations than its operator
/// says, more of them for a single point, summed in another order. Its results are rounded more, so that --strict
/// leaves it out.
bool tradesAccuracy(std::string_view alternative);

/// The compatible keys of one generation.
struct WorkloadText
{
    std::string key;
    std::string dag; ///< for people: in full, long lines shortened
    std::string hashed; ///< the text that the key's hash is of
};

struct TaskInput
{
    ValueId value; ///< in the graph, of the first occurrence
    TensorType type;
    bool constant = false;
};

/// One distinct fused subgraph on one target, and where the network has it.
struct Task
{
    std::string name; ///< readable: "conv2d 3x3/2 64->128 @28 +add+relu"
    std::string key; ///< Lathe's own strong key: 32 hex digits over operators, attributes, dtypes, shapes, target kind
    std::string description; ///< the reference's desc: "vm_mod_fused_nn_conv2d_add_nn_relu"
    std::int32_t weight = 1; ///< runs of its kernel in one run of the network: see Subgraph::runs
    bool inBranch = false, inLoop = false; ///< of any occurrence
    double flop = 0; ///< of the reference alternative, as auto-scheduler.md 1.3
    std::vector<TaskInput> inputs; ///< order of first use
    std::vector<TensorType> outputs;
    std::vector<Alternative> alternatives; ///< at least one
    std::vector<std::vector<NodeId>> occurrences; ///< nodes of each, the anchor's group in topological order
    std::optional<WorkloadText> flat, nested, hash;
};

/// A fused group of nodes that one kernel (or library function) computes; the unit of the plan.
struct Subgraph
{
    std::string name;
    std::vector<NodeId> nodes;
    std::vector<ValueId> inputs; ///< order of first use; constants included
    std::vector<ValueId> outputs;
    std::int32_t task = -1; ///< index into Partition::tasks, -1: none
    std::string reason; ///< why it is no task ("only injective operators", "reshape: shares its input's storage" ...)
    About about = {}; ///< the reason
    bool noop = false; ///< shares its input's storage
    bool control = false; ///< one node of control flow, which the executor does itself
    std::int32_t region = -1; ///< index into Graph::regions that all its nodes are in; -1: the network itself
    /// How often it runs in one run of the network: in loops their known trip counts, multiplied; a loop whose count is
    /// not known, and a branch, count once.
    std::int64_t runs = 1;
    /// For subgraphs that are no task and no noop: the definition for the default schedule.
    std::optional<Alternative> untuned;
    std::optional<FunctionCall> function; ///< what computes it instead of a kernel; it is then a single node
};

struct Partition
{
    std::string name; ///< "reference" or "lathe"
    std::vector<Subgraph> subgraphs; ///< topological order
    std::vector<Task> tasks; ///< in the order of auto-scheduler.md 2.1 (pre-order from the outputs)
};

/// Fuses and cuts tasks. `graph` has been through the passes of passes.h. Errors: Unsupported names operator and node.
Result<Partition> partition(const Graph& graph, const Target& target, std::string_view kind);
/// With passes that may be left out: without "fuse" each node is a function of its own.
Result<Partition> partition(const Graph& graph, const Target& target, std::string_view kind, PassRunner& passes);

} // namespace lathe::graph
