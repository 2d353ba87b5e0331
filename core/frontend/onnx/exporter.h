#pragma once

#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/tensor_data.h"
#include "core/graph/operator.h"
#include "core/graph/operators/element.h"

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace lathe::frontend::onnx_detail {

/// Sets attributes of one ONNX node under construction.
class NodeWriter
{
public:
    explicit NodeWriter(::onnx::NodeProto& node)
        : m_node(node)
    {
    }
    NodeWriter& integer(const std::string& name, std::int64_t value)
    {
        add(name, ::onnx::AttributeProto::INT).set_i(value);
        return *this;
    }
    NodeWriter& number(const std::string& name, double value)
    {
        add(name, ::onnx::AttributeProto::FLOAT).set_f(static_cast<float>(value));
        return *this;
    }
    NodeWriter& text(const std::string& name, const std::string& value)
    {
        add(name, ::onnx::AttributeProto::STRING).set_s(value);
        return *this;
    }
    NodeWriter& ints(const std::string& name, const std::vector<std::int64_t>& values)
    {
        auto& attribute = add(name, ::onnx::AttributeProto::INTS);
        for (const std::int64_t value : values)
            attribute.add_ints(value);
        return *this;
    }
    NodeWriter& output(const std::string& name)
    {
        m_node.add_output(name);
        return *this;
    }

private:
    ::onnx::AttributeProto& add(const std::string& name, ::onnx::AttributeProto::AttributeType type)
    {
        auto* attribute = m_node.add_attribute();
        attribute->set_name(name);
        attribute->set_type(type);
        return *attribute;
    }
    ::onnx::NodeProto& m_node;
};

/// The ONNX model under construction. ONNX knows images channels first only, so a value of ours that is channels last
/// may exist in two forms: as the graph has it, and transposed. Each form is made when it is first asked for.
class Writer
{
public:
    explicit Writer(const graph::Graph& graph);

    const graph::Graph& graph() const { return m_graph; }
    const graph::Value& value(graph::ValueId id) const { return m_graph.value(id); }
    void begin(std::string name) { m_current = std::move(name); }
    std::int64_t opset() const { return m_opset; }

    std::string input(graph::ValueId id); ///< the value as the graph has it
    std::string image(graph::ValueId id); ///< a channels-last image, transposed to channels first
    std::string outputName(graph::ValueId id); ///< for the node that computes it
    std::string imageOutput(graph::ValueId id); ///< for the node that computes it channels first
    std::string intsInput(const std::vector<std::int64_t>& values);
    std::string scalarInput(DType dtype, double value);
    std::string fresh(const std::string& base);
    void setName(graph::ValueId id, std::string name);

    NodeWriter node(std::string_view op, const std::vector<std::string>& inputs, const std::string& output);

    Result<> addInputs();
    Result<std::string> finish(); ///< serialized. Errors: Unsupported if too large

private:
    void addInitializer(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape, const void* data,
                        std::size_t bytes);
    void describe(::onnx::ValueInfoProto& info, const std::string& name, graph::ValueId id) const;

    const graph::Graph& m_graph;
    const std::int64_t m_opset;
    ::onnx::ModelProto m_model;
    std::vector<std::string> m_names; ///< by value; empty: not written yet
    std::vector<std::string> m_images;
    std::unordered_set<std::string> m_taken, m_nodeNames;
    std::string m_current;
    std::size_t m_bytes = 0;
};

using NodeExporter = Result<> (*)(Writer&, const graph::Node&);

/// Null: the operator has no ONNX spelling.
NodeExporter findExporter(std::string_view op);
NodeExporter findSampleExporter(std::string_view op); ///< those that pick, place, sample and shift
/// 17, or the oldest that has all of the graph's operators.
std::int64_t opsetNeeded(const graph::Graph& graph);

} // namespace lathe::frontend::onnx_detail
