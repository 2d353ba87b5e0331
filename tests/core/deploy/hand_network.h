#pragma once

#include "core/deploy/plan.h"
#include "core/graph/passes.h"
#include "core/wire/seeded.h"

#include <cstring>

/// x [1, 20, 4, 4] -> * w -> relu -> reshape [20, 16] -> + b -> y. The first two kernels work in blocks of 16 channels,
/// so that the plan needs a layout change; the reshape is a noop; relu can run in place.
struct HandNetwork
{
    lathe::graph::Graph graph;
    lathe::graph::Partition partition;
    std::vector<lathe::deploy::KernelChoice> choices;
    std::vector<lathe::KernelInfo> kernels; ///< as a compiler would describe them
};

inline lathe::IndexMap plainMap(std::vector<std::int64_t> shape)
{
    return lathe::IndexMap::plain(shape.data(), static_cast<int>(shape.size()));
}

inline lathe::IndexMap blockedMap()
{
    lathe::IndexMap map = plainMap({1, 20, 4, 4});
    map.physicalRank = 5;
    map.axes[1] = {1, 16, 2, 1};
    map.axes[4] = {1, 1, 16, 1};
    map.makeDense();
    return map;
}

inline std::shared_ptr<const lathe::graph::ConstData> seededConstant(std::int64_t count, std::uint64_t seed)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * 4);
    lathe::wire::fillSeeded(seed, lathe::DType::F32, {}, bytes);
    return lathe::graph::makeConst(bytes.data(), bytes.size());
}

/// The definition of a one-node subgraph, from the operator registry.
inline lathe::graph::Alternative definition(const lathe::graph::Graph& graph, const lathe::graph::Subgraph& subgraph)
{
    using namespace lathe;
    compute::DagBuilder builder;
    const graph::Node& node = graph.node(subgraph.nodes[0]);
    std::vector<compute::Tensor> inputs;
    for (const graph::ValueId id : node.inputs)
        inputs.push_back(
            builder.placeholder("p" + std::to_string(inputs.size()), graph.value(id).shape, graph.value(id).dtype));
    const std::vector<graph::TensorType> types = {
        {graph.value(node.outputs[0]).dtype, graph.value(node.outputs[0]).shape}};
    graph::ComputeContext context{builder, compute::NameEra::Nested, {}, types};
    auto output = graph::findOperator(node.op)->compute(node, inputs, context);
    graph::Alternative alternative;
    alternative.name = "direct";
    if (output)
        if (auto dag = std::move(builder).finish({*output}))
            alternative.dag = *dag;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        alternative.bindings.push_back({static_cast<std::int32_t>(i), nullptr});
    return alternative;
}

/// Not movable once made: choices point into the partition.
inline void makeHandNetwork(HandNetwork& network, const char* reluKernel = "hand_relu")
{
    using namespace lathe;
    graph::Graph& g = network.graph;
    g.name = "hand";
    const auto x = g.addValue("x", DType::F32, {1, 20, 4, 4});
    g.inputs = {x};
    const auto w = g.addConstant("w", DType::F32, {20, 1, 1}, seededConstant(20, 11));
    const auto b = g.addConstant("b", DType::F32, {20, 16}, seededConstant(320, 12));
    const auto scaled = g.addValue("scaled", DType::F32, {1, 20, 4, 4});
    const auto positive = g.addValue("positive", DType::F32, {1, 20, 4, 4});
    const auto flat = g.addValue("flat", DType::F32, {20, 16});
    const auto y = g.addValue("y", DType::F32, {20, 16});
    g.outputs = {y};
    const auto add = [&](const char* name, const char* op, std::vector<graph::ValueId> inputs, graph::ValueId output,
                         bool noop = false) {
        graph::Node node;
        node.name = name;
        node.op = op;
        node.inputs = inputs;
        node.outputs = {output};
        if (noop)
            node.attrs["newshape"] = std::vector<std::int64_t>{20, 16};
        graph::Subgraph subgraph;
        subgraph.name = name;
        subgraph.nodes = {g.addNode(node)};
        subgraph.inputs = std::move(inputs);
        subgraph.outputs = {output};
        subgraph.noop = noop;
        network.partition.subgraphs.push_back(subgraph);
    };
    add("scale", "multiply", {x, w}, scaled);
    add("relu", "relu", {scaled}, positive);
    add("reshape", "reshape", {positive}, flat, true);
    add("shift", "add", {flat, b}, y);
    for (graph::Subgraph& subgraph : network.partition.subgraphs) {
        deploy::KernelChoice choice;
        if (!subgraph.noop) {
            subgraph.untuned = definition(g, subgraph);
            choice.alternative = &*subgraph.untuned;
            choice.steps = "[]";
        }
        network.choices.push_back(choice);
    }
    const auto arg = [](const char* name, ArgRole role, IndexMap map) { return ArgSpec{name, role, DType::F32, map}; };
    network.kernels = {
        {"k0",
         {"hand_clear", "hand_scale"},
         0,
         0,
         {arg("x", ArgRole::Input, plainMap({1, 20, 4, 4})), arg("w", ArgRole::Constant, plainMap({20, 1, 1})),
          arg("scaled", ArgRole::Output, blockedMap())}},
        {"k1",
         {reluKernel},
         0,
         0,
         {arg("in", ArgRole::Input, blockedMap()), arg("out", ArgRole::Output, blockedMap())}},
        {"k2",
         {"hand_add"},
         0,
         64,
         {arg("x", ArgRole::Input, plainMap({20, 16})), arg("b", ArgRole::Constant, plainMap({20, 16})),
          arg("y", ArgRole::Output, plainMap({20, 16}))}},
    };
}
