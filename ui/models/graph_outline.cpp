#include "ui/models/graph_outline.h"

#include "ui/models/texts.h"

#include <QStringList>
#include <queue>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

// How the tree is made. Nodes of one fused function become a unit; units are put in one topological order. At a
// boundary of that order where at most one tensor is alive the network can be cut: what lies between two cuts is a
// block (a residual block, an inception module, or a single unit of a plain chain). Equal blocks in a row become a
// repeat. A level that is still too long is cut into parts of equal length, again and again.

namespace lathe::ui {

namespace {

struct Unit
{
    std::vector<int> nodes;
};

/// Units in topological order; empty if the functions' boundaries close a cycle (then nodes are units).
std::vector<Unit> orderedUnits(const session::GraphView& graph, bool byFunction)
{
    const std::size_t n = graph.nodes.size();
    std::vector<std::size_t> unitOf(n);
    std::vector<Unit> units;
    std::map<int, std::size_t> ofFunction;
    for (std::size_t i = 0; i < n; ++i) {
        const int function = byFunction ? graph.nodes[i].subgraph : -1;
        const auto found = function < 0 ? ofFunction.end() : ofFunction.find(function);
        if (found == ofFunction.end()) {
            if (function >= 0)
                ofFunction[function] = units.size();
            unitOf[i] = units.size();
            units.emplace_back();
        } else {
            unitOf[i] = found->second;
        }
        units[unitOf[i]].nodes.push_back(static_cast<int>(i));
    }
    std::vector<std::set<std::size_t>> after(units.size());
    std::vector<int> waits(units.size(), 0);
    for (const session::EdgeView& edge : graph.edges) {
        if (edge.from < 0 || edge.to < 0)
            continue;
        const std::size_t a = unitOf[static_cast<std::size_t>(edge.from)];
        const std::size_t b = unitOf[static_cast<std::size_t>(edge.to)];
        if (a != b && after[a].insert(b).second)
            ++waits[b];
    }
    // The first in the file's order goes first, so that the drawing reads as the model was written.
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t u = 0; u < units.size(); ++u)
        if (waits[u] == 0)
            ready.push(u);
    std::vector<Unit> ordered;
    while (!ready.empty()) {
        const std::size_t u = ready.top();
        ready.pop();
        for (const std::size_t next : after[u])
            if (--waits[next] == 0)
                ready.push(next);
        ordered.push_back(std::move(units[u]));
    }
    return ordered.size() == units.size() ? ordered : std::vector<Unit>();
}

/// boundaries[p]: the network can be cut before unit p.
std::vector<bool> cuts(const session::GraphView& graph, const std::vector<Unit>& units)
{
    std::vector<int> position(graph.nodes.size(), 0);
    for (std::size_t u = 0; u < units.size(); ++u)
        for (const int node : units[u].nodes)
            position[static_cast<std::size_t>(node)] = static_cast<int>(u);
    std::vector<int> last(graph.nodes.size(), -1);
    for (const session::EdgeView& edge : graph.edges)
        if (edge.from >= 0 && edge.to >= 0)
            last[static_cast<std::size_t>(edge.from)] = std::max(last[static_cast<std::size_t>(edge.from)],
                                                                 position[static_cast<std::size_t>(edge.to)]);
    std::vector<int> change(units.size() + 1, 0);
    for (std::size_t node = 0; node < last.size(); ++node) {
        if (last[node] > position[node]) {
            ++change[static_cast<std::size_t>(position[node]) + 1];
            --change[static_cast<std::size_t>(last[node]) + 1];
        }
    }
    std::vector<bool> result(units.size() + 1, true);
    int alive = 0;
    for (std::size_t p = 0; p < units.size(); ++p) {
        alive += change[p];
        result[p] = alive <= 1;
    }
    return result;
}

QString titleOf(const session::GraphView& graph, const std::vector<int>& nodes, bool function)
{
    QStringList names;
    std::map<QString, int> count;
    for (const int node : nodes) {
        const QString op = QString::fromStdString(graph.nodes[static_cast<std::size_t>(node)].op);
        if (count[op]++ == 0 || function)
            names << op;
    }
    if (function)
        return names.size() <= 4 ? names.join(QStringLiteral(" + "))
                                 : names.mid(0, 3).join(QStringLiteral(" + ")) + QStringLiteral(" + …");
    std::stable_sort(names.begin(), names.end(),
                     [&](const QString& a, const QString& b) { return count[a] > count[b]; });
    QStringList parts;
    for (const QString& name : names.mid(0, 3))
        parts << (count[name] == 1 ? name : QStringLiteral("%1 ×%2").arg(name).arg(count[name]));
    return parts.join(QStringLiteral(", ")) + (names.size() > 3 ? QStringLiteral(", …") : QString());
}

std::string signature(const session::GraphView& graph, const std::vector<int>& nodes)
{
    std::string text;
    for (const int node : nodes) {
        const session::NodeView& view = graph.nodes[static_cast<std::size_t>(node)];
        text += view.op;
        for (const auto& tensor : view.outputs)
            for (const auto dim : tensor.shape)
                text += ',' + std::to_string(dim);
        text += ';';
    }
    return text;
}

} // namespace

int GraphOutline::addGroup(GraphGroup::Kind kind, std::vector<GraphItem> items, const session::GraphView& graph)
{
    const int index = static_cast<int>(m_groups.size());
    GraphGroup group;
    group.kind = kind;
    for (const GraphItem item : items) {
        if (isGroup(item)) {
            m_groups[static_cast<std::size_t>(groupOf(item))].parent = index;
            const auto& below = m_groups[static_cast<std::size_t>(groupOf(item))].nodes;
            group.nodes.insert(group.nodes.end(), below.begin(), below.end());
        } else {
            m_nodeParent[static_cast<std::size_t>(item)] = index;
            group.nodes.push_back(item);
        }
    }
    group.title = titleOf(graph, group.nodes, kind == GraphGroup::Kind::Function);
    if (kind == GraphGroup::Kind::Repeat)
        group.title = QStringLiteral("%1 × (%2)")
                          .arg(items.size())
                          .arg(m_groups[static_cast<std::size_t>(groupOf(items.front()))].title);
    if (!group.nodes.empty() && !graph.nodes[static_cast<std::size_t>(group.nodes.back())].outputs.empty())
        group.shape = shapeText(graph.nodes[static_cast<std::size_t>(group.nodes.back())].outputs.front());
    group.items = std::move(items);
    m_groups.push_back(std::move(group));
    return index;
}

std::vector<GraphItem> GraphOutline::shorten(std::vector<GraphItem> items, const session::GraphView& graph)
{
    while (static_cast<int>(items.size()) > kMaxItems) {
        const std::size_t parts = std::min<std::size_t>(kMaxItems / 4,
                                                        (items.size() + kMaxItems / 4 - 1) / (kMaxItems / 4));
        std::vector<GraphItem> shorter;
        for (std::size_t p = 0; p < parts; ++p) {
            const auto first = items.begin() + static_cast<std::ptrdiff_t>(items.size() * p / parts);
            const auto last = items.begin() + static_cast<std::ptrdiff_t>(items.size() * (p + 1) / parts);
            shorter.push_back(groupItem(addGroup(GraphGroup::Kind::Part, shorten({first, last}, graph), graph)));
        }
        items = std::move(shorter);
    }
    return items;
}

GraphOutline::GraphOutline(const session::GraphView& graph)
{
    m_nodeParent.assign(graph.nodes.size(), 0);
    m_groups.emplace_back(); // the root, filled at the end
    std::vector<Unit> units = orderedUnits(graph, true);
    if (units.empty())
        units = orderedUnits(graph, false);
    const std::vector<bool> cut = cuts(graph, units);

    struct Segment
    {
        GraphItem item = 0;
        std::string signature; ///< empty for a single unit: chains are not folded
    };
    std::vector<Segment> segments;
    std::size_t u = 0;
    while (u < units.size()) {
        std::vector<GraphItem> items;
        std::vector<int> nodes;
        do {
            nodes.insert(nodes.end(), units[u].nodes.begin(), units[u].nodes.end());
            items.push_back(units[u].nodes.size() == 1
                                ? units[u].nodes.front()
                                : groupItem(addGroup(GraphGroup::Kind::Function,
                                                     {units[u].nodes.begin(), units[u].nodes.end()}, graph)));
            ++u;
        } while (u < units.size() && !cut[u]);
        if (items.size() == 1)
            segments.push_back({items.front(), {}});
        else
            segments.push_back({groupItem(addGroup(GraphGroup::Kind::Block, shorten(std::move(items), graph), graph)),
                                signature(graph, nodes)});
    }
    std::vector<GraphItem> top;
    for (std::size_t s = 0; s < segments.size();) {
        std::vector<GraphItem> same{segments[s].item};
        while (!segments[s].signature.empty() && s + same.size() < segments.size()
               && segments[s + same.size()].signature == segments[s].signature)
            same.push_back(segments[s + same.size()].item);
        s += same.size();
        top.push_back(same.size() == 1
                          ? same.front()
                          : groupItem(addGroup(GraphGroup::Kind::Repeat, shorten(std::move(same), graph), graph)));
    }
    top = shorten(std::move(top), graph);
    const int root = addGroup(GraphGroup::Kind::Root, std::move(top), graph);
    // The root's index is 0: what was added last moves there.
    m_groups[0] = std::move(m_groups[static_cast<std::size_t>(root)]);
    m_groups.pop_back();
    m_groups[0].parent = -1;
    for (const GraphItem item : m_groups[0].items) {
        if (isGroup(item))
            m_groups[static_cast<std::size_t>(groupOf(item))].parent = 0;
        else
            m_nodeParent[static_cast<std::size_t>(item)] = 0;
    }
}

int GraphOutline::parentOf(GraphItem item) const
{
    return isGroup(item) ? group(groupOf(item)).parent : m_nodeParent[static_cast<std::size_t>(item)];
}

std::vector<int> GraphOutline::path(int node) const
{
    std::vector<int> groups;
    for (int g = parentOf(node); g > 0; g = group(g).parent)
        groups.push_back(g);
    std::reverse(groups.begin(), groups.end());
    return groups;
}

VisibleGraph visibleGraph(const session::GraphView& graph, const GraphOutline& outline, const std::set<int>& unfolded)
{
    VisibleGraph visible;
    visible.place.assign(graph.nodes.size(), -1);
    if (outline.groups().empty())
        return visible;
    const auto walk = [&](const auto& self, int group) -> void {
        const std::size_t frame = visible.frames.size();
        const int first = static_cast<int>(visible.items.size());
        if (group != 0)
            visible.frames.push_back({group, first, first});
        for (const GraphItem item : outline.group(group).items) {
            if (isGroup(item) && unfolded.contains(groupOf(item))) {
                self(self, groupOf(item));
                continue;
            }
            const int at = static_cast<int>(visible.items.size());
            visible.items.push_back(item);
            if (isGroup(item))
                for (const int node : outline.group(groupOf(item)).nodes)
                    visible.place[static_cast<std::size_t>(node)] = at;
            else
                visible.place[static_cast<std::size_t>(item)] = at;
        }
        if (group != 0)
            visible.frames[frame].last = static_cast<int>(visible.items.size()) - 1;
    };
    walk(walk, 0);
    std::erase_if(visible.frames, [](const VisibleGraph::Frame& frame) { return frame.first == frame.last; });
    for (const session::EdgeView& edge : graph.edges) {
        if (edge.from < 0 || edge.to < 0)
            continue;
        const int a = visible.place[static_cast<std::size_t>(edge.from)];
        const int b = visible.place[static_cast<std::size_t>(edge.to)];
        if (a != b)
            visible.edges.emplace_back(a, b);
    }
    std::sort(visible.edges.begin(), visible.edges.end());
    visible.edges.erase(std::unique(visible.edges.begin(), visible.edges.end()), visible.edges.end());
    return visible;
}

std::set<int> unfoldUpTo(const GraphOutline& outline, int limit, PartOfLevel part)
{
    std::set<int> unfolded;
    if (outline.groups().empty())
        return unfolded;
    int seen = static_cast<int>(outline.group(0).items.size());
    const auto gain = [&outline](int group) { return static_cast<int>(outline.group(group).items.size()) - 1; };
    std::vector<int> level{0};
    while (!level.empty()) {
        std::vector<int> next;
        int more = 0;
        for (const int g : level)
            for (const GraphItem item : outline.group(g).items)
                if (isGroup(item)) {
                    next.push_back(groupOf(item));
                    more += gain(groupOf(item));
                }
        if (seen + more > limit && part == PartOfLevel::None)
            break;
        std::erase_if(next, [&](int g) {
            if (seen + gain(g) > limit)
                return true;
            seen += gain(g);
            return false;
        });
        unfolded.insert(next.begin(), next.end());
        level = std::move(next);
    }
    return unfolded;
}

} // namespace lathe::ui
