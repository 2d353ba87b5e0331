// Normalisations and softmax. What has no operator of its own is written out in primitive arithmetic.

#include "core/frontend/onnx/importer.h"
#include "core/frontend/onnx/schema.h"

#include <fmt/format.h>

#include <numeric>

namespace lathe::frontend::onnx_detail {
namespace {

Result<std::vector<ValueId>> convertBatchNorm(Builder& b, NodeReader& node)
{
    std::vector<ValueId> inputs;
    for (std::int64_t i = 0; i < 5; ++i) {
        LATHE_TRY_ASSIGN(const ValueId input, b.input(node, i));
        inputs.push_back(input);
    }
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    LATHE_TRY_ASSIGN(const std::int64_t training, node.integer("training_mode", 0));
    LATHE_TRY_ASSIGN(const std::int64_t spatial, node.integer("spatial", 1));
    node.ignore("momentum");
    if (training != 0)
        return makeError(Errc::Unsupported, "attribute training_mode 1");
    if (spatial != 1)
        return makeError(Errc::Unsupported, "attribute spatial 0");
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("batch_norm", {{"axis", std::int64_t{1}}, {"epsilon", epsilon}, {"center", std::int64_t{1}}, {"scale", std::int64_t{1}}}, inputs));
    return std::vector{y};
}

/// (x - mean) / sqrt(variance + epsilon) over `axes`.
Result<ValueId> standardise(Builder& b, ValueId x, const Ints& axes, double epsilon)
{
    const Attrs reduce{{"axes", axes}, {"keepdims", std::int64_t{1}}};
    LATHE_TRY_ASSIGN(const ValueId mean, b.emit("mean", reduce, {x}));
    LATHE_TRY_ASSIGN(const ValueId centred, b.emit("subtract", {}, {x, mean}));
    LATHE_TRY_ASSIGN(const ValueId squares, b.emit("multiply", {}, {centred, centred}));
    LATHE_TRY_ASSIGN(const ValueId variance, b.emit("mean", reduce, {squares}));
    LATHE_TRY_ASSIGN(const ValueId shifted, b.emit("add", {}, {variance, b.scalar(b.dtype(x), epsilon)}));
    LATHE_TRY_ASSIGN(const ValueId inverse, b.emit("rsqrt", {}, {shifted}));
    return b.emit("multiply", {}, {centred, inverse});
}

Result<std::vector<ValueId>> convertLayerNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId scale, b.input(node, 1));
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", -1));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    node.ignore("stash_type"); // the precision of the statistics
    const std::int64_t rank = b.rank(x);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank)
        return makeError(Errc::BadFile, "attribute axis is outside of the input");
    Ints axes(static_cast<std::size_t>(rank - axis));
    std::iota(axes.begin(), axes.end(), axis);
    LATHE_TRY_ASSIGN(ValueId y, standardise(b, x, axes, epsilon));
    LATHE_TRY_ASSIGN(y, b.emit("multiply", {}, {y, scale}));
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 2));
        LATHE_TRY_ASSIGN(y, b.emit("add", {}, {y, bias}));
    }
    return std::vector{y};
}

/// Per channel scale and bias [C] as [C, 1, 1 ...] against [N, C, ...].
Result<ValueId> scaleChannels(Builder& b, NodeReader& node, ValueId y)
{
    Ints perChannel(static_cast<std::size_t>(b.rank(y) - 1), 1);
    perChannel[0] = b.shape(y)[1];
    for (std::int64_t i = 1; i <= 2; ++i) {
        LATHE_TRY_ASSIGN(const ValueId given, b.input(node, i));
        if (b.shape(given) != Ints{b.shape(y)[1]})
            return makeError(Errc::BadFile, fmt::format("input {} must have one value for each of the {} channels", i, b.shape(y)[1]));
        LATHE_TRY_ASSIGN(const ValueId column, b.reshape(given, perChannel));
        LATHE_TRY_ASSIGN(y, b.emit(i == 1 ? "multiply" : "add", {}, {y, column}));
    }
    return y;
}

Result<std::vector<ValueId>> convertInstanceNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    if (b.rank(x) < 3)
        return makeError(Errc::BadFile, "the input must have at least 3 dimensions");
    Ints axes(static_cast<std::size_t>(b.rank(x) - 2));
    std::iota(axes.begin(), axes.end(), 2);
    LATHE_TRY_ASSIGN(ValueId y, standardise(b, x, axes, epsilon));
    LATHE_TRY_ASSIGN(y, scaleChannels(b, node, y));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertGroupNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("num_groups", 0));
    node.ignore("stash_type");
    if (b.rank(x) < 3 || groups < 1 || b.shape(x)[1] % groups != 0)
        return makeError(Errc::BadFile, fmt::format("{} groups do not divide the channels", groups));
    if (b.opset() < 21)
        return makeError(Errc::Unsupported, "the definition before opset 21, with scales per group");
    const Ints whole = b.shape(x);
    LATHE_TRY_ASSIGN(ValueId y, b.emit("reshape", {{"newshape", Ints{whole[0], groups, -1}}}, {x}));
    LATHE_TRY_ASSIGN(y, standardise(b, y, {2}, epsilon));
    LATHE_TRY_ASSIGN(y, b.reshape(y, whole));
    LATHE_TRY_ASSIGN(y, scaleChannels(b, node, y));
    return std::vector{y};
}

/// Since opset 13 softmax works along one axis. Before, all dimensions from `axis` (default 1) on are one.
Result<std::vector<ValueId>> convertSoftmax(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    const bool oneAxis = b.opset() >= 13;
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", oneAxis ? -1 : 1));
    const std::string_view op = node.op() == "Softmax" ? "softmax" : "log_softmax";
    const std::int64_t rank = b.rank(x);
    if (axis < -rank || axis >= rank)
        return makeError(Errc::BadFile, fmt::format("attribute axis is {}, the input has {} dimensions", axis, rank));
    axis = axis < 0 ? axis + rank : axis;
    if (oneAxis || axis == rank - 1) {
        LATHE_TRY_ASSIGN(const ValueId y, b.emit(op, {{"axis", axis}}, {x}));
        return std::vector{y};
    }
    const Ints whole = b.shape(x);
    std::int64_t rows = 1, columns = 1;
    for (std::int64_t i = 0; i < rank; ++i)
        (i < axis ? rows : columns) *= whole[static_cast<std::size_t>(i)];
    LATHE_TRY_ASSIGN(ValueId y, b.reshape(x, {rows, columns}));
    LATHE_TRY_ASSIGN(y, b.emit(op, {{"axis", std::int64_t{1}}}, {y}));
    LATHE_TRY_ASSIGN(y, b.reshape(y, whole));
    return std::vector{y};
}

} // namespace

std::span<const ConverterEntry> normConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"BatchNormalization", convertBatchNorm}, {"GroupNormalization", convertGroupNorm}, {"InstanceNormalization", convertInstanceNorm},
        {"LayerNormalization", convertLayerNorm}, {"LogSoftmax", convertSoftmax}, {"Softmax", convertSoftmax},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
