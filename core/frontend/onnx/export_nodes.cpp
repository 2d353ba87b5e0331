// How each operator of Lathe is spelt in ONNX, opset 17 or the one that opsetNeeded() says.

#include "core/frontend/onnx/exporter.h"
#include "core/support/message.h"

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

using graph::attrFloat;
using graph::attrInt;
using graph::attrInts;
using graph::attrString;
using graph::Node;
using Ints = std::vector<std::int64_t>;
using Names = std::pair<std::string_view, std::string_view>;

constexpr Names kPlain[] = {
    {"abs", "Abs"},
    {"acos", "Acos"},
    {"acosh", "Acosh"},
    {"add", "Add"},
    {"asin", "Asin"},
    {"asinh", "Asinh"},
    {"atan", "Atan"},
    {"atanh", "Atanh"},
    {"ceil", "Ceil"},
    {"cos", "Cos"},
    {"cosh", "Cosh"},
    {"divide", "Div"},
    {"dropout", "Dropout"},
    {"equal", "Equal"},
    {"erf", "Erf"},
    {"exp", "Exp"},
    {"floor", "Floor"},
    {"greater", "Greater"},
    {"greater_equal", "GreaterOrEqual"},
    {"hard_swish", "HardSwish"},
    {"identity", "Identity"},
    {"is_nan", "IsNaN"},
    {"less", "Less"},
    {"less_equal", "LessOrEqual"},
    {"log", "Log"},
    {"logical_and", "And"},
    {"logical_not", "Not"},
    {"logical_or", "Or"},
    {"logical_xor", "Xor"},
    {"maximum", "Max"},
    {"minimum", "Min"},
    {"multiply", "Mul"},
    {"negative", "Neg"},
    {"pow", "Pow"},
    {"prelu", "PRelu"},
    {"reciprocal", "Reciprocal"},
    {"relu", "Relu"},
    {"round", "Round"},
    {"sigmoid", "Sigmoid"},
    {"sign", "Sign"},
    {"sin", "Sin"},
    {"sinh", "Sinh"},
    {"softplus", "Softplus"},
    {"sqrt", "Sqrt"},
    {"subtract", "Sub"},
    {"tan", "Tan"},
    {"tanh", "Tanh"},
    {"where", "Where"},
};

std::vector<std::string> inputsOf(Writer& w, const Node& node)
{
    std::vector<std::string> names;
    for (const graph::ValueId id : node.inputs)
        names.push_back(w.input(id));
    return names;
}

Result<> exportPlain(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    w.node(std::ranges::find(kPlain, std::string_view(node.op), &Names::first)->second, inputs,
           w.outputName(node.outputs[0]));
    return {};
}

/// Of integers with the divisor's sign; of floats with the dividend's, which ONNX calls fmod.
Result<> exportMod(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    w.node("Mod", inputs, w.outputName(node.outputs[0]))
        .integer("fmod", isFloat(w.value(node.outputs[0]).dtype) ? 1 : 0);
    return {};
}

Result<> exportNotEqual(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    const std::string same = w.fresh(node.name + "_equal");
    w.node("Equal", inputs, same);
    w.node("Not", {same}, w.outputName(node.outputs[0]));
    return {};
}

Result<> exportRsqrt(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    const std::string root = w.fresh(node.name + "_sqrt");
    w.node("Sqrt", inputs, root);
    w.node("Reciprocal", {root}, w.outputName(node.outputs[0]));
    return {};
}

Result<> exportSilu(Writer& w, const Node& node)
{
    const std::string x = w.input(node.inputs[0]);
    const std::string gate = w.fresh(node.name + "_sigmoid");
    w.node("Sigmoid", {x}, gate);
    w.node("Mul", {x, gate}, w.outputName(node.outputs[0]));
    return {};
}

/// x/2 * (1 + erf(x / sqrt 2)): opset 17 has no Gelu. In half precision the steps would lose digits; computed in
/// float32 there is one rounding, as in our kernel.
Result<> exportGelu(Writer& w, const Node& node)
{
    const DType own = w.value(node.inputs[0]).dtype;
    const DType dtype = sizeOf(own) < sizeOf(DType::F32) ? DType::F32 : own;
    const std::string x = w.cast(w.input(node.inputs[0]), own, dtype);
    const auto step = [&](std::string_view op, const std::vector<std::string>& inputs) {
        std::string name = w.fresh(node.name + "_part");
        w.node(op, inputs, name);
        return name;
    };
    const std::string scaled = step("Mul", {x, w.scalarInput(dtype, 0.70710678118654752)});
    const std::string shifted = step("Add", {step("Erf", {scaled}), w.scalarInput(dtype, 1.0)});
    const std::string half = step("Mul", {x, w.scalarInput(dtype, 0.5)});
    if (own == dtype)
        w.node("Mul", {half, shifted}, w.outputName(node.outputs[0]));
    else
        w.node("Cast", {step("Mul", {half, shifted})}, w.outputName(node.outputs[0])).integer("to", dataTypeOf(own));
    return {};
}

/// ONNX's takes no integers below 32 bits. Of these sums as much is kept as fits, which is what they wrap around to.
Result<> exportCumulativeSum(Writer& w, const Node& node)
{
    const DType own = w.value(node.inputs[0]).dtype;
    const DType sums = !isFloat(own) && sizeOf(own) < sizeOf(DType::I32) ? DType::I32 : own;
    const std::string axis = w.reshape(w.intsInput({attrInt(node, "axis", 0)}), {});
    const std::string x = w.cast(w.input(node.inputs[0]), own, sums);
    const std::string result = sums == own ? w.outputName(node.outputs[0]) : w.fresh(node.name + "_sums");
    w.node("CumSum", {x, axis}, result)
        .integer("exclusive", attrInt(node, "exclusive", 0))
        .integer("reverse", attrInt(node, "reverse", 0));
    if (sums != own)
        w.node("Cast", {result}, w.outputName(node.outputs[0])).integer("to", dataTypeOf(own));
    return {};
}

struct Parametric
{
    std::string_view ours, onnx, first, second;
    double firstFallback = 0, secondFallback = 0;
};
constexpr Parametric kParametric[] = {
    {"celu", "Celu", "alpha", "", 1.0, 0},
    {"elu", "Elu", "alpha", "", 1.0, 0},
    {"hard_sigmoid", "HardSigmoid", "alpha", "beta", 0.2, 0.5},
    {"leaky_relu", "LeakyRelu", "alpha", "", 0.01, 0},
    {"selu", "Selu", "alpha", "gamma", 1.67326319217681884765625, 1.05070102214813232421875},
    {"thresholded_relu", "ThresholdedRelu", "alpha", "", 1.0, 0},
};

Result<> exportParametric(Writer& w, const Node& node)
{
    const Parametric& entry = *std::ranges::find(kParametric, std::string_view(node.op), &Parametric::ours);
    const auto inputs = inputsOf(w, node);
    NodeWriter writer = w.node(entry.onnx, inputs, w.outputName(node.outputs[0]));
    writer.number(std::string(entry.first), attrFloat(node, entry.first, entry.firstFallback));
    if (!entry.second.empty())
        writer.number(std::string(entry.second), attrFloat(node, entry.second, entry.secondFallback));
    return {};
}

Result<> exportClip(Writer& w, const Node& node)
{
    const DType dtype = w.value(node.inputs[0]).dtype;
    std::vector<std::string> inputs{w.input(node.inputs[0])};
    inputs.push_back(node.attrs.contains("min") ? w.scalarInput(dtype, attrFloat(node, "min", 0)) : std::string());
    if (node.attrs.contains("max"))
        inputs.push_back(w.scalarInput(dtype, attrFloat(node, "max", 0)));
    w.node("Clip", inputs, w.outputName(node.outputs[0]));
    return {};
}

Result<> exportCast(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    w.node("Cast", inputs, w.outputName(node.outputs[0])).integer("to", dataTypeOf(w.value(node.outputs[0]).dtype));
    return {};
}

Result<> exportPool(Writer& w, const Node& node)
{
    const bool average = node.op.starts_with("avg_pool");
    const std::size_t dims = w.value(node.inputs[0]).shape.size() - 2;
    const Ints ones(dims, 1);
    const Ints dilations = attrInts(node, "dilations", ones);
    const std::string data = imageIn(w, node);
    NodeWriter writer = w.node(average ? "AveragePool" : "MaxPool", {data}, imageOut(w, node));
    writer.ints("kernel_shape", attrInts(node, "pool_size"));
    writer.ints("strides", attrInts(node, "strides", ones));
    writer.ints("pads", attrInts(node, "padding", Ints(2 * dims, 0)));
    writer.integer("ceil_mode", attrInt(node, "ceil_mode", 0));
    if (average)
        writer.integer("count_include_pad", attrInt(node, "count_include_pad", 0));
    if (!average || dilations != ones) // since opset 19, which opsetNeeded() then says
        writer.ints("dilations", dilations);
    return {};
}

Result<> exportGlobalPool(Writer& w, const Node& node)
{
    const std::string data = imageIn(w, node);
    w.node(node.op.starts_with("global_avg") ? "GlobalAveragePool" : "GlobalMaxPool", {data}, imageOut(w, node));
    return {};
}

/// A per-channel vector [C] shaped so that it broadcasts along `axis`.
std::string column(Writer& w, const std::string& vector, std::int64_t extent, std::int64_t axis, std::int64_t rank)
{
    if (axis == rank - 1)
        return vector;
    Ints shape(static_cast<std::size_t>(rank - axis), 1);
    shape[0] = extent;
    std::string name = w.fresh(vector + "_column");
    w.node("Reshape", {vector, w.intsInput(shape)}, name);
    return name;
}

std::int64_t axisOf(Writer& w, const Node& node, std::int64_t fallback)
{
    const std::int64_t axis = attrInt(node, "axis", fallback);
    return axis < 0 ? axis + static_cast<std::int64_t>(w.value(node.inputs[0]).shape.size()) : axis;
}

Result<> exportBiasAdd(Writer& w, const Node& node)
{
    const auto rank = static_cast<std::int64_t>(w.value(node.inputs[0]).shape.size());
    const std::string data = w.input(node.inputs[0]);
    const std::string bias = column(w, w.input(node.inputs[1]), w.value(node.inputs[1]).shape[0], axisOf(w, node, 1),
                                    rank);
    w.node("Add", {data, bias}, w.outputName(node.outputs[0]));
    return {};
}

/// ONNX normalises along axis 1 and always scales and shifts: an unused gamma or beta becomes ones or zeros, another
/// axis is moved to place 1 and back.
Result<> exportBatchNorm(Writer& w, const Node& node)
{
    const graph::Value& data = w.value(node.inputs[0]);
    const auto rank = static_cast<std::int64_t>(data.shape.size());
    const std::int64_t axis = axisOf(w, node, 1);
    std::vector<std::string> inputs = inputsOf(w, node);
    const auto replace = [&](std::size_t index, double value) {
        const std::string vector = w.fresh(node.name + "_constant");
        const std::string shape = w.intsInput({w.value(node.inputs[index]).shape[0]});
        w.node("Expand", {w.scalarInput(data.dtype, value), shape}, vector);
        inputs[index] = vector;
    };
    if (attrInt(node, "scale", 1) == 0)
        replace(1, 1.0);
    if (attrInt(node, "center", 1) == 0)
        replace(2, 0.0);
    Ints there, back(static_cast<std::size_t>(rank), 0);
    for (std::int64_t i = 0; i < rank; ++i) {
        if (i != axis)
            there.push_back(i);
    }
    there.insert(there.begin() + std::min<std::int64_t>(1, rank - 1), axis);
    for (std::size_t i = 0; i < there.size(); ++i)
        back[static_cast<std::size_t>(there[i])] = static_cast<std::int64_t>(i);
    const bool moved = axis != 1;
    if (rank < 2)
        return makeError(Errc::Unsupported, say(Msg::OnnxLacksVectorNorm));
    if (moved) {
        const std::string turned = w.fresh(node.name + "_turned");
        w.node("Transpose", {inputs[0]}, turned).ints("perm", there);
        inputs[0] = turned;
    }
    const std::string result = moved ? w.fresh(node.name + "_normal") : w.outputName(node.outputs[0]);
    w.node("BatchNormalization", inputs, result).number("epsilon", attrFloat(node, "epsilon", 1e-5));
    if (moved)
        w.node("Transpose", {result}, w.outputName(node.outputs[0])).ints("perm", back);
    return {};
}

Result<> exportSoftmax(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    w.node(node.op == "softmax" ? "Softmax" : "LogSoftmax", inputs, w.outputName(node.outputs[0]))
        .integer("axis", attrInt(node, "axis", -1));
    return {};
}

/// Reshapes of all kinds: the result's shape is known.
Result<> exportReshape(Writer& w, const Node& node)
{
    const std::string x = w.input(node.inputs[0]);
    w.node("Reshape", {x, w.intsInput(w.value(node.outputs[0]).shape)}, w.outputName(node.outputs[0]));
    return {};
}

Result<> exportFlatten(Writer& w, const Node& node)
{
    const std::string x = w.input(node.inputs[0]);
    w.node("Flatten", {x}, w.outputName(node.outputs[0])).integer("axis", 1);
    return {};
}

Result<> exportTranspose(Writer& w, const Node& node)
{
    Ints reversed;
    for (std::size_t i = w.value(node.inputs[0]).shape.size(); i > 0; --i)
        reversed.push_back(static_cast<std::int64_t>(i - 1));
    const std::string x = w.input(node.inputs[0]);
    w.node("Transpose", {x}, w.outputName(node.outputs[0])).ints("perm", attrInts(node, "axes", reversed));
    return {};
}

Result<> exportBroadcastTo(Writer& w, const Node& node)
{
    const std::string x = w.input(node.inputs[0]);
    w.node("Expand", {x, w.intsInput(w.value(node.outputs[0]).shape)}, w.outputName(node.outputs[0]));
    return {};
}

Result<> exportConcatenate(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    w.node("Concat", inputs, w.outputName(node.outputs[0])).integer("axis", axisOf(w, node, 0));
    return {};
}

Result<> exportSplit(Writer& w, const Node& node)
{
    const std::int64_t axis = axisOf(w, node, 0);
    Ints sizes;
    for (const graph::ValueId id : node.outputs)
        sizes.push_back(w.value(id).shape[static_cast<std::size_t>(axis)]);
    const std::string x = w.input(node.inputs[0]);
    NodeWriter writer = w.node("Split", {x, w.intsInput(sizes)}, w.outputName(node.outputs[0]));
    writer.integer("axis", axis);
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
        writer.output(w.outputName(node.outputs[i]));
    return {};
}

Result<> exportPad(Writer& w, const Node& node)
{
    const Ints width = attrInts(node, "pad_width");
    Ints pads;
    for (const std::size_t first : {0U, 1U}) {
        for (std::size_t i = first; i < width.size(); i += 2)
            pads.push_back(width[i]);
    }
    const std::string x = w.input(node.inputs[0]);
    const std::string value = w.scalarInput(w.value(node.inputs[0]).dtype, attrFloat(node, "value", 0));
    w.node("Pad", {x, w.intsInput(pads), value}, w.outputName(node.outputs[0]))
        .text("mode", attrString(node, "mode", "constant"));
    return {};
}

Result<> exportSlice(Writer& w, const Node& node)
{
    const Ints begin = attrInts(node, "begin");
    Ints axes;
    for (std::size_t i = 0; i < begin.size(); ++i)
        axes.push_back(static_cast<std::int64_t>(i));
    const std::string x = w.input(node.inputs[0]);
    w.node("Slice",
           {x, w.intsInput(begin), w.intsInput(attrInts(node, "end")), w.intsInput(attrInts(node, "axes", axes)),
            w.intsInput(attrInts(node, "strides", Ints(begin.size(), 1)))},
           w.outputName(node.outputs[0]));
    return {};
}

Result<> exportTake(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    w.node("Gather", inputs, w.outputName(node.outputs[0])).integer("axis", axisOf(w, node, 0));
    return {};
}

constexpr Names kReductions[] = {
    {"max", "ReduceMax"}, {"mean", "ReduceMean"}, {"min", "ReduceMin"}, {"prod", "ReduceProd"}, {"sum", "ReduceSum"}};

/// In opset 17 the axes of ReduceSum are an input, those of the others an attribute; from opset 18 on all are inputs.
Result<> exportReduce(Writer& w, const Node& node)
{
    const Ints axes = attrInts(node, "axes");
    std::vector<std::string> inputs = inputsOf(w, node);
    const bool asInput = node.op == "sum" || w.opset() >= 18;
    if (asInput && !axes.empty())
        inputs.push_back(w.intsInput(axes));
    NodeWriter writer = w.node(std::ranges::find(kReductions, std::string_view(node.op), &Names::first)->second, inputs,
                               w.outputName(node.outputs[0]));
    writer.integer("keepdims", attrInt(node, "keepdims", 0));
    if (!asInput && !axes.empty())
        writer.ints("axes", axes);
    return {};
}

Result<> exportArg(Writer& w, const Node& node)
{
    const auto inputs = inputsOf(w, node);
    NodeWriter writer = w.node(node.op == "argmax" ? "ArgMax" : "ArgMin", inputs, w.outputName(node.outputs[0]));
    writer.integer("axis", attrInts(node, "axes").at(0)).integer("keepdims", attrInt(node, "keepdims", 0));
    return {};
}

struct Entry
{
    std::string_view op;
    NodeExporter convert;
};
constexpr Entry kSpecial[] = {
    {"argmax", exportArg},
    {"argmin", exportArg},
    {"avg_pool2d", exportPool},
    {"avg_pool3d", exportPool},
    {"batch_flatten", exportFlatten},
    {"batch_norm", exportBatchNorm},
    {"bias_add", exportBiasAdd},
    {"broadcast_to", exportBroadcastTo},
    {"cast", exportCast},
    {"clip", exportClip},
    {"concatenate", exportConcatenate},
    {"cumulative_sum", exportCumulativeSum},
    {"expand_dims", exportReshape},
    {"gelu", exportGelu},
    {"global_avg_pool2d", exportGlobalPool},
    {"global_avg_pool3d", exportGlobalPool},
    {"global_max_pool2d", exportGlobalPool},
    {"global_max_pool3d", exportGlobalPool},
    {"log_softmax", exportSoftmax},
    {"max_pool2d", exportPool},
    {"max_pool3d", exportPool},
    {"mod", exportMod},
    {"not_equal", exportNotEqual},
    {"pad", exportPad},
    {"reshape", exportReshape},
    {"rsqrt", exportRsqrt},
    {"silu", exportSilu},
    {"softmax", exportSoftmax},
    {"split", exportSplit},
    {"squeeze", exportReshape},
    {"strided_slice", exportSlice},
    {"take", exportTake},
    {"transpose", exportTranspose},
};

} // namespace

NodeExporter findExporter(std::string_view op)
{
    if (const auto found = std::ranges::find(kSpecial, op, &Entry::op); found != std::end(kSpecial))
        return found->convert;
    if (std::ranges::find(kPlain, op, &Names::first) != std::end(kPlain))
        return exportPlain;
    if (std::ranges::find(kParametric, op, &Parametric::ours) != std::end(kParametric))
        return exportParametric;
    if (std::ranges::find(kReductions, op, &Names::first) != std::end(kReductions))
        return exportReduce;
    for (const auto find : {findControlExporter, findProductExporter, findQuantizeExporter})
        if (const NodeExporter found = find(op))
            return found;
    return findSampleExporter(op);
}

} // namespace lathe::frontend::onnx_detail
