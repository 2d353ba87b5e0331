#include "app/layout/graph_text.h"

#include <istream>
#include <sstream>

namespace lathe::layout {

namespace {

constexpr double kMaxSide = 100000; // points

bool parse(const std::string& line, GraphText& graph)
{
    std::istringstream words(line);
    std::string kind;
    double a = 0;
    double b = 0;
    if (!(words >> kind >> a >> b) || !(words >> std::ws).eof())
        return false;
    const auto items = static_cast<double>(graph.items.size());
    if (kind == "item") {
        graph.items.push_back({a, b});
        return a > 0 && b > 0 && a <= kMaxSide && b <= kMaxSide;
    }
    if (!(a >= 0 && b >= 0 && a < items && b < items))
        return false;
    if (kind == "edge") {
        graph.edges.push_back({static_cast<int>(a), static_cast<int>(b)});
        return true;
    }
    if (kind != "frame" || a > b)
        return false;
    const GraphText::Frame frame{static_cast<int>(a), static_cast<int>(b)};
    for (const GraphText::Frame& other : graph.frames) {
        const bool inside = other.first <= frame.first && frame.last <= other.last;
        if (!inside && frame.first <= other.last && other.first <= frame.last)
            return false;
    }
    graph.frames.push_back(frame);
    return true;
}

} // namespace

std::string readGraph(std::istream& in, GraphText& graph)
{
    std::string line;
    if (!std::getline(in, line) || line != "lathe-layout 1")
        return "a graph begins with the line 'lathe-layout 1'";
    for (int number = 2; std::getline(in, line); ++number) {
        if (line == "end")
            return {};
        if (!parse(line, graph))
            return "line " + std::to_string(number)
                   + " is no item, edge or frame that fits what was before it: " + line.substr(0, 80);
    }
    return "the graph stops before its 'end'";
}

} // namespace lathe::layout
