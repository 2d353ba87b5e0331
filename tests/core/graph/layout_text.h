#pragma once

#include "core/graph/plan/layout_graph.h"

#include <QString>
#include <QStringList>

namespace lathe::test {

/// A layout graph, a node or an edge a line: "conv NCHW", "a -> b: data of [1, 8, 4, 4]". A node that takes several
/// inputs has an asterisk, and so has the edge that leads it; boundaries have no name.
inline QStringList textOf(const graph::plan::LayoutGraph& layouts)
{
    using graph::plan::Reads;
    const auto nameOf = [&](std::int32_t node) {
        return node < 0 ? QString() : QString::fromStdString(layouts.nodes[static_cast<std::size_t>(node)].name);
    };
    QStringList lines;
    for (const graph::plan::LayoutNode& node : layouts.nodes)
        lines << QString("%1%2 %3%4")
                     .arg(QString::fromStdString(node.name), node.isTuned() ? "" : "*",
                          QString::fromStdString(node.order), node.plainResult ? " plain" : "");
    for (std::size_t e = 0; e < layouts.edges.size(); ++e) {
        const graph::plan::LayoutEdge& edge = layouts.edges[e];
        QStringList shape;
        for (const std::int64_t extent : edge.shape)
            shape << QString::number(extent);
        const bool leads = edge.to >= 0
                           && layouts.nodes[static_cast<std::size_t>(edge.to)].leader == static_cast<int>(e);
        const char* reads = edge.reads == Reads::Data ? "data" : edge.reads == Reads::Result ? "result" : "plain";
        lines << QString("%1 -> %2: %3%4 of [%5]")
                     .arg(nameOf(edge.from), nameOf(edge.to), reads, leads ? "*" : "", shape.join(", "));
    }
    return lines;
}

} // namespace lathe::test
