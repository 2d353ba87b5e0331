#include "core/graph/fuse_rows.h"

#include "core/compute/analysis.h"
#include "core/graph/fuse.h"
#include "core/graph/operator.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <set>

namespace lathe::graph {
namespace {

using compute::realDimensions;
using Shape = std::vector<std::int64_t>;

constexpr std::int64_t kLongest = 1 << 16; ///< elements of a row: more do not stay in a core's cache
constexpr std::int64_t kFewRows = 16; ///< fewer give threads too little to share, where there is much to do
constexpr std::int64_t kSmall = 1 << 14; ///< elements that one thread may as well do alone
constexpr std::size_t kMaxNodes = 256; ///< as FuseOptions

class RowFuser
{
public:
    RowFuser(const Graph& graph, std::vector<std::vector<NodeId>> groups)
        : m_graph(graph)
        , m_groups(std::move(groups))
        , m_consumers(graph.consumers())
        , m_groupOf(graph.nodes.size())
    {
        for (std::size_t g = 0; g < m_groups.size(); ++g)
            for (const NodeId id : m_groups[g])
                m_groupOf[static_cast<std::size_t>(id.value)] = g;
    }

    std::vector<std::vector<NodeId>> run()
    {
        for (std::size_t end = m_groups.size(); end-- > 0;)
            if (!m_groups[end].empty())
                join(end);
        std::erase_if(m_groups, [](const std::vector<NodeId>& nodes) { return nodes.empty(); });
        return std::move(m_groups);
    }

private:
    const Value& resultOf(NodeId id) const { return m_graph.value(m_graph.node(id).outputs.front()); }

    /// What is worked on: the rows of a group's result.
    struct Rows
    {
        Shape rows; ///< without dimensions of one element
        std::int64_t length = 0;
    };

    static bool isReduction(const Node& node) { return patternOf(node) == Pattern::CommReduce; }

    bool fits(NodeId id, const Rows& rows) const
    {
        const Node& node = m_graph.node(id);
        if (node.outputs.size() != 1 || !isFloat(resultOf(id).dtype))
            return false;
        Shape elements = rows.rows;
        elements.push_back(rows.length);
        const Shape result = realDimensions(resultOf(id).shape);
        if (isReduction(node)) {
            const Value& data = m_graph.value(node.inputs[0]);
            const auto axes = node.attrs.find("axes");
            const auto* list = axes != node.attrs.end() ? std::get_if<Shape>(&axes->second) : nullptr;
            const auto rank = static_cast<std::int64_t>(data.shape.size());
            const bool last = list != nullptr && list->size() == 1
                              && (list->front() == -1 || list->front() == rank - 1);
            return last && result == rows.rows && realDimensions(data.shape) == elements
                   && data.shape.back() == rows.length;
        }
        if (result != rows.rows && (result != elements || resultOf(id).shape.back() != rows.length))
            return false;
        return patternOf(node) <= Pattern::Broadcast
               || (costOf(node) == Cost::Free && realDimensions(m_graph.value(node.inputs[0]).shape) == result);
    }

    void join(std::size_t end)
    {
        const Value& result = resultOf(m_groups[end].back());
        if (result.shape.size() < 2 || result.shape.back() < 2 || result.shape.back() > kLongest)
            return;
        const Rows rows{realDimensions(std::span(result.shape).first(result.shape.size() - 1)), result.shape.back()};
        const std::int64_t count = elementCount(rows.rows);
        if (count < kFewRows && count * rows.length > kSmall)
            return;
        const auto allFit = [&](std::size_t g) {
            return std::all_of(m_groups[g].begin(), m_groups[g].end(), [&](NodeId id) { return fits(id, rows); });
        };
        if (!allFit(end))
            return;
        std::set<std::size_t> joined{end};
        std::size_t nodes = m_groups[end].size();
        for (bool grew = true; grew;) {
            grew = false;
            for (const std::size_t g : std::set(joined))
                for (const NodeId id : m_groups[g])
                    for (const ValueId input : m_graph.node(id).inputs) {
                        const NodeId producer = input.valid() ? m_graph.value(input).producer : NodeId();
                        if (!producer.valid())
                            continue;
                        const std::size_t from = m_groupOf[static_cast<std::size_t>(producer.value)];
                        if (joined.contains(from) || m_graph.node(producer).region != m_graph.node(id).region
                            || nodes + m_groups[from].size() > kMaxNodes || !staysInside(from, joined) || !allFit(from))
                            continue;
                        joined.insert(from);
                        nodes += m_groups[from].size();
                        grew = true;
                    }
        }
        const bool reduces = std::any_of(joined.begin(), joined.end(), [&](std::size_t g) {
            return std::any_of(m_groups[g].begin(), m_groups[g].end(),
                               [&](NodeId id) { return isReduction(m_graph.node(id)); });
        });
        if (joined.size() < 2 || !reduces)
            return;
        std::vector<NodeId> all;
        for (const std::size_t g : joined) { // ascending: the end comes last
            all.insert(all.end(), m_groups[g].begin(), m_groups[g].end());
            m_groups[g].clear();
        }
        for (const NodeId id : all)
            m_groupOf[static_cast<std::size_t>(id.value)] = end;
        m_groups[end] = std::move(all);
    }

    /// Whether all that reads the group's results is in the group itself or in `joined`.
    bool staysInside(std::size_t group, const std::set<std::size_t>& joined) const
    {
        return std::all_of(m_groups[group].begin(), m_groups[group].end(), [&](NodeId id) {
            return std::all_of(m_graph.node(id).outputs.begin(), m_graph.node(id).outputs.end(), [&](ValueId output) {
                const auto& readers = m_consumers[static_cast<std::size_t>(output.value)];
                return !m_graph.isResult(output) && std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
                    const std::size_t g = m_groupOf[static_cast<std::size_t>(reader.value)];
                    return g == group || joined.contains(g);
                });
            });
        });
    }

    const Graph& m_graph;
    std::vector<std::vector<NodeId>> m_groups; ///< empty: joined another
    const std::vector<std::vector<NodeId>> m_consumers;
    std::vector<std::size_t> m_groupOf; ///< by node
};

} // namespace

std::vector<std::vector<NodeId>> fuseRows(const Graph& graph, std::vector<std::vector<NodeId>> groups)
{
    return RowFuser(graph, std::move(groups)).run();
}

} // namespace lathe::graph
