#include "core/graph/plan/layout_graph.h"

#include "core/graph/op_traits.h"

#include <algorithm>
#include <optional>
#include <set>

namespace lathe::graph::plan {
namespace {

bool isConvolution(const Node& node)
{
    return traitsOf(node).layout == LayoutRule::Convolution;
}

/// Walks the subgraphs in topological order and remembers of every value which node's layout it has.
class GraphReducer
{
public:
    GraphReducer(const Graph& graph, const Partition& partition, const LayoutGraphOptions& options)
        : m_graph(graph)
        , m_partition(partition)
        , m_options(options)
        , m_writers(graph.values.size(), kBoundary)
    {
    }

    LayoutGraph run()
    {
        for (std::size_t s = 0; s < m_partition.subgraphs.size(); ++s)
            visit(static_cast<std::int32_t>(s));
        for (const ValueId result : m_graph.results())
            readAtBoundary(result, -1, 1);
        return std::move(m_result);
    }

private:
    static constexpr std::int32_t kBoundary = -1;

    const Subgraph& subgraph(std::int32_t index) const
    {
        return m_partition.subgraphs[static_cast<std::size_t>(index)];
    }
    std::int32_t& writerOf(ValueId id) { return m_writers[static_cast<std::size_t>(id.value)]; }
    const LayoutNode& node(std::int32_t index) const { return m_result.nodes[static_cast<std::size_t>(index)]; }

    void visit(std::int32_t index)
    {
        const Subgraph& group = subgraph(index);
        if (const std::optional<NodeId> anchor = anchorOf(group)) {
            if (GroupFlow flow = flowOf(m_graph, group, *anchor); !flow.order.empty())
                return addTuned(index, flow);
        } else if (const std::vector<ValueId> inputs = operands(group); inputs.size() == 1) {
            if (const std::int32_t writer = writerOf(inputs.front());
                writer != kBoundary && passes(group, node(writer).order))
                return write(group, writer); // looked through
        } else if (inputs.size() > 1) {
            if (const std::int32_t leading = leaderAmong(group, inputs); leading >= 0)
                return addJoin(index, inputs, leading);
        }
        for (const ValueId input : operands(group))
            readAtBoundary(input, index, group.runs);
    }

    std::optional<NodeId> anchorOf(const Subgraph& group) const
    {
        const auto isTarget = m_options.isTarget ? m_options.isTarget : isConvolution;
        const auto it = std::find_if(group.nodes.begin(), group.nodes.end(),
                                     [&](NodeId id) { return isTarget(m_graph.node(id)); });
        return group.task >= 0 && it != group.nodes.end() ? std::optional(*it) : std::nullopt;
    }

    /// Inputs that are no constants.
    std::vector<ValueId> operands(const Subgraph& group) const
    {
        std::vector<ValueId> inputs;
        std::copy_if(group.inputs.begin(), group.inputs.end(), std::back_inserter(inputs),
                     [&](ValueId id) { return !m_graph.value(id).constant; });
        return inputs;
    }

    bool passes(const Subgraph& group, std::string_view order) const
    {
        return std::all_of(group.nodes.begin(), group.nodes.end(),
                           [&](NodeId id) { return passesLayouts(m_graph, m_graph.node(id), order); });
    }

    /// The first input that does not come from a boundary, if the group can work in its layout; else -1.
    int leaderAmong(const Subgraph& group, const std::vector<ValueId>& inputs)
    {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::int32_t writer = writerOf(inputs[i]);
            if (writer == kBoundary)
                continue;
            const std::string& order = node(writer).order;
            const bool alike = std::all_of(inputs.begin(), inputs.end(), [&](ValueId other) {
                return writerOf(other) == kBoundary || node(writerOf(other)).order == order;
            });
            return alike && passes(group, order) ? static_cast<int>(i) : -1;
        }
        return -1;
    }

    std::int32_t add(LayoutNode made, std::int32_t index)
    {
        const Subgraph& group = subgraph(index);
        made.subgraph = index;
        made.name = group.name;
        made.runs = group.runs;
        m_result.nodes.push_back(std::move(made));
        const std::int32_t self = static_cast<std::int32_t>(m_result.nodes.size() - 1);
        write(group, self);
        return self;
    }

    void write(const Subgraph& group, std::int32_t writer)
    {
        for (const ValueId output : group.outputs)
            writerOf(output) = writer;
    }

    void addTuned(std::int32_t index, const GroupFlow& flow)
    {
        LayoutNode made;
        made.task = subgraph(index).task;
        made.order = flow.order;
        made.plainResult = flow.plainResult;
        const std::int32_t self = add(std::move(made), index);
        for (const GroupInput& input : flow.inputs)
            connect(input.value, self, input.reads);
        if (flow.plainResult)
            write(subgraph(index), kBoundary);
    }

    void addJoin(std::int32_t index, const std::vector<ValueId>& inputs, int leading)
    {
        LayoutNode made;
        made.order = node(writerOf(inputs[static_cast<std::size_t>(leading)])).order;
        made.joinedChannels = joinedChannels(m_graph, subgraph(index), made.order);
        const std::size_t rank = made.order.size();
        const std::int32_t self = add(std::move(made), index);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (static_cast<int>(i) == leading)
                m_result.nodes.back().leader = static_cast<std::int32_t>(m_result.edges.size());
            connect(inputs[i], self, m_graph.value(inputs[i]).shape.size() == rank ? Reads::Result : Reads::Plain);
        }
    }

    void connect(ValueId value, std::int32_t reader, Reads reads)
    {
        std::int32_t writer = writerOf(value);
        if (writer != kBoundary && reads != Reads::Plain && node(writer).order != node(reader).order) {
            // The reader calls the dimensions otherwise: they understand one another in the plain order alone.
            readAtBoundary(value, node(reader).subgraph, node(reader).runs);
            writer = kBoundary;
        }
        // Between what a boundary gives and what is read plainly nothing is chosen.
        if (writer == kBoundary && (reads == Reads::Plain || !m_options.boundaries))
            return;
        addEdge(writer, reader, value, node(reader).subgraph, reads, node(reader).runs);
    }

    void readAtBoundary(ValueId value, std::int32_t reader, std::int64_t runs)
    {
        const std::int32_t writer = writerOf(value);
        if (writer != kBoundary && m_options.boundaries && m_plain.insert(value).second)
            addEdge(writer, kBoundary, value, reader, Reads::Plain, runs);
    }

    void addEdge(std::int32_t from, std::int32_t to, ValueId value, std::int32_t reader, Reads reads, std::int64_t runs)
    {
        const Value& tensor = m_graph.value(value);
        m_result.edges.push_back({from, to, value, reader, reads, tensor.shape, tensor.dtype,
                                  node(from != kBoundary ? from : to).order, runs});
    }

    const Graph& m_graph;
    const Partition& m_partition;
    const LayoutGraphOptions& m_options;
    std::vector<std::int32_t> m_writers; ///< by value: the node whose layout it has
    std::set<ValueId> m_plain; ///< what boundaries read
    LayoutGraph m_result;
};

} // namespace

LayoutGraph reduced(const Graph& graph, const Partition& partition, const LayoutGraphOptions& options)
{
    return GraphReducer(graph, partition, options).run();
}

} // namespace lathe::graph::plan
