// Operator fusion by post-dominators.
//
// Values flow forward, from a node to its consumers. The immediate post-dominator of a node is the first node that
// every path from it to the outputs goes through: the earliest place where all that was made of its result comes
// together again. If everything between the two may be computed in one kernel, the node, its post-dominator and all on
// the paths between become one group. That finds conv -> add -> relu as well as the diamond of a residual block, and it
// keeps a group convex: nothing outside can lie between two of its nodes.
//
// What may be in between is told by the operators' pattern kinds, in three phases. First the kernels with a large inner
// computation (convolution, dense, pooling ...) take the elementwise work that follows them, and chains of cheap work
// join. Then injective work (reshapes, transposes) joins what is injective. Last, injective producers join a
// concatenation that had itself been joined to injective work. Each group has at most one kernel of the large kind, its
// anchor.
//
// A concatenation is two nodes here, as the reference has it: a tuple that gathers the operands and the operator that
// reads the tuple. Nothing is fused into a tuple before the last phase, so convolutions are never pulled into a
// concatenation.
//
// Nodes are visited in depth-first order from the outputs, arguments left to right. When two convolutions feed one add,
// the one that is visited first takes it.

#include "core/graph/fuse.h"

#include "core/support/check.h"

#include <algorithm>
#include <numeric>

namespace lathe::graph {
namespace {

Pattern stronger(Pattern a, Pattern b)
{
    return std::max(a, b);
}

struct Edge
{
    std::int32_t to = -1;
    Pattern pattern = Pattern::Opaque;
};

struct FlowNode
{
    NodeId node; ///< invalid for a tuple
    Pattern pattern = Pattern::Opaque;
    std::vector<Edge> consumers;
    bool leaves = false; ///< a graph output, or read in another region: nothing post-dominates it
};

/// The graph seen forward, in depth-first order.
struct Flow
{
    std::vector<FlowNode> nodes;
    std::vector<std::int32_t> ofNode; ///< by NodeId
};

bool sameShape(const Graph& graph, ValueId a, ValueId b)
{
    return graph.value(a).shape == graph.value(b).shape;
}

Flow buildFlow(const Graph& graph)
{
    Flow flow;
    flow.ofNode.assign(graph.nodes.size(), -1);
    std::vector<std::int32_t> tupleOf(graph.nodes.size(), -1);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const Pattern pattern = patternOf(node);
        if (traitsOf(node).takesTuple && pattern == Pattern::Injective) {
            tupleOf[i] = static_cast<std::int32_t>(flow.nodes.size());
            flow.nodes.push_back({NodeId(), Pattern::Tuple, {}, false});
        }
        flow.ofNode[i] = static_cast<std::int32_t>(flow.nodes.size());
        flow.nodes.push_back({NodeId(static_cast<std::int64_t>(i)), pattern, {}, false});
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const std::int32_t self = flow.ofNode[i];
        const std::int32_t reader = tupleOf[i] >= 0 ? tupleOf[i] : self;
        const Pattern readerPattern = tupleOf[i] >= 0 ? Pattern::Injective
                                                      : flow.nodes[static_cast<std::size_t>(self)].pattern;
        for (const ValueId input : node.inputs) {
            if (!input.valid() || !graph.value(input).producer.valid())
                continue;
            // An argument of the full output shape is read index for index.
            const bool elementwise = readerPattern == Pattern::Broadcast
                                     && sameShape(graph, input, node.outputs.front());
            const NodeId source = graph.value(input).producer;
            FlowNode& producer =
                flow.nodes[static_cast<std::size_t>(flow.ofNode[static_cast<std::size_t>(source.value)])];
            producer.consumers.push_back({reader, elementwise ? Pattern::Elementwise : readerPattern});
            // What another region reads is there before it runs, and as often as its own region runs.
            producer.leaves = producer.leaves || graph.node(source).region != node.region;
        }
        if (tupleOf[i] >= 0)
            flow.nodes[static_cast<std::size_t>(tupleOf[i])].consumers.push_back({self, Pattern::Injective});
    }
    for (const ValueId output : graph.results()) {
        if (const NodeId producer = graph.value(output).producer; producer.valid())
            flow.nodes[static_cast<std::size_t>(flow.ofNode[static_cast<std::size_t>(producer.value)])].leaves = true;
    }
    return flow;
}

struct Dominator
{
    std::int32_t parent = -1; ///< the immediate post-dominator
    std::int32_t depth = 1;
    Pattern pattern = Pattern::Opaque; ///< the strongest edge on the way to it
};

std::int32_t commonAncestor(const std::vector<Dominator>& tree, std::int32_t a, std::int32_t b, Pattern& pattern)
{
    const auto up = [&](std::int32_t& n) {
        const Dominator& d = tree[static_cast<std::size_t>(n)];
        pattern = stronger(pattern, d.pattern);
        n = d.parent;
    };
    while (a != b) {
        if (a < 0 || b < 0)
            return -1;
        const std::int32_t depthA = tree[static_cast<std::size_t>(a)].depth;
        const std::int32_t depthB = tree[static_cast<std::size_t>(b)].depth;
        if (depthA >= depthB)
            up(a);
        if (depthB >= depthA)
            up(b);
    }
    return a;
}

std::vector<Dominator> postDominators(const Flow& flow)
{
    std::vector<Dominator> tree(flow.nodes.size());
    for (std::size_t i = flow.nodes.size(); i-- > 0;) {
        const FlowNode& node = flow.nodes[i];
        Dominator& d = tree[i];
        if (node.leaves || node.consumers.empty())
            continue;
        Pattern pattern = node.consumers.front().pattern;
        std::int32_t parent = node.consumers.front().to;
        for (std::size_t k = 1; k < node.consumers.size(); ++k) {
            parent = commonAncestor(tree, parent, node.consumers[k].to, pattern);
            pattern = stronger(pattern, node.consumers[k].pattern);
        }
        d.parent = parent;
        d.pattern = pattern;
        d.depth = parent >= 0 ? tree[static_cast<std::size_t>(parent)].depth + 1 : 1;
    }
    return tree;
}

class Fuser
{
public:
    Fuser(const Flow& flow, const FuseOptions& options)
        : m_flow(flow)
        , m_options(options)
        , m_tree(postDominators(flow))
        , m_parent(flow.nodes.size())
        , m_size(flow.nodes.size(), 1)
        , m_hasAnchor(flow.nodes.size())
        , m_visited(flow.nodes.size(), 0)
    {
        std::iota(m_parent.begin(), m_parent.end(), 0);
        for (std::size_t i = 0; i < flow.nodes.size(); ++i) {
            m_pattern.push_back(flow.nodes[i].pattern);
            m_hasAnchor[i] = flow.nodes[i].pattern == Pattern::OutElementwiseFusable;
        }
    }

    void run()
    {
        for (int phase = 0; phase < 3; ++phase) {
            for (std::size_t i = 0; i < m_flow.nodes.size(); ++i)
                visit(static_cast<std::int32_t>(i), phase);
        }
    }

    std::int32_t root(std::int32_t n)
    {
        while (m_parent[static_cast<std::size_t>(n)] != n) {
            m_parent[static_cast<std::size_t>(n)] =
                m_parent[static_cast<std::size_t>(m_parent[static_cast<std::size_t>(n)])];
            n = m_parent[static_cast<std::size_t>(n)];
        }
        return n;
    }

private:
    Pattern pattern(std::int32_t n) const { return m_pattern[static_cast<std::size_t>(n)]; }
    Pattern groupPattern(std::int32_t n) { return pattern(root(n)); }

    void visit(std::int32_t n, int phase)
    {
        const std::int32_t sink = m_tree[static_cast<std::size_t>(n)].parent;
        if (pattern(n) == Pattern::Opaque || sink < 0 || countMerged(n, sink) > m_options.maxNodes)
            return;
        const auto onlyInjective = [](Pattern p, bool) { return p <= Pattern::Injective; };
        if (phase == 2) {
            if (pattern(n) <= Pattern::Injective && pattern(sink) == Pattern::Tuple
                && groupPattern(sink) <= Pattern::Injective && pathsAllow(n, sink, onlyInjective))
                merge(n, sink);
            return;
        }
        if (root(n) == root(sink) || pattern(sink) == Pattern::Tuple)
            return;

        const Pattern edge = m_tree[static_cast<std::size_t>(n)].pattern;
        if (pattern(n) == Pattern::OutElementwiseFusable) {
            if (phase == 0 && edge == Pattern::Elementwise
                && pathsAllow(n, sink, [](Pattern p, bool) { return p <= Pattern::Broadcast; }))
                merge(n, sink);
        } else if (pattern(n) <= Pattern::Broadcast) {
            // The sink may already belong to a kernel with an anchor; the branches beside it may not.
            const auto allowed = [](Pattern p, bool isSink) {
                return p <= Pattern::Injective
                       || (isSink && (p == Pattern::CommReduce || p == Pattern::OutElementwiseFusable));
            };
            if (edge <= Pattern::CommReduce && pathsAllow(n, sink, allowed))
                merge(n, sink);
        } else if (pattern(n) == Pattern::Injective || pattern(n) == Pattern::Tuple) {
            if (phase == 1 && pathsAllow(n, sink, onlyInjective))
                merge(n, sink);
        }
    }

    template<typename F>
    void walk(std::int32_t from, std::int32_t sink, const F& step)
    {
        ++m_stamp;
        std::vector<std::int32_t> stack{from};
        while (!stack.empty()) {
            const std::int32_t n = stack.back();
            stack.pop_back();
            if (m_visited[static_cast<std::size_t>(n)] == m_stamp)
                continue;
            m_visited[static_cast<std::size_t>(n)] = m_stamp;
            if (!step(n) || n == sink)
                continue;
            for (const Edge& edge : m_flow.nodes[static_cast<std::size_t>(n)].consumers)
                stack.push_back(edge.to);
        }
    }

    template<typename F>
    bool pathsAllow(std::int32_t from, std::int32_t sink, const F& allowed)
    {
        bool good = true;
        walk(from, sink, [&](std::int32_t n) {
            if (n != from && !allowed(groupPattern(n), n == sink))
                good = false;
            return good;
        });
        return good;
    }

    std::int32_t countMerged(std::int32_t from, std::int32_t sink)
    {
        // Whole groups are counted, once each.
        std::vector<std::int32_t> roots;
        walk(from, sink, [&](std::int32_t n) {
            roots.push_back(root(n));
            return true;
        });
        std::sort(roots.begin(), roots.end());
        roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
        std::int32_t count = 0;
        for (const std::int32_t r : roots)
            count += m_size[static_cast<std::size_t>(r)];
        return count;
    }

    void merge(std::int32_t from, std::int32_t sink)
    {
        const std::int32_t target = sink;
        walk(from, sink, [&](std::int32_t n) {
            if (n != sink)
                mergeGroups(n, target);
            return true;
        });
    }

    void mergeGroups(std::int32_t child, std::int32_t into)
    {
        child = root(child);
        into = root(into);
        if (child == into)
            return;
        const auto c = static_cast<std::size_t>(child);
        const auto t = static_cast<std::size_t>(into);
        m_size[t] += m_size[c];
        m_parent[c] = into;
        if (m_hasAnchor[c]) {
            LATHE_CHECK(!m_hasAnchor[t]) << "two anchors in one fused group";
            m_hasAnchor[t] = true;
            m_pattern[t] = stronger(m_pattern[t], m_pattern[c]);
        }
    }

    const Flow& m_flow;
    FuseOptions m_options;
    std::vector<Dominator> m_tree;
    std::vector<std::int32_t> m_parent; ///< union-find; the root of a group is its last sink
    std::vector<Pattern> m_pattern;
    std::vector<std::int32_t> m_size;
    std::vector<bool> m_hasAnchor;
    std::vector<std::uint32_t> m_visited;
    std::uint32_t m_stamp = 0;
};

} // namespace

Pattern patternOf(const Node& node)
{
    const OpDef* op = findOperator(node.op);
    if (!op || !op->compute || node.outputs.size() != 1)
        return Pattern::Opaque;
    return op->pattern;
}

std::vector<std::vector<NodeId>> fuse(const Graph& graph, const FuseOptions& options)
{
    const Flow flow = buildFlow(graph);
    Fuser fuser(flow, options);
    if (options.maxNodes > 1)
        fuser.run();

    std::vector<std::int32_t> groupOfRoot(flow.nodes.size(), -1);
    std::vector<std::vector<NodeId>> groups;
    // Nodes are in topological order and a group is complete with its root, the last sink: ordering groups by their
    // last node gives a topological order of the groups.
    std::vector<std::int32_t> lastOfRoot(flow.nodes.size(), -1);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        lastOfRoot[static_cast<std::size_t>(fuser.root(flow.ofNode[i]))] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const auto r = static_cast<std::size_t>(fuser.root(flow.ofNode[i]));
        if (lastOfRoot[r] == static_cast<std::int32_t>(i)) {
            groupOfRoot[r] = static_cast<std::int32_t>(groups.size());
            groups.emplace_back();
        }
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        groups[static_cast<std::size_t>(groupOfRoot[static_cast<std::size_t>(fuser.root(flow.ofNode[i]))])].push_back(
            NodeId(static_cast<std::int64_t>(i)));
    return groups;
}

} // namespace lathe::graph
