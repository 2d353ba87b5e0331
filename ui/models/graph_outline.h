#pragma once

#include "core/session/views.h"

#include <QString>

#include <set>
#include <utility>
#include <vector>

namespace lathe::ui {

/// What stands in a drawing of the network: a node (its index) or a folded group (~ its index).
using GraphItem = int;
constexpr bool isGroup(GraphItem item)
{
    return item < 0;
}
constexpr GraphItem groupItem(int group)
{
    return ~group;
}
constexpr int groupOf(GraphItem item)
{
    return ~item;
}

struct GraphGroup
{
    enum class Kind
    {
        Root,
        Function, ///< nodes of one fused function
        Block, ///< what lies between two places where only one tensor is alive
        Repeat, ///< equal blocks one after the other
        Part ///< a stretch of a level that would be too long
    };
    Kind kind = Kind::Root;
    int parent = -1; ///< group, -1: this is the root
    std::vector<GraphItem> items; ///< in the order of the network
    std::vector<int> nodes; ///< all below it
    QString title; ///< "conv2d + add + relu", "conv2d ×3, add ×3"
    QString shape; ///< of what leaves it
};

/// The network as a tree of groups that can be unfolded: parts, repeats, blocks, fused functions, nodes. Every group is
/// a stretch of one topological order, so that no choice of folded groups closes a cycle. No group has over kMaxItems
/// items.
class GraphOutline
{
public:
    static constexpr int kMaxItems = 200;

    GraphOutline() = default;
    explicit GraphOutline(const session::GraphView& graph);

    const std::vector<GraphGroup>& groups() const { return m_groups; } ///< [0] is the root
    const GraphGroup& group(int index) const { return m_groups[static_cast<std::size_t>(index)]; }
    int parentOf(GraphItem item) const;
    /// The groups to unfold, outermost first, for the node to be seen.
    std::vector<int> path(int node) const;

private:
    int addGroup(GraphGroup::Kind kind, std::vector<GraphItem> items, const session::GraphView& graph);
    std::vector<GraphItem> shorten(std::vector<GraphItem> items, const session::GraphView& graph);
    std::vector<GraphGroup> m_groups;
    std::vector<int> m_nodeParent;
};

/// The drawing for a choice of unfolded groups.
struct VisibleGraph
{
    std::vector<GraphItem> items; ///< in the order of the network
    std::vector<std::pair<int, int>> edges; ///< indices into items, each pair once
    std::vector<int> place; ///< node -> index into items
    struct Frame
    {
        int group = 0;
        int first = 0, last = 0; ///< indices into items
    };
    std::vector<Frame> frames; ///< unfolded groups of several items, outer ones first
};

VisibleGraph visibleGraph(const session::GraphView& graph, const GraphOutline& outline, const std::set<int>& unfolded);
/// Unfolds level by level while at most `limit` items are seen; of the level that does not fit either nothing, or what
/// fits from the start of the network on.
enum class PartOfLevel
{
    None,
    WhatFits
};
std::set<int> unfoldUpTo(const GraphOutline& outline, int limit, PartOfLevel part = PartOfLevel::None);

} // namespace lathe::ui
