#include "core/graph/plan/layout_plan.h"

#include "core/graph/plan/solve_pbqp.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::graph::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Solved
{
    Solution solution;
    Solver solver = Solver::Dynamic;
};

Result<Solved> solved(const PairwiseProblem& problem, const PlanOptions& options)
{
    if (options.solver != Solver::Pbqp) {
        Result<Solution> exact = solveDynamic(problem, options.mostStates);
        if (exact)
            return Solved{*std::move(exact), Solver::Dynamic};
        if (options.solver == Solver::Dynamic || exact.error().code != Errc::Unsupported)
            return std::move(exact).error();
    }
    LATHE_TRY_ASSIGN(Solution solution, solvePbqp(problem));
    return Solved{std::move(solution), Solver::Pbqp};
}

LayoutPlan planOf(const LayoutProblem& problem, const Solved& solved)
{
    const auto choiceOf = [&](std::int32_t node) {
        return node < 0 ? 0 : solved.solution.choices[static_cast<std::size_t>(node)];
    };
    LayoutPlan plan;
    plan.optimal = solved.solution.optimal;
    plan.solver = solved.solver;
    for (std::size_t n = 0; n < problem.candidates.size(); ++n) {
        const std::int32_t choice = solved.solution.choices[n];
        const LayoutCandidate& chosen = problem.candidates[n][static_cast<std::size_t>(choice)];
        const double seconds = chosen.seconds * static_cast<double>(problem.graph.nodes[n].runs);
        plan.nodes.push_back({choice, chosen.input, chosen.output, seconds, chosen.id});
        plan.kernelSeconds += seconds;
    }
    plan.seconds = plan.kernelSeconds;
    for (std::size_t e = 0; e < problem.graph.edges.size(); ++e) {
        const LayoutEdge& edge = problem.graph.edges[e];
        const std::int32_t from = choiceOf(edge.from), to = choiceOf(edge.to);
        const std::size_t columns = edge.to < 0 ? 1 : problem.candidates[static_cast<std::size_t>(edge.to)].size();
        EdgeLayouts layouts = layoutsOf(problem.candidates, edge, from, to);
        const double seconds =
            problem.edgeSeconds[e][static_cast<std::size_t>(from) * columns + static_cast<std::size_t>(to)];
        plan.edges.push_back({std::move(layouts.written), std::move(layouts.read), seconds});
        plan.seconds += seconds;
    }
    return plan;
}

Result<LayoutPlan> planUnder(const LayoutProblem& problem, const PairwiseProblem& restricted,
                             const PlanOptions& options)
{
    LATHE_TRY_ASSIGN(const Solved best, solved(restricted, options));
    if (std::isinf(best.solution.seconds))
        return makeError(Errc::Unsupported, best.solution.optimal ? say(Msg::PlanNoChoice) : say(Msg::PlanNoneFound));
    return planOf(problem, best);
}

/// Forbids a node all candidates that are not kept. False if that leaves none.
template<typename Keeps>
bool restrictTo(const LayoutProblem& problem, PairwiseProblem& restricted, std::int32_t node, Keeps keeps)
{
    const std::vector<LayoutCandidate>& candidates = problem.candidates[static_cast<std::size_t>(node)];
    std::vector<double>& costs = restricted.nodes[static_cast<std::size_t>(node)];
    bool any = false;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (keeps(c, candidates[c]))
            any = true;
        else
            costs[c] = kNever;
    }
    return any;
}

/// False if what the pin names is not there, or cannot be so.
bool apply(const LayoutProblem& problem, const Pin& pin, PairwiseProblem& restricted)
{
    const std::size_t count = pin.what == Pin::What::Node ? problem.graph.nodes.size() : problem.graph.edges.size();
    if (pin.index < 0 || static_cast<std::size_t>(pin.index) >= count)
        return false;
    const auto gives = [&](std::size_t, const LayoutCandidate& c) { return c.output == pin.layout; };
    const auto takes = [&](std::size_t, const LayoutCandidate& c) { return c.input == pin.layout; };
    if (pin.what == Pin::What::Node)
        return restrictTo(problem, restricted, pin.index, gives);
    const LayoutEdge& edge = problem.graph.edges[static_cast<std::size_t>(pin.index)];
    if (edge.from >= 0 && !restrictTo(problem, restricted, edge.from, gives))
        return false;
    if (edge.to >= 0 && edge.reads == Reads::Data)
        return restrictTo(problem, restricted, edge.to, takes);
    if (edge.to >= 0 && edge.reads == Reads::Result)
        return restrictTo(problem, restricted, edge.to, gives);
    return true;
}

} // namespace

Result<LayoutPlan> planLayouts(const LayoutProblem& problem, const PlanOptions& options)
{
    return planUnder(problem, problem.pairwise, options);
}

Result<LayoutPlan> planFastestKernels(const LayoutProblem& problem, const PlanOptions& options)
{
    PairwiseProblem restricted = problem.pairwise;
    // Candidates are sorted; the first of a join is the layout of its leader's first.
    for (std::size_t n = 0; n < problem.graph.nodes.size(); ++n)
        restrictTo(problem, restricted, static_cast<std::int32_t>(n),
                   [](std::size_t c, const LayoutCandidate&) { return c == 0; });
    return planUnder(problem, restricted, options);
}

Result<PinnedPlan> planPinned(const LayoutProblem& problem, const LayoutPlan& before, const std::vector<Pin>& pins,
                              const PlanOptions& options)
{
    PairwiseProblem restricted = problem.pairwise;
    for (const Pin& pin : pins) {
        if (!apply(problem, pin, restricted))
            return makeError(Errc::NotFound,
                             fmt::format("{} {} cannot be in layout {}", pin.what == Pin::What::Node ? "node" : "edge",
                                         pin.index, pin.layout.text()));
    }
    PinnedPlan pinned;
    LATHE_TRY_ASSIGN(pinned.plan, planUnder(problem, restricted, options));
    pinned.difference = pinned.plan.seconds - before.seconds;
    for (std::size_t n = 0; n < std::min(pinned.plan.nodes.size(), before.nodes.size()); ++n) {
        if (pinned.plan.nodes[n].candidate != before.nodes[n].candidate)
            pinned.nodes.push_back(static_cast<std::int32_t>(n));
    }
    for (std::size_t e = 0; e < std::min(pinned.plan.edges.size(), before.edges.size()); ++e) {
        if (pinned.plan.edges[e].written != before.edges[e].written
            || pinned.plan.edges[e].read != before.edges[e].read)
            pinned.edges.push_back(static_cast<std::int32_t>(e));
    }
    return pinned;
}

} // namespace lathe::graph::plan
