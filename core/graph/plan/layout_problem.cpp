#include "core/graph/plan/layout_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace lathe::graph::plan {
namespace {

constexpr double kForbidden = std::numeric_limits<double>::infinity();

/// What cannot be done stays so where it is never run.
double timesRuns(double seconds, std::int64_t runs)
{
    return std::isinf(seconds) ? seconds : seconds * static_cast<double>(runs);
}

template<typename T>
const T& of(const std::vector<T>& all, std::int32_t index)
{
    return all[static_cast<std::size_t>(index)];
}

/// Candidates of an end of an edge; a boundary is one.
std::int32_t countOf(const NodeCandidates& candidates, std::int32_t node)
{
    return node < 0 ? 1 : static_cast<std::int32_t>(of(candidates, node).size());
}

/// The layout of a join whose leading input comes in this one.
Layout joinedLayout(const LayoutNode& node, const Layout& leading)
{
    const std::int64_t block = leading.blockOf('C');
    const bool divides = std::all_of(node.joinedChannels.begin(), node.joinedChannels.end(),
                                     [&](std::int64_t channels) { return channels % block == 0; });
    return divides ? leading : Layout::plain(node.order);
}

/// Nothing if no conversion is needed.
std::optional<Conversion> conversionOn(const LayoutEdge& edge, const EdgeLayouts& layouts)
{
    if (layouts.written == layouts.read)
        return std::nullopt;
    return Conversion{edge.shape, edge.order, edge.dtype, layouts.written, layouts.read};
}

/// Whether the pair breaks the rule that a node of several inputs works in the layout of its leading one.
bool breaksLead(const LayoutGraph& graph, std::size_t edge, const EdgeLayouts& layouts)
{
    const std::int32_t reader = graph.edges[edge].to;
    return reader >= 0 && of(graph.nodes, reader).leader == static_cast<std::int32_t>(edge)
           && joinedLayout(of(graph.nodes, reader), layouts.written) != layouts.read;
}

/// Calls visit(edge, place in its matrix, layouts) for all pairs that are allowed.
template<typename Visit>
void forAllPairs(const LayoutGraph& graph, const NodeCandidates& candidates, Visit visit)
{
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const LayoutEdge& edge = graph.edges[e];
        const std::int32_t rows = countOf(candidates, edge.from), columns = countOf(candidates, edge.to);
        for (std::int32_t i = 0; i < rows; ++i) {
            for (std::int32_t j = 0; j < columns; ++j) {
                const EdgeLayouts layouts = layoutsOf(candidates, edge, i, j);
                if (!breaksLead(graph, e, layouts))
                    visit(e,
                          static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j),
                          layouts);
            }
        }
    }
}

Result<> checkCandidates(const LayoutNode& node, const std::vector<LayoutCandidate>& candidates)
{
    for (const LayoutCandidate& candidate : candidates) {
        if (!candidate.input.covers(node.order) || !candidate.output.covers(node.order) || !(candidate.seconds >= 0))
            return makeError(Errc::InvalidArgument,
                             fmt::format("{}: candidate '{}' from {} to {} in {} s does not fit a tensor of {}",
                                         node.name, candidate.id, candidate.input.text(), candidate.output.text(),
                                         candidate.seconds, node.order));
    }
    return {};
}

} // namespace

std::vector<LayoutCandidate> fastestByLayouts(std::vector<LayoutCandidate> candidates, std::size_t most)
{
    std::erase_if(candidates, [](const LayoutCandidate& c) { return !std::isfinite(c.seconds); });
    std::stable_sort(candidates.begin(), candidates.end(), [](const LayoutCandidate& a, const LayoutCandidate& b) {
        return std::tie(a.seconds, a.input, a.output) < std::tie(b.seconds, b.input, b.output);
    });
    std::set<std::pair<Layout, Layout>> seen;
    std::erase_if(candidates, [&](const LayoutCandidate& c) { return !seen.emplace(c.input, c.output).second; });
    if (candidates.size() > most)
        candidates.resize(most);
    return candidates;
}

Result<NodeCandidates> candidatesOf(const LayoutGraph& graph, const TaskCandidates& tasks, std::size_t most)
{
    NodeCandidates all;
    for (const LayoutNode& node : graph.nodes) {
        std::vector<LayoutCandidate> own;
        if (node.isTuned()) {
            if (const auto it = tasks.find(node.task); it != tasks.end())
                own = it->second;
            LATHE_TRY(checkCandidates(node, own));
            std::erase_if(own, [&](const LayoutCandidate& c) {
                return node.plainResult && c.output != Layout::plain(node.order);
            });
            own = fastestByLayouts(std::move(own), most);
            if (own.empty())
                return makeError(Errc::NotFound,
                                 fmt::format("{}: there is no record to choose a layout from", node.name));
        } else {
            for (const LayoutCandidate& candidate : of(all, of(graph.edges, node.leader).from)) {
                const Layout layout = joinedLayout(node, candidate.output);
                if (std::none_of(own.begin(), own.end(), [&](const LayoutCandidate& c) { return c.output == layout; }))
                    own.push_back({layout, layout, 0, {}});
            }
        }
        all.push_back(std::move(own));
    }
    return all;
}

std::vector<Conversion> conversionsOf(const LayoutGraph& graph, const NodeCandidates& candidates)
{
    std::set<Conversion> conversions;
    forAllPairs(graph, candidates, [&](std::size_t e, std::size_t, const EdgeLayouts& layouts) {
        if (std::optional<Conversion> conversion = conversionOn(graph.edges[e], layouts))
            conversions.insert(*std::move(conversion));
    });
    return {conversions.begin(), conversions.end()};
}

EdgeLayouts layoutsOf(const NodeCandidates& candidates, const LayoutEdge& edge, std::int32_t from, std::int32_t to)
{
    EdgeLayouts layouts{Layout::plain(edge.order), Layout::plain(edge.order)};
    if (edge.from >= 0)
        layouts.written = of(of(candidates, edge.from), from).output;
    if (edge.to >= 0 && edge.reads == Reads::Data)
        layouts.read = of(of(candidates, edge.to), to).input;
    if (edge.to >= 0 && edge.reads == Reads::Result)
        layouts.read = of(of(candidates, edge.to), to).output;
    return layouts;
}

Result<LayoutProblem> makeLayoutProblem(LayoutGraph graph, NodeCandidates candidates, const ConversionCost& cost)
{
    ConversionTable known;
    for (const Conversion& conversion : conversionsOf(graph, candidates)) {
        const double seconds = cost(conversion);
        if (!(seconds >= 0))
            return makeError(std::isnan(seconds) ? Errc::NotFound : Errc::InvalidArgument,
                             fmt::format("the conversion of {} costs {} s", textOf(conversion), seconds));
        known[conversion] = seconds;
    }
    LayoutProblem problem;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        std::vector<double>& costs = problem.pairwise.nodes.emplace_back();
        for (const LayoutCandidate& candidate : candidates[n])
            costs.push_back(timesRuns(candidate.seconds, graph.nodes[n].runs));
    }
    for (const LayoutEdge& edge : graph.edges)
        problem.edgeSeconds.emplace_back(static_cast<std::size_t>(countOf(candidates, edge.from))
                                             * static_cast<std::size_t>(countOf(candidates, edge.to)),
                                         kForbidden);
    forAllPairs(graph, candidates, [&](std::size_t e, std::size_t place, const EdgeLayouts& layouts) {
        const std::optional<Conversion> conversion = conversionOn(graph.edges[e], layouts);
        problem.edgeSeconds[e][place] = conversion ? timesRuns(known[*conversion], graph.edges[e].runs) : 0;
    });
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const LayoutEdge& edge = graph.edges[e];
        const std::vector<double>& seconds = problem.edgeSeconds[e];
        if (edge.from >= 0 && edge.to >= 0) {
            problem.pairwise.edges.push_back({edge.from, edge.to, seconds});
            continue;
        }
        std::vector<double>& end = problem.pairwise.nodes[static_cast<std::size_t>(std::max(edge.from, edge.to))];
        for (std::size_t c = 0; c < end.size(); ++c)
            end[c] += seconds[c];
    }
    problem.graph = std::move(graph);
    problem.candidates = std::move(candidates);
    return problem;
}

} // namespace lathe::graph::plan
