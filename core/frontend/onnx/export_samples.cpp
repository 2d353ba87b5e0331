// How operators that pick, place, sample and shift are spelt in ONNX, and which opset they came with.

#include "core/frontend/onnx/exporter.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

using graph::attrFloat;
using graph::attrInt;
using graph::attrInts;
using graph::attrString;
using graph::Node;
using Ints = std::vector<std::int64_t>;

std::vector<std::string> operandsOf(Writer& w, const Node& node)
{
    std::vector<std::string> names;
    for (const graph::ValueId id : node.inputs)
        names.push_back(w.input(id));
    return names;
}

void writeWindow(NodeWriter& writer, const Node& node, std::size_t dims)
{
    writer.ints("strides", attrInts(node, "strides", Ints(dims, 1)));
    writer.ints("dilations", attrInts(node, "dilations", Ints(dims, 1)));
    writer.ints("pads", attrInts(node, "padding", Ints(2 * dims, 0)));
}

template<const char* Name>
Result<> exportNamed(Writer& w, const Node& node)
{
    const auto inputs = operandsOf(w, node);
    w.node(Name, inputs, w.outputName(node.outputs[0]));
    return {};
}
constexpr char kAnd[] = "BitwiseAnd", kOr[] = "BitwiseOr", kXor[] = "BitwiseXor";

Result<> exportShift(Writer& w, const Node& node)
{
    const auto inputs = operandsOf(w, node);
    w.node("BitShift", inputs, w.outputName(node.outputs[0]))
        .text("direction", node.op == "left_shift" ? "LEFT" : "RIGHT");
    return {};
}

Result<> exportGather(Writer& w, const Node& node)
{
    const auto inputs = operandsOf(w, node);
    NodeWriter writer = w.node(node.op == "gather_nd" ? "GatherND" : "GatherElements", inputs,
                               w.outputName(node.outputs[0]));
    if (node.op == "gather_nd")
        writer.integer("batch_dims", attrInt(node, "batch_dims", 0));
    else
        writer.integer("axis", attrInt(node, "axis", 0));
    return {};
}

Result<> exportScatter(Writer& w, const Node& node)
{
    const auto inputs = operandsOf(w, node);
    NodeWriter writer = w.node(node.op == "scatter_nd" ? "ScatterND" : "ScatterElements", inputs,
                               w.outputName(node.outputs[0]));
    writer.text("reduction", attrString(node, "reduction", "none"));
    if (node.op != "scatter_nd")
        writer.integer("axis", attrInt(node, "axis", 0));
    return {};
}

Result<> exportGridSample(Writer& w, const Node& node)
{
    const auto inputs = operandsOf(w, node);
    const std::string mode = attrString(node, "mode", "linear");
    std::string spelt = mode;
    if (w.opset() < 20)
        spelt = mode == "linear" ? "bilinear" : mode == "cubic" ? "bicubic" : mode;
    w.node("GridSample", inputs, w.outputName(node.outputs[0]))
        .text("mode", spelt)
        .text("padding_mode", attrString(node, "padding_mode", "zeros"))
        .integer("align_corners", attrInt(node, "align_corners", 0));
    return {};
}

Result<> exportRoiAlign(Writer& w, const Node& node)
{
    std::vector<std::string> inputs = operandsOf(w, node);
    if (w.value(node.inputs[2]).dtype != DType::I64) {
        const std::string wide = w.fresh(node.name + "_images");
        w.node("Cast", {inputs[2]}, wide).integer("to", dataTypeOf(DType::I64));
        inputs[2] = wide;
    }
    w.node("RoiAlign", inputs, w.outputName(node.outputs[0]))
        .text("mode", attrInt(node, "maximum", 0) != 0 ? "max" : "avg")
        .text("coordinate_transformation_mode",
              attrInt(node, "half_pixel", 1) != 0 ? "half_pixel" : "output_half_pixel")
        .integer("output_height", attrInt(node, "output_height", 1))
        .integer("output_width", attrInt(node, "output_width", 1))
        .integer("sampling_ratio", attrInt(node, "sampling_ratio", 0))
        .number("spatial_scale", attrFloat(node, "spatial_scale", 1));
    return {};
}

Result<> exportRoiMaxPool(Writer& w, const Node& node)
{
    const auto inputs = operandsOf(w, node);
    w.node("MaxRoiPool", inputs, w.outputName(node.outputs[0]))
        .ints("pooled_shape", {attrInt(node, "output_height", 1), attrInt(node, "output_width", 1)})
        .number("spatial_scale", attrFloat(node, "spatial_scale", 1));
    return {};
}

/// The second output of a pool whose first nobody reads.
Result<> exportPoolPositions(Writer& w, const Node& node)
{
    const std::size_t dims = w.value(node.inputs[0]).shape.size() - 2;
    const std::string data = w.input(node.inputs[0]);
    NodeWriter writer = w.node("MaxPool", {data}, w.fresh(node.name + "_pooled"));
    writer.output(w.outputName(node.outputs[0]));
    writer.ints("kernel_shape", attrInts(node, "pool_size"));
    writeWindow(writer, node, dims);
    writer.integer("ceil_mode", attrInt(node, "ceil_mode", 0));
    writer.integer("storage_order", attrInt(node, "storage_order", 0));
    return {};
}

Result<> exportColumns(Writer& w, const Node& node)
{
    const Ints image = attrInts(node, "image_shape");
    const std::string data = w.input(node.inputs[0]);
    NodeWriter writer = w.node("Col2Im", {data, w.intsInput(image), w.intsInput(attrInts(node, "kernel_size"))},
                               w.outputName(node.outputs[0]));
    writeWindow(writer, node, image.size());
    return {};
}

bool isAmong(std::string_view op, std::initializer_list<std::string_view> ops)
{
    return std::ranges::find(ops, op) != ops.end();
}

} // namespace

NodeExporter findSampleExporter(std::string_view op)
{
    struct Entry
    {
        std::string_view op;
        NodeExporter convert;
    };
    static constexpr Entry kTable[] = {
        {"bitwise_and", exportNamed<kAnd>},
        {"bitwise_or", exportNamed<kOr>},
        {"bitwise_xor", exportNamed<kXor>},
        {"columns_to_image", exportColumns},
        {"gather_elements", exportGather},
        {"gather_nd", exportGather},
        {"grid_sample", exportGridSample},
        {"max_pool_positions2d", exportPoolPositions},
        {"max_pool_positions3d", exportPoolPositions},
        {"roi_align", exportRoiAlign},
        {"roi_max_pool", exportRoiMaxPool},
        {"scatter_elements", exportScatter},
        {"scatter_nd", exportScatter},
        {"left_shift", exportShift},
        {"right_shift", exportShift},
    };
    const auto found = std::ranges::find(kTable, op, &Entry::op);
    return found != std::end(kTable) ? found->convert : nullptr;
}

std::int64_t opsetNeeded(const graph::Graph& graph)
{
    std::int64_t opset = 17;
    const auto atLeast = [&opset](std::int64_t wanted) { opset = std::max(opset, wanted); };
    const auto isWide = [&graph](graph::ValueId id) {
        return graph.value(id).dtype == DType::I16 || graph.value(id).dtype == DType::U16;
    };
    for (const Node& node : graph.nodes) {
        for (const auto& body : node.bodies)
            atLeast(opsetNeeded(*body));
        if (node.op == "grid_sample" && graph.value(node.inputs[0]).shape.size() == 5)
            atLeast(20);
        const std::string reduction = attrString(node, "reduction", "none");
        if (isAmong(node.op, {"bitwise_and", "bitwise_or", "bitwise_xor", "columns_to_image"})
            || (isAmong(node.op, {"scatter_elements", "scatter_nd"}) && (reduction == "max" || reduction == "min")))
            atLeast(18);
        if (node.op.starts_with("avg_pool")
            && std::ranges::any_of(attrInts(node, "dilations"), [](std::int64_t d) { return d != 1; }))
            atLeast(19);
        if ((isAmong(node.op, {"quantize", "requantize"}) && isWide(node.outputs[0]))
            || (node.op == "dequantize" && isWide(node.inputs[0])))
            atLeast(21);
    }
    return opset;
}

} // namespace lathe::frontend::onnx_detail
