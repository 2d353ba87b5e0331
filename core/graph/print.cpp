#include "core/graph/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lathe::graph {
namespace {

std::string typeText(const Value& value)
{
    return fmt::format("{}[{}]", toString(value.dtype), fmt::join(value.shape, ", "));
}

std::string operandText(const Graph& graph, ValueId id)
{
    if (!id.valid())
        return "-";
    const Value& value = graph.value(id);
    if (value.constant)
        return fmt::format("{}: {}", value.name, typeText(value));
    return fmt::format("%{}", value.name);
}

std::string attrText(const Attr& attr)
{
    struct Text
    {
        std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
        std::string operator()(double v) const { return fmt::format("{:g}", v); }
        std::string operator()(const std::string& v) const { return v; }
        std::string operator()(const std::vector<std::int64_t>& v) const
        {
            return fmt::format("[{}]", fmt::join(v, ", "));
        }
        std::string operator()(const std::vector<double>& v) const { return fmt::format("[{:g}]", fmt::join(v, ", ")); }
        std::string operator()(const std::vector<std::string>& v) const
        {
            return fmt::format("[{}]", fmt::join(v, ", "));
        }
    };
    return std::visit(Text{}, attr);
}

/// Each line begins with `margin`.
std::string printAt(const Graph& graph, const std::string& margin)
{
    std::string text;
    for (const ValueId input : graph.inputs)
        text += margin + fmt::format("input %{}: {}\n", graph.value(input).name, typeText(graph.value(input)));
    for (const Node& node : graph.nodes) {
        std::vector<std::string> outputs;
        for (const ValueId id : node.outputs)
            outputs.push_back(fmt::format("%{}: {}", graph.value(id).name, typeText(graph.value(id))));
        std::vector<std::string> operands;
        for (const ValueId id : node.inputs)
            operands.push_back(operandText(graph, id));
        text += margin + fmt::format("{} = {}({})", fmt::join(outputs, ", "), node.op, fmt::join(operands, ", "));
        if (!node.attrs.empty()) {
            std::vector<std::string> attrs;
            for (const auto& [key, value] : node.attrs)
                attrs.push_back(fmt::format("{}={}", key, attrText(value)));
            text += fmt::format(" {{{}}}", fmt::join(attrs, ", "));
        }
        text += '\n';
        for (const auto& body : node.bodies)
            text += fmt::format("{}  body {}\n{}", margin, body->name, printAt(*body, margin + "    "));
    }
    for (const ValueId output : graph.outputs)
        text += margin + fmt::format("output {}\n", operandText(graph, output));
    for (const OutputExtent& extent : graph.outputExtents)
        text += margin
                + fmt::format("extent {} of output {} is {}\n", extent.axis,
                              operandText(graph, graph.outputs[static_cast<std::size_t>(extent.output)]),
                              operandText(graph, extent.count));
    return text;
}

} // namespace

std::string print(const Graph& graph)
{
    return fmt::format("graph {}\n", graph.name) + printAt(graph, {});
}

} // namespace lathe::graph
