#pragma once

#include "core/session/views.h"
#include "ui/models/graph_outline.h"

#include <set>
#include <string>
#include <vector>

namespace lathe::test {

/// Makes graphs node by node.
struct Builder
{
    session::GraphView graph;
    int functions = 0;

    int node(const char* op, const std::vector<int>& inputs, int function = -1, int task = -1)
    {
        session::NodeView view;
        view.id = static_cast<int>(graph.nodes.size());
        view.name = std::string(op) + std::to_string(view.id);
        view.op = op;
        view.subgraph = function;
        view.task = task;
        view.outputs = {{"out", "float32", {1, 64, 56, 56}}};
        graph.nodes.push_back(view);
        for (const int input : inputs)
            graph.edges.push_back({input, view.id, {}});
        return view.id;
    }
    /// conv + add + relu, conv + add + residual + relu
    int residualBlock(int input)
    {
        const int a = functions++;
        const int b = functions++;
        const int first = node("relu", {node("add", {node("conv2d", {input}, a, 0)}, a, 0)}, a, 0);
        return node("relu", {node("add", {node("conv2d", {first}, b, 1), input}, b, 1)}, b, 1);
    }
    static Builder chainOfBlocks(int blocks)
    {
        Builder b;
        int at = b.node("input", {});
        for (int i = 0; i < blocks; ++i)
            at = b.residualBlock(at);
        b.node("dense", {at});
        return b;
    }
};

/// All of an outline's groups but the network itself.
inline std::set<int> allGroups(const ui::GraphOutline& outline)
{
    std::set<int> groups;
    for (int g = 1; g < static_cast<int>(outline.groups().size()); ++g)
        groups.insert(g);
    return groups;
}

} // namespace lathe::test
