#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace lathe::layout {

/// What is asked of lathe-layout: boxes, edges between them, and frames around stretches of them.
///
///     lathe-layout 1
///     item WIDTH HEIGHT       points; numbered from 0
///     edge FROM TO
///     frame FIRST LAST        all items of this range; outer frames before those inside them
///     end
struct GraphText
{
    struct Item
    {
        double width = 0, height = 0;
    };
    struct Edge
    {
        int from = 0, to = 0;
    };
    struct Frame
    {
        int first = 0, last = 0;
    };
    std::vector<Item> items;
    std::vector<Edge> edges;
    std::vector<Frame> frames;
};

/// Empty on success, else what is wrong with the line.
std::string readGraph(std::istream& in, GraphText& graph);

} // namespace lathe::layout
