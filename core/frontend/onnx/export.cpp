#include "core/frontend/onnx/exporter.h"
#include "core/frontend/onnx_export.h"
#include "core/support/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lathe::frontend {
namespace onnx_detail {

Writer::Writer(const graph::Graph& graph)
    : m_graph(graph)
    , m_opset(opsetNeeded(graph))
    , m_names(graph.values.size())
    , m_images(graph.values.size())
{
    m_model.set_ir_version(8);
    m_model.set_producer_name("Lathe");
    auto* opset = m_model.add_opset_import();
    opset->set_domain("");
    opset->set_version(m_opset);
    m_model.mutable_graph()->set_name(graph.name.empty() ? "network" : graph.name);
}

std::string Writer::fresh(const std::string& base)
{
    std::string name = base.empty() ? "value" : base;
    for (int i = 1; !m_taken.insert(name).second; ++i)
        name = fmt::format("{}_{}", base.empty() ? "value" : base, i);
    return name;
}

void Writer::setName(graph::ValueId id, std::string name)
{
    m_names[static_cast<std::size_t>(id.value)] = std::move(name);
}

std::string Writer::outputName(graph::ValueId id)
{
    std::string& name = m_names[static_cast<std::size_t>(id.value)];
    if (name.empty())
        name = fresh(m_graph.value(id).name);
    return name;
}

std::string Writer::input(graph::ValueId id)
{
    const graph::Value& value = m_graph.value(id);
    std::string& name = m_names[static_cast<std::size_t>(id.value)];
    if (!name.empty())
        return name;
    if (value.constant) {
        name = fresh(value.name);
        addInitializer(name, value.dtype, value.shape, value.constant->data, value.constant->bytes);
        return name;
    }
    // Computed channels first, wanted as the graph has it.
    const std::string image = m_images[static_cast<std::size_t>(id.value)];
    name = fresh(value.name);
    node("Transpose", {image}, name).ints("perm", {0, 2, 3, 1});
    return name;
}

std::string Writer::image(graph::ValueId id)
{
    std::string& name = m_images[static_cast<std::size_t>(id.value)];
    if (name.empty()) {
        const std::string plain = input(id);
        name = fresh(m_graph.value(id).name + "_nchw");
        const auto rank = static_cast<std::int64_t>(m_graph.value(id).shape.size());
        std::vector<std::int64_t> perm{0, rank - 1};
        for (std::int64_t d = 1; d < rank - 1; ++d)
            perm.push_back(d);
        node("Transpose", {plain}, name).ints("perm", perm);
    }
    return name;
}

std::string Writer::imageOutput(graph::ValueId id)
{
    std::string& name = m_images[static_cast<std::size_t>(id.value)];
    name = fresh(m_graph.value(id).name + "_nchw");
    return name;
}

void Writer::addInitializer(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                            const void* data, std::size_t bytes)
{
    auto* tensor = m_model.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(dataTypeOf(dtype));
    for (const std::int64_t extent : shape)
        tensor->add_dims(extent);
    tensor->set_raw_data(data, bytes);
    m_bytes += bytes;
}

std::string Writer::intsInput(const std::vector<std::int64_t>& values)
{
    std::string name = fresh("ints");
    addInitializer(name, DType::I64, {static_cast<std::int64_t>(values.size())}, values.data(),
                   values.size() * sizeof(std::int64_t));
    return name;
}

std::string Writer::scalarInput(DType dtype, double value)
{
    graph::HostTensor tensor = graph::HostTensor::zeros({dtype, {}});
    graph::operators::writeFloat(tensor.bytes.data(), dtype, 0, value);
    std::string name = fresh("scalar");
    addInitializer(name, dtype, {}, tensor.bytes.data(), tensor.bytes.size());
    return name;
}

NodeWriter Writer::node(std::string_view op, const std::vector<std::string>& inputs, const std::string& output)
{
    auto* proto = m_model.mutable_graph()->add_node();
    proto->set_op_type(std::string(op));
    // The first ONNX node that a node of ours becomes keeps its name.
    std::string name = m_current;
    for (int i = 1; !m_nodeNames.insert(name).second; ++i)
        name = fmt::format("{}_{}", m_current, i);
    proto->set_name(name);
    for (const std::string& input : inputs)
        proto->add_input(input);
    proto->add_output(output);
    return NodeWriter(*proto);
}

Result<> Writer::addInputs()
{
    for (const graph::ValueId id : m_graph.inputs) {
        const std::string name = outputName(id);
        describe(*m_model.mutable_graph()->add_input(), name, id);
    }
    return {};
}

void Writer::describe(::onnx::ValueInfoProto& info, const std::string& name, graph::ValueId id) const
{
    const graph::Value& value = m_graph.value(id);
    info.set_name(name);
    auto* type = info.mutable_type()->mutable_tensor_type();
    type->set_elem_type(dataTypeOf(value.dtype));
    auto* shape = type->mutable_shape();
    for (const std::int64_t extent : value.shape)
        shape->add_dim()->set_dim_value(extent);
}

Result<std::string> Writer::finish()
{
    for (const graph::ValueId id : m_graph.outputs) {
        const std::string name = input(id);
        describe(*m_model.mutable_graph()->add_output(), name, id);
    }
    constexpr std::size_t kLimit = std::numeric_limits<int>::max();
    if (m_bytes > kLimit || m_model.ByteSizeLong() > kLimit)
        return makeError(Errc::Unsupported, "the network has more than 2 GiB of weights, more than an ONNX file holds");
    std::string text;
    if (!m_model.SerializeToString(&text))
        return makeError(Errc::Internal, "the model could not be serialized");
    return text;
}

} // namespace onnx_detail

namespace {

Result<std::string> exportText(const graph::Graph& graph)
{
    LATHE_TRY(graph::verify(graph));
    onnx_detail::Writer writer(graph);
    for (const graph::Value& value : graph.values) {
        if (onnx_detail::dataTypeOf(value.dtype) == 0)
            return makeError(Errc::Unsupported,
                             fmt::format("ONNX has no spelling of the element type {}", toString(value.dtype)));
    }
    LATHE_TRY(writer.addInputs());
    for (const graph::Node& node : graph.nodes) {
        writer.begin(node.name);
        const onnx_detail::NodeExporter convert = onnx_detail::findExporter(node.op);
        if (!convert)
            return makeError(Errc::Unsupported,
                             fmt::format("node \"{}\": the operator {} has no ONNX spelling", node.name, node.op));
        if (auto done = convert(writer, node); !done)
            return std::move(done).error().note(fmt::format("node \"{}\" ({})", node.name, node.op));
    }
    return writer.finish();
}

} // namespace

Result<> exportOnnx(const graph::Graph& graph, const std::filesystem::path& path)
{
    LATHE_TRY_ASSIGN(const std::string text, exportText(graph));
    return writeFileAtomically(path, text);
}

Result<std::vector<std::byte>> exportOnnx(const graph::Graph& graph)
{
    LATHE_TRY_ASSIGN(const std::string text, exportText(graph));
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(begin, begin + text.size());
}

} // namespace lathe::frontend
