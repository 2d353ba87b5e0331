#pragma once

#include "core/graph/plan/layout_problem.h"
#include "core/graph/plan/solve_dynamic.h"
#include "core/support/result.h"

#include <string>
#include <vector>

namespace lathe::graph::plan {

enum class Solver : std::uint8_t
{
    Auto, ///< Dynamic, and Pbqp where that would need too many states
    Dynamic,
    Pbqp
};

struct PlanOptions
{
    Solver solver = Solver::Auto;
    std::uint64_t mostStates = kMostStates; ///< of Dynamic
};

/// What is chosen for a node of the layout graph.
struct PlannedNode
{
    std::int32_t candidate = 0; ///< index into LayoutProblem::candidates of the node
    Layout input, output;
    double seconds = 0; ///< of its kernel in one run of the network
    std::string id; ///< the candidate's; empty where only several inputs are taken
};

/// And for an edge.
struct PlannedEdge
{
    Layout written, read;
    double seconds = 0; ///< of its conversions in one run of the network
    bool converts() const { return written != read; }
};

/// The layouts of a network, as values: parallel to the nodes and edges of the layout graph.
struct LayoutPlan
{
    std::vector<PlannedNode> nodes;
    std::vector<PlannedEdge> edges;
    double seconds = 0; ///< kernels and conversions
    double kernelSeconds = 0; ///< without conversions
    bool optimal = false; ///< there is no faster one, as far as costs tell
    Solver solver = Solver::Dynamic; ///< which one found it
};

/// The fastest layouts.
/// Errors: those of the solver; Unsupported if no choice is allowed, or none was found.
Result<LayoutPlan> planLayouts(const LayoutProblem& problem, const PlanOptions& options = {});

/// What a plan is compared with: each group takes its fastest kernel, whatever has to be converted between them.
Result<LayoutPlan> planFastestKernels(const LayoutProblem& problem, const PlanOptions& options = {});

/// A wish of a person.
struct Pin
{
    enum class What : std::uint8_t
    {
        Node, ///< gives its result in this layout
        Edge ///< is written and read in this layout, as far as its ends can choose: boundaries cannot
    };
    What what = What::Node;
    std::int32_t index = 0; ///< into the nodes or edges of the layout graph
    Layout layout;
};

struct PinnedPlan
{
    LayoutPlan plan;
    double difference = 0; ///< its seconds less those of the plan before
    std::vector<std::int32_t> nodes, edges; ///< those that take other layouts, or another candidate, than before
};

/// The fastest layouts under these pins, and what is then different from a plan of the same problem.
/// Errors: those of planLayouts(); NotFound for a node or an edge that is not there, or that has no such layout.
Result<PinnedPlan> planPinned(const LayoutProblem& problem, const LayoutPlan& before, const std::vector<Pin>& pins,
                              const PlanOptions& options = {});

} // namespace lathe::graph::plan
