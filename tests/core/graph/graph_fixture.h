#pragma once

#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/element_count.h"
#include "core/support/random.h"
#include "tests/net/expectation.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lathe::test {

using Shape = std::vector<std::int64_t>;

/// Writes small float32 graphs a node a line; types are inferred by finish().
class GraphMaker
{
public:
    explicit GraphMaker(std::uint64_t seed = 1)
        : m_random(seed)
    {
    }

    graph::ValueId input(const std::string& name, Shape shape)
    {
        const graph::ValueId id = m_graph.addValue(name, DType::F32, std::move(shape));
        m_graph.inputs.push_back(id);
        return id;
    }
    graph::ValueId constant(const std::string& name, Shape shape, const std::vector<float>& contents)
    {
        return graph::addFloats(m_graph, name, std::move(shape), contents);
    }
    /// Uniform in [low, high).
    graph::ValueId random(const std::string& name, Shape shape, float low = -1, float high = 1)
    {
        std::vector<float> contents(static_cast<std::size_t>(elementCount(shape)));
        for (float& v : contents)
            v = low + (high - low) * static_cast<float>(m_random.uniform());
        return constant(name, std::move(shape), contents);
    }
    graph::ValueId node(const std::string& name, const std::string& op, std::vector<graph::ValueId> inputs,
                        graph::Attrs attrs = {})
    {
        return graph::append(m_graph, name, op, std::move(inputs), std::move(attrs), DType::F32, {}, name);
    }
    /// NCHW, "same" padding.
    graph::ValueId conv(const std::string& name, graph::ValueId x, Shape weight, std::int64_t groups = 1,
                        std::int64_t stride = 1)
    {
        const std::int64_t pad = weight[2] / 2;
        const graph::ValueId w = random(name + "_weight", std::move(weight));
        return node(name, "conv2d", {x, w},
                    {{"strides", Shape{stride, stride}},
                     {"padding", Shape{pad, pad, pad, pad}},
                     {"dilations", Shape{1, 1}},
                     {"groups", groups},
                     {"layout", std::string("NCHW")},
                     {"kernel_layout", std::string("OIHW")}});
    }
    graph::ValueId batchNorm(const std::string& name, graph::ValueId x, std::int64_t channels, float lowestGamma = 0.5f,
                             std::int64_t axis = 1)
    {
        return node(name, "batch_norm",
                    {x, random(name + "_gamma", {channels}, lowestGamma, 1.5f), random(name + "_beta", {channels}),
                     random(name + "_mean", {channels}), random(name + "_var", {channels}, 0.5f, 2.0f)},
                    {{"axis", axis}, {"epsilon", 1e-5}});
    }
    graph::Graph finish(const std::vector<graph::ValueId>& outputs)
    {
        m_graph.name = "test";
        m_graph.outputs = outputs;
        auto typed = graph::inferTypes(m_graph);
        if (!typed)
            qFatal("%s", typed.error().message.c_str());
        return *std::move(typed);
    }

private:
    graph::Graph m_graph;
    Random m_random;
};

template<typename T>
T take(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().message.c_str());
    return *std::move(result);
}

/// Numbers in [-1, 1) for every input of a float type; zeros for others.
inline std::vector<graph::HostTensor> inputsOf(const graph::Graph& g, std::uint64_t seed = 7)
{
    Random random(seed);
    std::vector<graph::HostTensor> inputs;
    for (const graph::ValueId id : g.inputs) {
        graph::HostTensor tensor = graph::HostTensor::zeros({g.value(id).dtype, g.value(id).shape});
        std::vector<double> numbers(static_cast<std::size_t>(elementCount(tensor.type.shape)));
        for (double& v : numbers)
            v = static_cast<float>(2 * random.uniform() - 1);
        if (isFloat(tensor.type.dtype))
            graph::operators::writeFloats(tensor, numbers);
        inputs.push_back(std::move(tensor));
    }
    return inputs;
}

inline std::vector<graph::HostTensor> run(const graph::Graph& g, std::uint64_t seed = 7)
{
    return take(graph::interpret(g, inputsOf(g, seed)));
}

/// Empty if `got` is what the graph should give for the inputs of the seed, element by element, within what code may
/// err (tests/net/expectation.h) and `absolute`; else what is wrong.
inline QString disagreement(const graph::Graph& g, const std::vector<graph::HostTensor>& got, double absolute = 0)
{
    std::vector<net::Expected> wanted = take(net::expect(g, inputsOf(g), {.passErrorsOn = true}));
    if (got.size() != wanted.size())
        return QString("there are %1 outputs, not %2").arg(got.size()).arg(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        wanted[i].bound.absolute += absolute;
        if (const std::string text = net::compare(got[i], wanted[i]); !text.empty())
            return QString("output %1: %2").arg(i).arg(text.c_str());
    }
    return {};
}

/// What the graphs give for the same inputs.
inline QString disagreement(const graph::Graph& g, const graph::Graph& other, double absolute = 0)
{
    return disagreement(g, run(other), absolute);
}

/// The same of float32 for operators that know no doubles: each element within 1e-5 of itself and 1e-6.
inline bool isNear(const std::vector<graph::HostTensor>& wanted, const std::vector<graph::HostTensor>& got)
{
    return std::ranges::equal(wanted, got, [](const graph::HostTensor& x, const graph::HostTensor& y) {
        return x.type == y.type && std::ranges::equal(x.as<float>(), y.as<float>(), [](float p, float q) {
                   return std::abs(p - q) <= 1e-5F * std::abs(p) + 1e-6F;
               });
    });
}

/// To the last bit.
inline bool identical(const graph::Graph& g, const graph::Graph& other)
{
    return std::ranges::equal(run(g), run(other), [](const graph::HostTensor& x, const graph::HostTensor& y) {
        return x.type == y.type && x.bytes == y.bytes;
    });
}

/// The graph with all its float32 inputs and constants in another float type.
inline graph::Graph inType(graph::Graph g, DType dtype)
{
    for (const graph::ValueId id : g.inputs)
        g.value(id).dtype = dtype;
    for (std::size_t i = 0; i < g.values.size(); ++i) {
        const graph::Value value = g.values[i];
        const auto numbers = graph::constNumbers(value);
        if (!numbers)
            continue;
        const graph::ValueId made = graph::addNumbers(g, value.name, dtype, value.shape, *numbers);
        g.values[i] = g.value(made);
        g.values.pop_back();
    }
    return take(graph::inferTypes(std::move(g)));
}

inline int count(const graph::Graph& g, std::string_view op)
{
    int n = 0;
    for (const graph::Node& node : g.nodes)
        n += node.op == op;
    return n;
}

inline graph::Graph optimized(const graph::Graph& g)
{
    return take(graph::optimize(g, *Target::parse("cuda")));
}

} // namespace lathe::test
