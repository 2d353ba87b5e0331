// Normalisations and softmax. What has no operator of its own is written out in primitive arithmetic.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

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
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "training_mode", 1));
    if (spatial != 1)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "spatial", 0));
    LATHE_TRY_ASSIGN(
        const ValueId y,
        b.emit(
            "batch_norm",
            {{"axis", std::int64_t{1}}, {"epsilon", epsilon}, {"center", std::int64_t{1}}, {"scale", std::int64_t{1}}},
            inputs));
    return std::vector{y};
}

} // namespace

Standardised standardise(Composer& c, ValueId x, const Ints& axes, double epsilon)
{
    Standardised s;
    s.mean = c.reduce("mean", x, axes);
    const ValueId centred = c.sub(x, s.mean);
    const ValueId variance = c.reduce("mean", c.mul(centred, centred), axes);
    s.inverse = c.op("rsqrt", {c.add(variance, c.like(x, epsilon))});
    s.y = c.mul(centred, s.inverse);
    return s;
}

Standardised standardiseBySquares(Composer& c, ValueId x, const Ints& axes, double epsilon)
{
    Standardised s;
    const ValueId power = c.reduce("mean", c.mul(x, x), axes);
    s.inverse = c.op("rsqrt", {c.add(power, c.like(x, epsilon))});
    s.y = c.mul(x, s.inverse);
    return s;
}

namespace {

/// The axes from `axis` on. Errors: BadFile.
Result<Ints> lastAxes(Builder& b, NodeReader& node, ValueId x)
{
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", -1));
    const std::int64_t rank = b.rank(x);
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AttributeAxisOutside));
    Ints axes(static_cast<std::size_t>(rank - axis));
    std::iota(axes.begin(), axes.end(), axis);
    return axes;
}

/// The precision of the statistics: float32 unless the network's own is wider.
Result<DType> stashType(Builder& b, NodeReader& node, ValueId x)
{
    LATHE_TRY_ASSIGN(const std::int64_t stash, node.integer("stash_type", 1));
    const auto dtype = dtypeOf(stash);
    if (!dtype || !isFloat(*dtype))
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "stash_type", dataTypeText(stash)));
    return b.dtype(x) == DType::F64 ? DType::F64 : *dtype;
}

Result<std::vector<ValueId>> convertLayerNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId scale, b.input(node, 1));
    LATHE_TRY_ASSIGN(const Ints axes, lastAxes(b, node, x));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    LATHE_TRY_ASSIGN(const DType wide, stashType(b, node, x));
    Composer c(b);
    const Standardised s = standardise(c, c.cast(x, wide), axes, epsilon);
    ValueId y = c.mul(c.cast(s.y, b.dtype(x)), scale);
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 2));
        y = c.add(y, bias);
    }
    return c.finish({y, s.mean, s.inverse});
}

/// RMSNormalization, and SimplifiedLayerNormalization of ONNX Runtime, which is the same and shows 1 / norm.
Result<std::vector<ValueId>> convertRmsNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId scale, b.input(node, 1));
    LATHE_TRY_ASSIGN(const Ints axes, lastAxes(b, node, x));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    LATHE_TRY_ASSIGN(const DType wide, stashType(b, node, x));
    Composer c(b);
    const Standardised s = standardiseBySquares(c, c.cast(x, wide), axes, epsilon);
    return c.finish({c.mul(c.cast(s.y, b.dtype(scale)), scale), s.inverse});
}

/// x / norm along one axis, 0 where the norm is.
Result<std::vector<ValueId>> convertLpNormalization(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", -1));
    LATHE_TRY_ASSIGN(const std::int64_t p, node.integer("p", 2));
    if (p != 1 && p != 2)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "p", p));
    Composer c(b);
    const ValueId norm = p == 1 ? c.reduce("sum", c.op("abs", {x}), {axis})
                                : c.op("sqrt", {c.reduce("sum", c.mul(x, x), {axis})});
    const ValueId none = c.op("equal", {norm, c.like(norm, 0)});
    return c.finish({c.div(x, c.where(none, c.like(norm, 1), norm))});
}

Result<std::vector<ValueId>> convertMeanVariance(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Ints axes, node.integers("axes", {0, 2, 3}));
    Composer c(b);
    const ValueId centred = c.sub(x, c.reduce("mean", x, axes));
    const ValueId deviation = c.op("sqrt", {c.reduce("mean", c.mul(centred, centred), axes)});
    return c.finish({c.div(centred, c.add(deviation, c.like(x, 1e-9)))});
}

/// x / (bias + alpha / size * sum of the squares of `size` neighbouring channels) ^ beta.
Result<std::vector<ValueId>> convertLrn(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 1e-4));
    LATHE_TRY_ASSIGN(const double beta, node.number("beta", 0.75));
    LATHE_TRY_ASSIGN(const double bias, node.number("bias", 1));
    LATHE_TRY_ASSIGN(const std::int64_t size, node.integer("size", 1));
    if (b.rank(x) < 2 || size < 1 || size > 64)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "size", size));
    Composer c(b);
    Ints widths(static_cast<std::size_t>(2 * b.rank(x)), 0);
    widths[2] = (size - 1) / 2;
    widths[3] = size - 1 - (size - 1) / 2;
    const ValueId squares = c.pad(c.mul(x, x), widths);
    ValueId sum;
    for (std::int64_t i = 0; i < size; ++i) {
        const ValueId part = c.slice(squares, 1, i, i + b.shape(x)[1]);
        sum = sum.valid() ? c.add(sum, part) : part;
    }
    const ValueId base = c.add(c.mul(sum, c.like(x, alpha / static_cast<double>(size))), c.like(x, bias));
    return c.finish({c.div(x, c.op("pow", {base, c.like(x, beta)}))});
}

/// Per channel scale and bias [C] as [C, 1, 1 ...] against [N, C, ...].
Result<ValueId> scaleChannels(Builder& b, NodeReader& node, ValueId y)
{
    Ints perChannel(static_cast<std::size_t>(b.rank(y) - 1), 1);
    perChannel[0] = b.shape(y)[1];
    for (std::int64_t i = 1; i <= 2; ++i) {
        LATHE_TRY_ASSIGN(const ValueId given, b.input(node, i));
        if (b.shape(given) != Ints{b.shape(y)[1]})
            return makeError(Errc::BadFile, say(Msg::InputOfChannels, i, b.shape(y)[1]));
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
        return makeError(Errc::BadFile, say(Msg::InputUnder3));
    Ints axes(static_cast<std::size_t>(b.rank(x) - 2));
    std::iota(axes.begin(), axes.end(), 2);
    Composer c(b);
    const ValueId whole = standardise(c, x, axes, epsilon).y;
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(const ValueId y, scaleChannels(b, node, whole));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertGroupNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", 1e-5));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("num_groups", 0));
    LATHE_TRY_ASSIGN(const DType wide, stashType(b, node, x));
    if (b.rank(x) < 3 || groups < 1 || b.shape(x)[1] % groups != 0)
        return makeError(Errc::BadFile, say(Msg::GroupsUnfit, groups));
    const Ints whole = b.shape(x);
    Composer c(b);
    const ValueId apart = c.op("reshape", {c.cast(x, wide)}, {{"newshape", Ints{whole[0], groups, -1}}});
    ValueId y = standardise(c, apart, {2}, epsilon).y;
    if (b.opset() < 21) { // scale and bias were of groups
        for (std::int64_t i = 1; i <= 2; ++i) {
            LATHE_TRY_ASSIGN(const ValueId given, b.input(node, i));
            const ValueId column = c.reshape(c.cast(given, wide), {groups, 1});
            y = i == 1 ? c.mul(y, column) : c.add(y, column);
        }
        return c.finish({c.cast(c.reshape(y, whole), b.dtype(x))});
    }
    y = c.cast(c.reshape(y, whole), b.dtype(x));
    LATHE_TRY(c.finish({}));
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
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, rank));
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
        {"BatchNormalization", convertBatchNorm},
        {"GroupNormalization", convertGroupNorm},
        {"InstanceNormalization", convertInstanceNorm},
        {"LRN", convertLrn},
        {"LayerNormalization", convertLayerNorm},
        {"LogSoftmax", convertSoftmax},
        {"LpNormalization", convertLpNormalization},
        {"MeanVarianceNormalization", convertMeanVariance},
        {"RMSNormalization", convertRmsNorm},
        {"SimplifiedLayerNormalization", convertRmsNorm},
        {"Softmax", convertSoftmax},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
