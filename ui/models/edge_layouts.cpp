#include "ui/models/edge_layouts.h"

#include "ui/models/layout_tensor_model.h"
#include "ui/models/texts.h"

#include <QStringList>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace lathe::ui {

namespace {

/// Which tensor of a view lies on an edge.
class EdgeTensors
{
public:
    EdgeTensors(const session::GraphView& graph, const session::LayoutsView& view)
        : m_graph(graph)
        , m_view(view)
    {
        for (std::size_t f = 0; f < view.functions.size(); ++f)
            m_functions.emplace(view.functions[f].subgraph, static_cast<std::int32_t>(f));
        for (std::size_t t = 0; t < view.tensors.size(); ++t)
            m_named[view.tensors[t].name].push_back(static_cast<std::int32_t>(t));
        findPassing();
    }

    /// -1: none.
    std::int32_t on(const session::EdgeView& edge) const
    {
        const auto named = m_named.find(edge.tensor.name);
        if (edge.from < 0 || edge.to < 0 || named == m_named.end())
            return -1;
        const std::int32_t source = subgraphOf(edge.from), target = subgraphOf(edge.to);
        if (source == target && source >= 0)
            return -1;
        const std::int32_t writer = functionOf(source), reader = functionOf(target);
        std::int32_t best = -1;
        int bestRank = -1;
        for (const std::int32_t t : named->second) {
            const session::LayoutTensor& tensor = m_view.tensors[static_cast<std::size_t>(t)];
            const bool fits = (tensor.from == writer || tensor.from < 0 || writer < 0)
                              && (tensor.to < 0 ? !m_passing.contains(target) : tensor.to == reader);
            const int rank = (tensor.to == reader ? 2 : 0) + (tensor.from == writer ? 1 : 0);
            if (fits && rank > bestRank) {
                best = t;
                bestRank = rank;
            }
        }
        return best;
    }

private:
    std::int32_t subgraphOf(std::int32_t node) const { return m_graph.nodes[static_cast<std::size_t>(node)].subgraph; }
    std::int32_t functionOf(std::int32_t subgraph) const
    {
        const auto found = m_functions.find(subgraph);
        return found == m_functions.end() || subgraph < 0 ? -1 : found->second;
    }

    /// What is no function of the view either works in one order only, or passes the layout of its input on: a tensor
    /// that a function writes then comes out of it.
    void findPassing()
    {
        const auto comesOut = [this](const session::TensorView& output) {
            const auto named = m_named.find(output.name);
            return named != m_named.end() && std::ranges::any_of(named->second, [this](std::int32_t t) {
                       return m_view.tensors[static_cast<std::size_t>(t)].from >= 0;
                   });
        };
        for (const session::NodeView& node : m_graph.nodes)
            if (node.subgraph >= 0 && functionOf(node.subgraph) < 0 && std::ranges::any_of(node.outputs, comesOut))
                m_passing.insert(node.subgraph);
        for (auto edge = m_graph.edges.rbegin(); edge != m_graph.edges.rend(); ++edge) // several in a row
            if (edge->from >= 0 && edge->to >= 0 && m_passing.contains(subgraphOf(edge->to))
                && subgraphOf(edge->from) >= 0 && functionOf(subgraphOf(edge->from)) < 0)
                m_passing.insert(subgraphOf(edge->from));
    }

    const session::GraphView& m_graph;
    const session::LayoutsView& m_view;
    std::unordered_map<std::int32_t, std::int32_t> m_functions; ///< by subgraph
    std::unordered_map<std::string_view, std::vector<std::int32_t>> m_named; ///< tensors
    std::unordered_set<std::int32_t> m_passing; ///< subgraphs that pass layouts on
};

} // namespace

std::vector<EdgeLayout> EdgeLayouts::of(const session::GraphView& graph, const session::LayoutsView& view,
                                        const std::vector<std::int32_t>& changed)
{
    const EdgeTensors tensors(graph, view);
    const std::unordered_set<std::int32_t> changes(changed.begin(), changed.end());
    std::vector<EdgeLayout> made;
    for (const session::EdgeView& edge : graph.edges) {
        const std::int32_t t = tensors.on(edge);
        if (t < 0)
            continue;
        const session::LayoutTensor& tensor = view.tensors[static_cast<std::size_t>(t)];
        EdgeLayout layout{edge.from, edge.to, t, {}, {}, tensor.written != tensor.read, changes.contains(t)};
        const QString written = QString::fromStdString(tensor.written), read = QString::fromStdString(tensor.read);
        layout.text = layout.converts ? QStringLiteral("%1 → %2").arg(written, read) : written;
        QStringList rows{
            QStringLiteral("<b>%1</b> %2 %3")
                .arg(QString::fromStdString(tensor.name).toHtmlEscaped(), QString::fromStdString(tensor.dtype),
                     shapeText({{}, {}, tensor.shape})),
            QStringLiteral("%1 → %2").arg(LayoutTensorModel::functionName(view, tensor.from).toHtmlEscaped(),
                                          LayoutTensorModel::functionName(view, tensor.to).toHtmlEscaped())};
        if (!layout.converts)
            rows << written;
        rows << LayoutTensorModel::conversionText(tensor);
        if (layout.changes) {
            layout.text += QStringLiteral(" *");
            rows << tr("* Changed by the layouts that are tried");
        }
        layout.tip = rows.join(QStringLiteral("<br>"));
        made.push_back(std::move(layout));
    }
    return made;
}

} // namespace lathe::ui
