#pragma once

#include "core/graph/plan/layout_problem.h"
#include "core/graph/task.h"
#include "graph_fixture.h"

#include <limits>

/// What tests of plans share: candidates and problems of small networks.
namespace lathe::test::layouts {

using namespace lathe::graph::plan;
using graph::ValueId;

inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline Layout layout(std::string_view text)
{
    return take(Layout::parse(text));
}

inline LayoutCandidate candidate(std::string_view input, std::string_view output, double seconds, std::string id = {})
{
    return {layout(input), layout(output), seconds, std::move(id)};
}

inline LayoutGraph reducedOf(const graph::Graph& g)
{
    return reduced(g, take(graph::partition(g, *Target::parse("cpu"), "lathe")));
}

/// All conversions take so long.
inline ConversionCost each(double seconds)
{
    return [seconds](const Conversion&) { return seconds; };
}

/// The candidates of every convolution, by its name, whatever its task.
inline LayoutProblem problemOf(const graph::Graph& g, const std::map<std::string, std::vector<LayoutCandidate>>& byName,
                               const ConversionCost& cost)
{
    LayoutGraph layouts = reducedOf(g);
    std::int32_t next = 0;
    TaskCandidates tasks;
    for (LayoutNode& node : layouts.nodes) {
        if (!node.isTuned())
            continue;
        node.task = next++;
        tasks[node.task] = byName.at(node.name);
    }
    NodeCandidates candidates = take(candidatesOf(layouts, tasks));
    return take(makeLayoutProblem(std::move(layouts), std::move(candidates), cost));
}

/// x -> a -> b, all of one shape: a is fastest where it gives NCHW8c, which b can read.
inline LayoutProblem pair()
{
    GraphMaker m;
    const ValueId a = m.conv("a", m.input("x", {1, 8, 4, 4}), {8, 8, 3, 3});
    return problemOf(m.finish({m.conv("b", a, {8, 8, 3, 3})}),
                     {{"a", {candidate("NCHW", "NCHW", 10, "a0"), candidate("NCHW", "NCHW8c", 6, "a1")}},
                      {"b", {candidate("NCHW8c", "NCHW", 5, "b0"), candidate("NCHW", "NCHW", 7, "b1")}}},
                     each(3));
}

} // namespace lathe::test::layouts
