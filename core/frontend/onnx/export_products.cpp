// How convolutions and matrix products are spelt in ONNX. Of integers ONNX has products of eight bits alone, with sums
// in int32; wider ones are cast to what holds every sum: int32 for matrices, and double precision for convolutions,
// which ONNX has of floats only (sums below 2^53 are exact there, and become int32 as they wrap).

#include "core/frontend/onnx/exporter.h"
#include "core/support/element_count.h"

#include <algorithm>
#include <optional>

namespace lathe::frontend::onnx_detail {
namespace {

using graph::attrInt;
using graph::attrInts;
using graph::attrString;
using graph::Node;
using Ints = std::vector<std::int64_t>;

DType typeOf(Writer& w, graph::ValueId id)
{
    return w.value(id).dtype;
}

/// Products that ONNX has of eight bits.
bool isNarrow(Writer& w, const Node& node)
{
    return !isFloat(typeOf(w, node.outputs[0])) && sizeOf(typeOf(w, node.inputs[0])) == 1
           && sizeOf(typeOf(w, node.inputs[1])) == 1;
}

/// Integers of eight bits less their zero point, as ONNX's operators on integers take them.
struct Centred
{
    graph::ValueId values;
    graph::ValueId zero; ///< of their type, or a constant that fits it; invalid: 0
};

/// What a difference was made of, or what has eight bits itself; nothing: it is neither.
std::optional<Centred> centredIn(Writer& w, graph::ValueId id)
{
    if (sizeOf(typeOf(w, id)) == 1)
        return Centred{id, {}};
    const auto madeBy = [&w](graph::ValueId value, std::string_view op) {
        const graph::NodeId producer = w.value(value).producer;
        return producer.valid() && w.graph().node(producer).op == op ? &w.graph().node(producer) : nullptr;
    };
    const Node* const difference = madeBy(id, "subtract");
    const Node* const values = difference != nullptr ? madeBy(difference->inputs[0], "cast") : nullptr;
    if (values == nullptr || sizeOf(typeOf(w, values->inputs[0])) != 1
        || w.value(values->inputs[0]).shape != w.value(id).shape)
        return {};
    const DType narrow = typeOf(w, values->inputs[0]);
    if (const Node* const zero = madeBy(difference->inputs[1], "cast"))
        return typeOf(w, zero->inputs[0]) == narrow ? std::optional(Centred{values->inputs[0], zero->inputs[0]})
                                                    : std::nullopt;
    // Importers fold the cast of a constant.
    const graph::Value& zero = w.value(difference->inputs[1]);
    if (!zero.constant)
        return {};
    const auto contents = graph::contentsOf(*zero.constant);
    if (!contents)
        return {};
    const std::vector<std::int64_t> zeros = graph::operators::readInts(
        contents->bytes.data(), zero.dtype, contents->bytes.size() / static_cast<std::size_t>(sizeOf(zero.dtype)));
    const std::int64_t low = isSigned(narrow) ? -128 : 0;
    return std::ranges::all_of(zeros, [low](std::int64_t z) { return z >= low && z < low + 256; })
               ? std::optional(Centred{values->inputs[0], difference->inputs[1]})
               : std::nullopt;
}

/// The zero point as a scalar, or as a vector along the first dimension of a weight; empty: it is neither.
std::string zeroIn(Writer& w, graph::ValueId zero, DType dtype, std::int64_t filters)
{
    const Ints& shape = w.value(zero).shape;
    const std::int64_t count = elementCount(shape);
    const bool isOfFilters = count == filters && !shape.empty() && shape[0] == filters;
    if (count != 1 && !isOfFilters)
        return {};
    const std::string narrow = w.cast(w.input(zero), typeOf(w, zero), dtype);
    return count > 1 ? w.reshape(narrow, {filters}) : shape.empty() ? narrow : w.reshape(narrow, {});
}

/// A convolution of eight bits. Nothing, and nothing is written: it is none, or not in ONNX's order of dimensions.
std::vector<std::string> narrowOperands(Writer& w, const Node& node, bool isOrdered)
{
    const auto data = centredIn(w, node.inputs[0]), weight = centredIn(w, node.inputs[1]);
    if (!isOrdered || !data || !weight)
        return {};
    std::vector<std::string> operands{w.input(data->values), w.input(weight->values), "", ""};
    for (const auto& [zero, place] : {std::pair{data->zero, 2U}, std::pair{weight->zero, 3U}}) {
        if (!zero.valid())
            continue;
        const graph::ValueId values = place == 3 ? weight->values : data->values;
        operands[place] = zeroIn(w, zero, typeOf(w, values), place == 3 ? w.value(values).shape[0] : 0);
        if (operands[place].empty())
            return {};
    }
    while (operands.back().empty())
        operands.pop_back();
    return operands;
}

/// The weight in ONNX's order of dimensions; a constant gets its Transpose node too, which importers fold.
std::string kernelIn(Writer& w, const Node& node, std::string_view wanted)
{
    const std::string usual = channelsLast(node) ? std::string(wanted.substr(2)) + "IO" : std::string(wanted);
    const std::string layout = attrString(node, "kernel_layout", usual);
    std::string weight = w.input(node.inputs[1]);
    if (layout == wanted)
        return weight;
    Ints perm;
    for (const char letter : wanted)
        perm.push_back(static_cast<std::int64_t>(layout.find(letter)));
    std::string name = w.fresh(w.value(node.inputs[1]).name + "_oihw");
    w.node("Transpose", {weight}, name).ints("perm", perm);
    return name;
}

Result<> exportConv(Writer& w, const Node& node)
{
    const bool transposed = node.op.ends_with("transpose");
    const std::size_t dims = w.value(node.inputs[0]).shape.size() - 2;
    const Ints ones(dims, 1);
    const DType out = typeOf(w, node.outputs[0]);
    const bool isInteger = !isFloat(out);
    const std::string order = std::string(transposed ? "IO" : "OI") + (dims == 3 ? "DHW" : "HW");
    std::vector<std::string> operands;
    if (isInteger && !transposed)
        operands = narrowOperands(w, node, !channelsLast(node) && attrString(node, "kernel_layout", order) == order);
    const bool isDirect = !operands.empty();
    if (!isDirect) {
        const DType wide = isInteger ? DType::F64 : out; // the operands of a convolution have one type in ONNX
        operands = {w.cast(imageIn(w, node), typeOf(w, node.inputs[0]), wide),
                    w.cast(kernelIn(w, node, order), typeOf(w, node.inputs[1]), wide)};
    }
    const bool isCast = isInteger && (!isDirect || out != DType::I32);
    const std::string result = isCast ? w.fresh(node.name + "_sums") : imageOut(w, node);
    NodeWriter writer = w.node(transposed ? "ConvTranspose" : isDirect ? "ConvInteger" : "Conv", operands, result);
    writer.ints("strides", attrInts(node, "strides", ones));
    writer.ints("pads", attrInts(node, "padding", Ints(2 * dims, 0)));
    writer.ints("dilations", attrInts(node, "dilations", ones));
    writer.integer("group", attrInt(node, "groups", 1));
    if (transposed)
        writer.ints("output_padding", attrInts(node, "output_padding", Ints(dims, 0)));
    if (isCast)
        w.node("Cast", {isDirect ? result : w.cast(result, DType::F64, DType::I64)}, imageOut(w, node))
            .integer("to", dataTypeOf(out));
    return {};
}

/// The operand with its last two dimensions exchanged.
std::string turned(Writer& w, const std::string& operand, std::size_t rank)
{
    Ints perm;
    for (std::size_t d = 0; d < rank; ++d)
        perm.push_back(static_cast<std::int64_t>(d));
    std::swap(perm[rank - 2], perm[rank - 1]);
    std::string name = w.fresh(operand + "_turned");
    w.node("Transpose", {operand}, name).ints("perm", perm);
    return name;
}

void writeProduct(Writer& w, const Node& node, bool turnFirst, bool turnSecond)
{
    const DType out = typeOf(w, node.outputs[0]);
    const bool isDirect = isNarrow(w, node);
    // What ONNX sums in. Narrower results are what fits of the sums, as they wrap.
    const DType sums = isDirect || (!isFloat(out) && sizeOf(out) < sizeOf(DType::I32)) ? DType::I32 : out;
    std::vector<std::string> operands;
    for (const auto& [index, isTurned] : {std::pair{0U, turnFirst}, std::pair{1U, turnSecond}}) {
        const graph::ValueId id = node.inputs[index];
        std::string operand = w.input(id);
        if (isTurned)
            operand = turned(w, operand, w.value(id).shape.size());
        operands.push_back(isDirect ? operand : w.cast(operand, typeOf(w, id), sums));
    }
    const std::string result = sums == out ? w.outputName(node.outputs[0]) : w.fresh(node.name + "_sums");
    w.node(isDirect ? "MatMulInteger" : "MatMul", operands, result);
    if (sums != out)
        w.node("Cast", {result}, w.outputName(node.outputs[0])).integer("to", dataTypeOf(out));
}

Result<> exportMatmul(Writer& w, const Node& node)
{
    const bool isBatch = node.op == "batch_matmul";
    writeProduct(w, node, attrInt(node, "transpose_a", 0) != 0, attrInt(node, "transpose_b", isBatch ? 1 : 0) != 0);
    return {};
}

Result<> exportDense(Writer& w, const Node& node)
{
    const DType out = typeOf(w, node.outputs[0]);
    if (!isFloat(out) || typeOf(w, node.inputs[0]) != out) { // ONNX's Gemm is of floats
        writeProduct(w, node, false, true);
        return {};
    }
    std::vector<std::string> inputs;
    for (const graph::ValueId id : node.inputs)
        inputs.push_back(w.input(id));
    w.node("Gemm", inputs, w.outputName(node.outputs[0])).integer("transB", 1);
    return {};
}

} // namespace

bool channelsLast(const Node& node)
{
    return attrString(node, "layout", "NCHW").ends_with('C');
}

std::string imageIn(Writer& w, const Node& node)
{
    return channelsLast(node) ? w.image(node.inputs[0]) : w.input(node.inputs[0]);
}

std::string imageOut(Writer& w, const Node& node)
{
    return channelsLast(node) ? w.imageOutput(node.outputs[0]) : w.outputName(node.outputs[0]);
}

NodeExporter findProductExporter(std::string_view op)
{
    if (op == "conv2d" || op == "conv2d_transpose" || op == "conv3d" || op == "conv3d_transpose")
        return exportConv;
    if (op == "matmul" || op == "batch_matmul")
        return exportMatmul;
    return op == "dense" ? exportDense : nullptr;
}

} // namespace lathe::frontend::onnx_detail
