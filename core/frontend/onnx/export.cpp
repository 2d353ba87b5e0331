#include "core/frontend/onnx/exporter.h"
#include "core/frontend/onnx_export.h"
#include "core/support/files.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lathe::frontend {
namespace onnx_detail {
namespace {

void describe(::onnx::ValueInfoProto& info, const std::string& name, DType dtype,
              const std::vector<std::int64_t>& shape)
{
    info.set_name(name);
    auto* type = info.mutable_type()->mutable_tensor_type();
    type->set_elem_type(dataTypeOf(dtype));
    auto* dims = type->mutable_shape();
    for (const std::int64_t extent : shape)
        dims->add_dim()->set_dim_value(extent);
}

} // namespace

Writer::Writer(const graph::Graph& graph)
    : m_graph(graph)
    , m_shared(std::make_shared<Shared>())
    , m_proto(m_shared->model.mutable_graph())
    , m_names(graph.values.size())
    , m_images(graph.values.size())
{
    m_shared->opset = opsetNeeded(graph);
    m_shared->model.set_ir_version(m_shared->opset > 20 ? 10 : 8);
    m_shared->model.set_producer_name("Lathe");
    auto* opset = m_shared->model.add_opset_import();
    opset->set_domain("");
    opset->set_version(m_shared->opset);
    m_proto->set_name(graph.name.empty() ? "network" : graph.name);
}

Writer::Writer(const Writer& around, const graph::Graph& body, ::onnx::GraphProto& proto)
    : m_graph(body)
    , m_shared(around.m_shared)
    , m_proto(&proto)
    , m_names(body.values.size())
    , m_images(body.values.size())
    , m_current(around.m_current)
{
}

std::string Writer::fresh(const std::string& base)
{
    std::string name = base.empty() ? "value" : base;
    for (int i = 1; !m_shared->taken.insert(name).second; ++i)
        name = fmt::format("{}_{}", base.empty() ? "value" : base, i);
    return name;
}

void Writer::setName(graph::ValueId id, std::string name)
{
    m_names[static_cast<std::size_t>(id.value)] = std::move(name);
}

void Writer::setSized(graph::ValueId id, graph::ValueId count, std::string name)
{
    m_sized.push_back({id, count, std::move(name)});
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
    auto* tensor = m_proto->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(dataTypeOf(dtype));
    for (const std::int64_t extent : shape)
        tensor->add_dims(extent);
    tensor->set_raw_data(data, bytes);
    m_shared->bytes += bytes;
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

std::string Writer::zeroInput(DType dtype)
{
    const graph::HostTensor tensor = graph::HostTensor::zeros({dtype, {}});
    std::string name = fresh("zero");
    addInitializer(name, dtype, {}, tensor.bytes.data(), tensor.bytes.size());
    return name;
}

NodeWriter Writer::node(std::string_view op, const std::vector<std::string>& inputs, const std::string& output)
{
    auto* proto = m_proto->add_node();
    proto->set_op_type(std::string(op));
    // The first ONNX node that a node of ours becomes keeps its name.
    std::string name = m_current;
    for (int i = 1; !m_shared->nodeNames.insert(name).second; ++i)
        name = fmt::format("{}_{}", m_current, i);
    proto->set_name(name);
    for (const std::string& input : inputs)
        proto->add_input(input);
    proto->add_output(output);
    return NodeWriter(*proto);
}

std::string Writer::step(std::string_view op, const std::vector<std::string>& inputs)
{
    std::string name = fresh(m_current + "_part");
    node(op, inputs, name);
    return name;
}

std::string Writer::cast(const std::string& x, DType from, DType to)
{
    if (from == to)
        return x;
    std::string name = fresh(m_current + "_" + std::string(toString(to)));
    node("Cast", {x}, name).integer("to", dataTypeOf(to));
    return name;
}

std::string Writer::reshape(const std::string& x, const std::vector<std::int64_t>& shape)
{
    return step("Reshape", {x, intsInput(shape)});
}

Result<> Writer::addInputs()
{
    for (const graph::ValueId id : m_graph.inputs) {
        const std::string name = outputName(id);
        describe(*m_proto->add_input(), name, value(id).dtype, value(id).shape);
    }
    for (std::size_t i = 0; i < m_graph.outputs.size(); ++i) // kept free for finish()
        if (const std::string& name = m_graph.outputName(i);
            name != value(m_graph.outputs[i]).name && m_shared->taken.insert(name).second)
            m_reserved.insert(name);
    return {};
}

Result<> Writer::addNodes()
{
    for (const graph::Node& node : m_graph.nodes) {
        begin(node.name);
        for (const std::vector<graph::ValueId>* ids : {&node.inputs, &node.outputs})
            for (const graph::ValueId id : *ids)
                if (id.valid() && dataTypeOf(value(id).dtype) == 0)
                    return makeError(Errc::Unsupported, say(Msg::OnnxLacksType, toString(value(id).dtype)))
                        .note(say(Msg::NodeAt, node.name, node.op));
        const NodeExporter convert = findExporter(node.op);
        auto done = convert ? convert(*this, node)
                            : Result<>(makeError(Errc::Unsupported, say(Msg::OnnxLacksOperator, node.op)));
        if (!done)
            return std::move(done).error().note(say(Msg::NodeAt, node.name, node.op));
    }
    return {};
}

void Writer::addArgument(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape)
{
    describe(*m_proto->add_input(), name, dtype, shape);
}

void Writer::addResult(const std::string& value, DType dtype, const std::vector<std::int64_t>& shape)
{
    // Names from around the body, arguments, constants, and what is given twice are no results of ONNX.
    const std::string name = fresh(m_current + "_result");
    node("Identity", {value}, name);
    describe(*m_proto->add_output(), name, dtype, shape);
}

/// The output, as long as it is said to be.
std::string Writer::sizedOutput(std::size_t output)
{
    const graph::ValueId id = m_graph.outputs[output];
    std::vector<graph::OutputExtent> extents = m_graph.outputExtents;
    std::erase_if(extents,
                  [&](const graph::OutputExtent& extent) { return static_cast<std::size_t>(extent.output) != output; });
    if (extents.size() == 1 && extents[0].axis == 0)
        for (const Sized& sized : m_sized)
            if (sized.value == id && sized.count == extents[0].count)
                return sized.name;
    std::string name = input(id);
    for (const graph::OutputExtent& extent : extents)
        name = step("Slice", {name, intsInput({0}), reshape(input(extent.count), {1}), intsInput({extent.axis})});
    return name;
}

Result<std::string> Writer::finish()
{
    std::unordered_set<std::string> given;
    for (std::size_t i = 0; i < m_graph.outputs.size(); ++i) {
        const graph::ValueId id = m_graph.outputs[i];
        const std::string& wanted = m_graph.outputName(i);
        begin(wanted);
        std::string name = sizedOutput(i);
        const bool isOwn = isComputed(id) && name == wanted;
        if (!isOwn || !given.insert(name).second) {
            const std::string plain = std::move(name);
            name = m_reserved.erase(wanted) > 0 ? wanted : fresh(wanted);
            given.insert(name);
            node("Identity", {plain}, name);
        }
        auto& info = *m_proto->add_output();
        describe(info, name, value(id).dtype, value(id).shape);
        for (const graph::OutputExtent& extent : m_graph.outputExtents)
            if (static_cast<std::size_t>(extent.output) == i)
                info.mutable_type()
                    ->mutable_tensor_type()
                    ->mutable_shape()
                    ->mutable_dim(extent.axis)
                    ->set_dim_param(fresh(wanted + "_size"));
    }
    constexpr std::size_t kLimit = std::numeric_limits<int>::max();
    if (m_shared->bytes > kLimit || m_shared->model.ByteSizeLong() > kLimit)
        return makeError(Errc::Unsupported, say(Msg::OnnxTooLarge));
    std::string text;
    if (!m_shared->model.SerializeToString(&text))
        return makeError(Errc::Internal, "the model could not be serialized");
    return text;
}

} // namespace onnx_detail

namespace {

Result<std::string> exportText(const graph::Graph& graph)
{
    LATHE_TRY(graph::verify(graph));
    onnx_detail::Writer writer(graph);
    for (const graph::ValueId id : graph.inputs)
        if (const DType dtype = graph.value(id).dtype; onnx_detail::dataTypeOf(dtype) == 0)
            return makeError(Errc::Unsupported, say(Msg::OnnxLacksType, toString(dtype)));
    LATHE_TRY(writer.addInputs());
    LATHE_TRY(writer.addNodes());
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
