#pragma once

#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/tensor_data.h"
#include "core/graph/operator.h"
#include "core/graph/operators/element.h"

#include <memory>
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
    ::onnx::GraphProto& graph(const std::string& name) { return *add(name, ::onnx::AttributeProto::GRAPH).mutable_g(); }
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

/// The ONNX model under construction, or the graph of a body in it. ONNX knows images channels first only, so a value
/// of ours that is channels last may exist in two forms: as the graph has it, and transposed. Each form is made when it
/// is first asked for. Names are unique in the whole model, as bodies see those around them.
class Writer
{
public:
    explicit Writer(const graph::Graph& graph);
    /// Of a body of a node that `around` writes. Both must outlive this.
    Writer(const Writer& around, const graph::Graph& body, ::onnx::GraphProto& proto);

    const graph::Graph& graph() const { return m_graph; }
    const graph::Value& value(graph::ValueId id) const { return m_graph.value(id); }
    void begin(std::string name) { m_current = std::move(name); }
    std::int64_t opset() const { return m_shared->opset; }

    std::string input(graph::ValueId id); ///< the value as the graph has it
    std::string image(graph::ValueId id); ///< a channels-last image, transposed to channels first
    std::string outputName(graph::ValueId id); ///< for the node that computes it
    std::string imageOutput(graph::ValueId id); ///< for the node that computes it channels first
    std::string intsInput(const std::vector<std::int64_t>& values);
    std::string scalarInput(DType dtype, double value);
    std::string zeroInput(DType dtype); ///< a scalar
    std::string fresh(const std::string& base);
    void setName(graph::ValueId id, std::string name);
    /// Where the first dimension of a network's output is as long as `count` says, the form of it that is so long.
    void setSized(graph::ValueId id, graph::ValueId count, std::string name);

    NodeWriter node(std::string_view op, const std::vector<std::string>& inputs, const std::string& output);
    /// A node whose only result has a made-up name.
    std::string step(std::string_view op, const std::vector<std::string>& inputs);
    std::string cast(const std::string& x, DType from, DType to); ///< as it is if both are the same
    std::string reshape(const std::string& x, const std::vector<std::int64_t>& shape);

    Result<> addInputs();
    /// All nodes. Errors: Unsupported, naming the node and what it has that ONNX does not.
    Result<> addNodes();
    /// A result of a body: one that its nodes compute, with a name of its own.
    void addResult(const std::string& value, DType dtype, const std::vector<std::int64_t>& shape);
    Result<std::string> finish(); ///< serialized. Errors: Unsupported if too large
    void addArgument(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape); ///< of a body
    bool isComputed(graph::ValueId id) const { return value(id).producer.valid(); }

private:
    /// Of the model, whatever graph in it is written.
    struct Shared
    {
        std::int64_t opset = 0;
        ::onnx::ModelProto model;
        std::unordered_set<std::string> taken, nodeNames;
        std::size_t bytes = 0;
    };
    struct Sized
    {
        graph::ValueId value, count;
        std::string name;
    };
    std::string sizedOutput(std::size_t output);
    void addInitializer(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape, const void* data,
                        std::size_t bytes);

    const graph::Graph& m_graph;
    std::shared_ptr<Shared> m_shared;
    ::onnx::GraphProto* m_proto; ///< of the model, or of a body in it
    std::vector<std::string> m_names; ///< by value; empty: not written yet
    std::vector<std::string> m_images;
    std::vector<Sized> m_sized;
    std::unordered_set<std::string> m_reserved; ///< names of outputs that are not yet written
    std::string m_current;
};

// Images in ONNX's order of dimensions: the first input and output of a node with an attribute "layout".
bool channelsLast(const graph::Node& node);
std::string imageIn(Writer& w, const graph::Node& node);
std::string imageOut(Writer& w, const graph::Node& node);

using NodeExporter = Result<> (*)(Writer&, const graph::Node&);

/// Null: the operator has no ONNX spelling.
NodeExporter findExporter(std::string_view op);
NodeExporter findControlExporter(std::string_view op); ///< those with bodies
NodeExporter findProductExporter(std::string_view op); ///< convolutions and matrix products
NodeExporter findQuantizeExporter(std::string_view op); ///< to and from integers with scales
NodeExporter findSampleExporter(std::string_view op); ///< those that pick, place, sample and shift
/// 17, or the oldest that has all of the graph's operators, those of bodies included.
std::int64_t opsetNeeded(const graph::Graph& graph);

} // namespace lathe::frontend::onnx_detail
