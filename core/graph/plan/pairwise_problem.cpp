#include "core/graph/plan/pairwise_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace lathe::graph::plan {
namespace {

std::size_t at(std::int32_t index)
{
    return static_cast<std::size_t>(index);
}

Error badProblem(std::string what)
{
    return makeError(Errc::InvalidArgument, std::move(what));
}

/// False for NaN too.
bool isCost(double seconds)
{
    return seconds >= 0;
}

} // namespace

Result<> check(const PairwiseProblem& problem)
{
    for (std::size_t n = 0; n < problem.nodes.size(); ++n) {
        const std::vector<double>& costs = problem.nodes[n];
        if (costs.empty())
            return badProblem(fmt::format("node {} has no candidate", n));
        if (const auto bad = std::find_if_not(costs.begin(), costs.end(), isCost); bad != costs.end())
            return badProblem(fmt::format("candidate {} of node {} costs {} s", bad - costs.begin(), n, *bad));
    }
    for (std::size_t e = 0; e < problem.edges.size(); ++e) {
        const PairwiseEdge& edge = problem.edges[e];
        for (const std::int32_t end : {edge.from, edge.to}) {
            if (end < 0 || at(end) >= problem.nodes.size())
                return badProblem(fmt::format("edge {} ends at node {} of {} nodes", e, end, problem.nodes.size()));
        }
        if (edge.from == edge.to)
            return badProblem(fmt::format("edge {} leads from node {} to itself", e, edge.from));
        const std::size_t rows = problem.nodes[at(edge.from)].size(), columns = problem.nodes[at(edge.to)].size();
        if (edge.seconds.size() != rows * columns)
            return badProblem(fmt::format("edge {} has {} costs where its nodes have {} x {} candidates", e,
                                          edge.seconds.size(), rows, columns));
        if (const auto bad = std::find_if_not(edge.seconds.begin(), edge.seconds.end(), isCost);
            bad != edge.seconds.end()) {
            const std::size_t place = static_cast<std::size_t>(bad - edge.seconds.begin());
            return badProblem(
                fmt::format("candidates {} and {} of edge {} cost {} s", place / columns, place % columns, e, *bad));
        }
    }
    return {};
}

Result<double> energy(const PairwiseProblem& problem, const Choices& choices)
{
    if (choices.size() != problem.nodes.size())
        return badProblem(fmt::format("{} choices for {} nodes", choices.size(), problem.nodes.size()));
    double sum = 0;
    for (std::size_t n = 0; n < choices.size(); ++n) {
        if (choices[n] < 0 || at(choices[n]) >= problem.nodes[n].size())
            return badProblem(fmt::format("candidate {} is chosen for node {}, which has {}", choices[n], n,
                                          problem.nodes[n].size()));
        sum += problem.nodes[n][at(choices[n])];
    }
    for (const PairwiseEdge& edge : problem.edges) {
        const std::size_t columns = problem.nodes[at(edge.to)].size();
        sum += edge.seconds[at(choices[at(edge.from)]) * columns + at(choices[at(edge.to)])];
    }
    return sum;
}

std::vector<PairwiseEdge> mergedEdges(const PairwiseProblem& problem)
{
    std::map<std::pair<std::int32_t, std::int32_t>, PairwiseEdge> merged;
    for (const PairwiseEdge& edge : problem.edges) {
        const auto [low, high] = std::minmax(edge.from, edge.to);
        PairwiseEdge& sum = merged[{low, high}];
        sum.from = low;
        sum.to = high;
        sum.seconds.resize(edge.seconds.size(), 0.0);
        const std::size_t columns = problem.nodes[at(edge.to)].size(), highCount = problem.nodes[at(high)].size();
        for (std::size_t i = 0; i < edge.seconds.size(); ++i) {
            const std::size_t row = i / columns, column = i % columns;
            sum.seconds[edge.from == low ? i : column * highCount + row] += edge.seconds[i];
        }
    }
    std::vector<PairwiseEdge> edges;
    for (auto& [ends, edge] : merged)
        edges.push_back(std::move(edge));
    return edges;
}

} // namespace lathe::graph::plan
