#include "app/layout/graphviz_layout.h"

#include <cstdio>
#include <iostream>
#include <sstream>

/// Lays one graph out for the workbench, from standard input to standard output. A process of its own, so that a layout
/// that takes too long or crashes can be ended without harm.
int main(int argc, char**)
{
    if (argc > 1) {
        std::fputs("lathe-layout takes no arguments: lathe starts it\n", stderr);
        return 2;
    }
    lathe::layout::GraphText graph;
    std::string wrong = lathe::layout::readGraph(std::cin, graph);
    std::ostringstream out;
    if (wrong.empty())
        wrong = lathe::layout::layOut(graph, out);
    if (!wrong.empty()) {
        std::fprintf(stderr, "%s\n", wrong.c_str());
        return 1;
    }
    std::cout << out.str() << std::flush;
    return std::cout ? 0 : 1;
}
