#include "core/graph/group.h"

#include "core/compute/definitions/winograd.h"
#include "core/graph/fuse.h"
#include "core/graph/reference_rules.h"
#include "core/graph/rewrite.h"
#include "core/support/check.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

namespace lathe::graph {
namespace {

bool contains(const std::vector<NodeId>& nodes, NodeId id)
{
    return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

} // namespace

bool isLiteral(const Value& value)
{
    const bool inlined = value.dtype == DType::F32 || value.dtype == DType::F64 || value.dtype == DType::I32
                         || value.dtype == DType::I64 || value.dtype == DType::Bool;
    return value.constant && value.shape.empty() && inlined;
}

Group makeGroup(const Graph& graph, const std::vector<NodeId>& nodes, const std::vector<std::vector<NodeId>>& consumers)
{
    Group group;
    std::unordered_set<ValueId> seen;
    // A group is at most 256 nodes, so the recursion is bounded.
    const auto visit = [&](const auto& self, NodeId id) -> void {
        for (const ValueId input : graph.node(id).inputs) {
            if (!input.valid())
                continue;
            const NodeId producer = graph.value(input).producer;
            if (producer.valid() && contains(nodes, producer)) {
                if (!contains(group.nodes, producer))
                    self(self, producer);
            } else if (!isLiteral(graph.value(input)) && seen.insert(input).second) {
                group.inputs.push_back(input);
            }
        }
        group.nodes.push_back(id);
    };
    visit(visit, nodes.back());
    LATHE_CHECK(group.nodes.size() == nodes.size()) << "a fused group has more than one end";

    for (const NodeId id : group.nodes) {
        for (const ValueId output : graph.node(id).outputs) {
            const auto& readers = consumers[static_cast<std::size_t>(output.value)];
            const bool leaves = std::any_of(readers.begin(), readers.end(),
                                            [&](NodeId reader) { return !contains(nodes, reader); });
            if (leaves || graph.isResult(output))
                group.outputs.push_back(output);
        }
    }
    group.anchor = group.nodes.front();
    for (const NodeId id : group.nodes) {
        if (costOf(graph.node(id)) >= Cost::Reduction) {
            group.anchor = id;
            break;
        }
    }
    return group;
}

namespace {

struct AttrText
{
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{:a}", v); }
    std::string operator()(const std::string& v) const { return fmt::format("{:?}", v); }
    std::string operator()(const std::vector<std::int64_t>& v) const { return fmt::format("{}", v); }
    std::string operator()(const std::vector<double>& v) const { return fmt::format("[{:a}]", fmt::join(v, ",")); }
    std::string operator()(const std::vector<std::string>& v) const { return fmt::format("{}", v); }
};

std::string typeText(const Value& value)
{
    return fmt::format("{}{}", toString(value.dtype), value.shape);
}

std::string bytesText(const Value& value)
{
    std::string text;
    for (std::size_t i = 0; i < value.constant->bytes; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned>(value.constant->data[i]));
    return text;
}

} // namespace

std::string structureText(const Graph& graph, const Group& group)
{
    std::string text;
    std::unordered_map<ValueId, std::string> names;
    for (std::size_t i = 0; i < group.inputs.size(); ++i) {
        const Value& value = graph.value(group.inputs[i]);
        names[group.inputs[i]] = fmt::format("i{}", i);
        text += fmt::format("i{} {}{}\n", i, typeText(value), value.constant ? " constant" : "");
    }
    for (std::size_t n = 0; n < group.nodes.size(); ++n) {
        const Node& node = graph.node(group.nodes[n]);
        text += node.op;
        for (const auto& [key, value] : node.attrs)
            text += fmt::format(" {}={}", key, std::visit(AttrText{}, value));
        for (const ValueId input : node.inputs) {
            if (!input.valid())
                text += " -";
            else if (const auto it = names.find(input); it != names.end())
                text += " " + it->second;
            else
                text += fmt::format(" {}:{}", typeText(graph.value(input)), bytesText(graph.value(input)));
        }
        for (std::size_t k = 0; k < node.outputs.size(); ++k) {
            names[node.outputs[k]] = fmt::format("n{}.{}", n, k);
            text += fmt::format(" -> {}", typeText(graph.value(node.outputs[k])));
        }
        text += '\n';
    }
    for (const ValueId output : group.outputs)
        text += names[output] + "\n";
    return text;
}

namespace {

constexpr const char* kInputAttr = "task_input";

ir::Expr literalOf(const Value& value)
{
    const std::byte* data = value.constant->data;
    const auto read = [data]<typename T>(T initial) {
        std::memcpy(&initial, data, sizeof initial);
        return initial;
    };
    switch (value.dtype) {
    case DType::F32: return ir::floatImm(read(float{}), DType::F32);
    case DType::F64: return ir::floatImm(read(double{}), DType::F64);
    case DType::I64: return ir::intImm(read(std::int64_t{}), DType::I64);
    case DType::Bool: return ir::boolImm(read(std::uint8_t{}) != 0);
    default: return ir::intImm(read(std::int32_t{}), DType::I32);
    }
}

class DagMaker
{
public:
    DagMaker(const Graph& graph, const Group& group, const std::string& algorithm, compute::NameEra era,
             bool splitTransforms)
        : m_graph(graph)
        , m_group(group)
        , m_algorithm(algorithm)
        , m_era(era)
        , m_splitTransforms(splitTransforms)
    {
        const Node& anchor = graph.node(group.anchor);
        if (winogradTile(algorithm) != 0)
            m_transformed = anchor.inputs[1];
        m_shortOperands = referenceKeepsShortOperands(anchor, era);
    }

    Result<Alternative> make()
    {
        LATHE_TRY(makeInputs());
        for (const NodeId id : m_group.nodes)
            LATHE_TRY(makeNode(m_graph.node(id)));
        std::vector<compute::Tensor> outputs;
        for (const ValueId output : m_group.outputs)
            outputs.push_back(m_tensors.at(output));
        LATHE_TRY_ASSIGN(const compute::DagPtr raw, std::move(m_builder).finish(outputs));
        return bind(*raw);
    }

private:
    Result<> makeInputs()
    {
        for (std::size_t i = 0; i < m_group.inputs.size(); ++i) {
            const ValueId id = m_group.inputs[i];
            const Value& value = m_graph.value(id);
            std::vector<std::int64_t> shape = value.shape;
            DType dtype = value.dtype;
            if (id == m_transformed) {
                const Node& conv = m_graph.node(m_group.anchor);
                const bool nhwc = attrString(conv, "layout", "NCHW") == "NHWC";
                LATHE_TRY_ASSIGN(m_recipe, compute::winogradWeightRecipe(
                                               value.shape, value.dtype, winogradTile(m_algorithm),
                                               nhwc ? compute::ImageLayout::Nhwc : compute::ImageLayout::Nchw));
                const compute::Op& transformed = m_recipe->ops[static_cast<std::size_t>(m_recipe->outputs.front())];
                shape = transformed.shape;
                dtype = transformed.dtype;
            } else if (m_shortOperands && value.constant && !isWeight(id)) {
                while (shape.size() > 1 && shape.front() == 1)
                    shape.erase(shape.begin());
            }
            const compute::Tensor tensor = m_builder.placeholder("placeholder", std::move(shape), dtype);
            m_builder.setAttr(tensor, kInputAttr, static_cast<std::int64_t>(i));
            m_tensors.emplace(id, tensor);
        }
        return {};
    }

    bool isWeight(ValueId id) const
    {
        const Node& anchor = m_graph.node(m_group.anchor);
        return std::find(anchor.inputs.begin(), anchor.inputs.end(), id) != anchor.inputs.end();
    }

    Result<> makeNode(const Node& node)
    {
        const OpDef* op = findOperator(node.op);
        if (!op || !op->compute)
            return makeError(Errc::Unsupported, say(Msg::NoComputeDefinition, node.op, node.name));
        std::vector<compute::Tensor> inputs;
        for (const ValueId input : node.inputs)
            inputs.push_back(input.valid() ? operand(input) : compute::Tensor{});
        std::vector<TensorType> types;
        for (const ValueId output : node.outputs)
            types.push_back({m_graph.value(output).dtype, m_graph.value(output).shape});
        const bool isAnchor = &node == &m_graph.node(m_group.anchor);
        ComputeContext context{m_builder, m_era, isAnchor ? m_algorithm : std::string(), types, m_splitTransforms};
        auto tensor = op->compute(node, inputs, context);
        if (!tensor)
            return std::move(tensor).error().note(fmt::format("node '{}' ({})", node.name, node.op));
        m_tensors.emplace(node.outputs.front(), *tensor);
        return {};
    }

    compute::Tensor operand(ValueId id)
    {
        if (const auto it = m_tensors.find(id); it != m_tensors.end())
            return it->second;
        const Value& value = m_graph.value(id);
        LATHE_CHECK(isLiteral(value)) << "input " << value.name << " of a group is not known";
        const compute::Tensor literal = m_builder.compute(
            "compile_engine_const", {}, {}, "", [&](const std::vector<ir::Expr>&) { return literalOf(value); });
        m_tensors.emplace(id, literal);
        return literal;
    }

    /// Placeholders all have one name, as the reference's do; a mark on each tells which input it is. The marks are
    /// removed.
    Alternative bind(const compute::Dag& raw) const
    {
        compute::Dag dag = raw;
        Alternative result;
        result.name = m_algorithm.empty() ? "direct" : m_algorithm;
        for (const std::int32_t position : dag.inputs) {
            compute::Op& op = dag.ops[static_cast<std::size_t>(position)];
            const auto index = std::get<std::int64_t>(op.attrs.at(kInputAttr));
            op.attrs.erase(kInputAttr);
            const ValueId id = m_group.inputs[static_cast<std::size_t>(index)];
            // What is computed in the network comes in the layout that its producer gave it.
            if (!m_graph.value(id).constant)
                op.attrs.erase("layout_free");
            result.bindings.push_back({static_cast<std::int32_t>(index), id == m_transformed ? m_recipe : nullptr});
        }
        result.dag = std::make_shared<const compute::Dag>(std::move(dag));
        return result;
    }

    const Graph& m_graph;
    const Group& m_group;
    std::string m_algorithm;
    compute::NameEra m_era;
    bool m_splitTransforms;
    ValueId m_transformed;
    bool m_shortOperands = false;
    compute::DagPtr m_recipe;
    compute::DagBuilder m_builder;
    std::unordered_map<ValueId, compute::Tensor> m_tensors;
};

} // namespace

Result<Alternative> buildAlternative(const Graph& graph, const Group& group, const std::string& algorithm,
                                     compute::NameEra era, bool splitTransforms)
{
    return DagMaker(graph, group, algorithm, era, splitTransforms).make();
}

} // namespace lathe::graph
