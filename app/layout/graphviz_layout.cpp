#include "app/layout/graphviz_layout.h"

#include <gvc.h>

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <ostream>

// The frames become clusters, which dot keeps apart and draws no foreign item into.

namespace lathe::layout {

namespace {

constexpr double kPointsPerInch = 72;

/// Graphviz takes its texts as char*, and changes none of those given here.
char* text(const char* constant)
{
    return const_cast<char*>(constant);
}

void set(void* object, const char* name, double value)
{
    agsafeset(object, text(name), std::to_string(value).data(), text(""));
}

void set(void* object, const char* name, const char* value)
{
    agsafeset(object, text(name), text(value), text(""));
}

/// An item stands in the innermost frame around it.
Agraph_t* innermost(Agraph_t* root, const GraphText& graph, const std::vector<Agraph_t*>& frames, int first, int last,
                    std::size_t before)
{
    for (std::size_t f = before; f-- > 0;)
        if (graph.frames[f].first <= first && last <= graph.frames[f].last)
            return frames[f];
    return root;
}

} // namespace

std::string layOut(const GraphText& graph, std::ostream& out)
{
    GVC_t* context = gvContext();
    Agraph_t* root = agopen(text("G"), Agdirected, nullptr);
    set(root, "nodesep", 0.3);
    set(root, "ranksep", 0.36);
    // The searches for ranks and places are bounded: what they would gain beyond that is not seen.
    set(root, "nslimit", 2);
    set(root, "nslimit1", 2);
    set(root, "mclimit", 1);
    std::vector<Agraph_t*> frames;
    for (std::size_t f = 0; f < graph.frames.size(); ++f) {
        Agraph_t* around = innermost(root, graph, frames, graph.frames[f].first, graph.frames[f].last, f);
        frames.push_back(agsubg(around, ("cluster" + std::to_string(f)).data(), 1));
        set(frames.back(), "margin", 8);
    }
    std::vector<Agnode_t*> nodes;
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
        const int at = static_cast<int>(i);
        nodes.push_back(agnode(innermost(root, graph, frames, at, at, frames.size()), std::to_string(i).data(), 1));
        set(nodes.back(), "shape", "box");
        set(nodes.back(), "label", "");
        set(nodes.back(), "fixedsize", "true");
        set(nodes.back(), "width", graph.items[i].width / kPointsPerInch);
        set(nodes.back(), "height", graph.items[i].height / kPointsPerInch);
    }
    // Where one item alone follows another, the edge between them is drawn straight before all others: the tensor of a
    // branch goes straight down. Next come the ends of branches; a tensor past everything bends.
    constexpr double kStraight = 64;
    constexpr double kEnd = 8;
    std::vector<int> leaving(graph.items.size(), 0);
    std::vector<int> arriving(graph.items.size(), 0);
    for (const GraphText::Edge& edge : graph.edges) {
        ++leaving[static_cast<std::size_t>(edge.from)];
        ++arriving[static_cast<std::size_t>(edge.to)];
    }
    std::vector<Agedge_t*> edges;
    for (const GraphText::Edge& edge : graph.edges) {
        edges.push_back(edge.from == edge.to ? nullptr
                                             : agedge(root, nodes[static_cast<std::size_t>(edge.from)],
                                                      nodes[static_cast<std::size_t>(edge.to)], nullptr, 1));
        if (edges.back() == nullptr)
            continue;
        set(edges.back(), "dir", "none");
        const bool leavesAlone = leaving[static_cast<std::size_t>(edge.from)] == 1;
        const bool arrivesAlone = arriving[static_cast<std::size_t>(edge.to)] == 1;
        if (leavesAlone || arrivesAlone)
            set(edges.back(), "weight", leavesAlone && arrivesAlone ? kStraight : kEnd);
        set(edges.back(), "tailport", "s");
        set(edges.back(), "headport", "n");
    }
    if (gvLayout(context, root, "dot") != 0)
        return std::string("Graphviz could not lay the graph out: ")
               + (aglasterr() != nullptr ? aglasterr() : "it does not say why");
    const boxf all = GD_bb(root);
    out << std::fixed << std::setprecision(1);
    const auto point = [&](double x, double y) { out << ' ' << x - all.LL.x << ' ' << all.UR.y - y; };
    out << "lathe-layout 1\nsize " << all.UR.x - all.LL.x << ' ' << all.UR.y - all.LL.y << '\n';
    for (Agnode_t* node : nodes) {
        out << "item";
        point(ND_coord(node).x, ND_coord(node).y);
        out << '\n';
    }
    for (Agedge_t* edge : edges) {
        out << "edge";
        const splines* drawn = edge != nullptr ? ED_spl(edge) : nullptr;
        if (drawn != nullptr && drawn->size > 0)
            for (int p = 0; p < drawn->list[0].size; ++p)
                point(drawn->list[0].list[p].x, drawn->list[0].list[p].y);
        out << '\n';
    }
    for (Agraph_t* frame : frames) {
        out << "frame";
        point(GD_bb(frame).LL.x, GD_bb(frame).UR.y);
        point(GD_bb(frame).UR.x, GD_bb(frame).LL.y);
        out << '\n';
    }
    out << "end\n";
    return {}; // what Graphviz holds is given back by the end of the process
}

} // namespace lathe::layout
