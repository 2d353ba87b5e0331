// Operators that work element by element.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace lathe::frontend::onnx_detail {
namespace {

using Names = std::pair<std::string_view, std::string_view>;

std::string_view lookUp(std::span<const Names> table, std::string_view op)
{
    return std::ranges::find(table, op, &Names::first)->second;
}

constexpr Names kUnary[] = {
    {"Abs", "abs"},           {"Acos", "acos"},
    {"Acosh", "acosh"},       {"Asin", "asin"},
    {"Asinh", "asinh"},       {"Atan", "atan"},
    {"Atanh", "atanh"},       {"Ceil", "ceil"},
    {"Cos", "cos"},           {"Cosh", "cosh"},
    {"Erf", "erf"},           {"Exp", "exp"},
    {"Floor", "floor"},       {"HardSwish", "hard_swish"},
    {"IsNaN", "is_nan"},      {"Log", "log"},
    {"Mish", "mish"},         {"Neg", "negative"},
    {"Not", "logical_not"},   {"Reciprocal", "reciprocal"},
    {"Relu", "relu"},         {"Round", "round"},
    {"Sigmoid", "sigmoid"},   {"Sign", "sign"},
    {"Sin", "sin"},           {"Sinh", "sinh"},
    {"Softplus", "softplus"}, {"Sqrt", "sqrt"},
    {"Tan", "tan"},           {"Tanh", "tanh"},
};

Result<std::vector<ValueId>> convertUnary(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit(lookUp(kUnary, node.op()), {}, {x}));
    return std::vector{y};
}

/// Needs no node: both names stand for one value.
Result<std::vector<ValueId>> convertIdentity(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    return std::vector{x};
}

/// Optional values exist as tensors alone: one that is there is, and one that is absent is not.
Result<std::vector<ValueId>> convertOptionalHasElement(Builder& b, NodeReader& node)
{
    const std::byte there{static_cast<unsigned char>(node.hasInput(0) ? 1 : 0)};
    return std::vector{b.addConstant({}, {DType::Bool, {}, graph::makeConst(&there, 1)})};
}

constexpr Names kBinary[] = {
    {"Add", "add"},
    {"And", "logical_and"},
    {"BitwiseAnd", "bitwise_and"},
    {"BitwiseOr", "bitwise_or"},
    {"BitwiseXor", "bitwise_xor"},
    {"Div", "divide"},
    {"Equal", "equal"},
    {"Greater", "greater"},
    {"GreaterOrEqual", "greater_equal"},
    {"Less", "less"},
    {"LessOrEqual", "less_equal"},
    {"Mul", "multiply"},
    {"Or", "logical_or"},
    {"PRelu", "prelu"},
    {"Sub", "subtract"},
    {"Xor", "logical_xor"},
};

/// Up to opset 6 the second operand stood at dimensions of the first from `axis` on, and PRelu's slopes at the
/// channels; without `axis` it is as today.
Result<ValueId> broadcastAsBefore7(Builder& b, NodeReader& node, ValueId x, ValueId y)
{
    node.ignore("broadcast");
    const bool isSlope = node.op() == "PRelu";
    const auto rank = static_cast<std::int64_t>(b.shape(x).size()), own = static_cast<std::int64_t>(b.shape(y).size());
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", isSlope && own == 1 && rank > 1 ? 1 : rank - own));
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis > rank - own)
        return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "axis", axis));
    Ints shape = b.shape(y);
    shape.resize(static_cast<std::size_t>(rank - axis), 1);
    return b.reshape(y, std::move(shape));
}

Result<std::vector<ValueId>> convertBinary(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(ValueId y, b.input(node, 1));
    if (b.opset() < 7) {
        LATHE_TRY_ASSIGN(y, broadcastAsBefore7(b, node, x, y));
    }
    LATHE_TRY_ASSIGN(const ValueId z, b.emit(lookUp(kBinary, node.op()), {}, {x, y}));
    return std::vector{z};
}

/// The result has the base's type, whatever the exponent's.
Result<std::vector<ValueId>> convertPow(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(ValueId exponent, b.input(node, 1));
    if (b.opset() < 7) {
        LATHE_TRY_ASSIGN(exponent, broadcastAsBefore7(b, node, x, exponent));
    }
    Composer c(b);
    const DType dtype = b.dtype(x);
    if (!isFloat(dtype) && isFloat(b.dtype(exponent))) {
        // Cut towards zero, but powers that are whole numbers must not lose one to rounding.
        const ValueId power = c.op("pow", {c.cast(x, DType::F64), c.cast(exponent, DType::F64)});
        const ValueId whole = c.op("round", {power});
        const ValueId slack = c.mul(c.op("abs", {whole}), c.like(whole, 1e-11));
        const ValueId isWhole = c.op("less_equal", {c.op("abs", {c.sub(power, whole)}), slack});
        return c.finish({c.cast(c.where(isWhole, whole, power), dtype)});
    }
    return c.finish({c.op("pow", {x, c.cast(exponent, dtype)})});
}

Result<std::vector<ValueId>> convertMod(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId y, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t fmod, node.integer("fmod", 0));
    Composer c(b);
    if (fmod != 0 && !isFloat(b.dtype(x))) // divisions cut towards zero, so the rest has the dividend's sign
        return c.finish({c.sub(x, c.mul(c.div(x, y), y))});
    if (fmod == 0 && isFloat(b.dtype(x)))
        return makeError(Errc::Unsupported, say(Msg::NeedsFmod, toString(b.dtype(x))));
    return c.finish({c.op("mod", {x, y})});
}

Result<std::vector<ValueId>> convertIsInf(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t negative, node.integer("detect_negative", 1));
    LATHE_TRY_ASSIGN(const std::int64_t positive, node.integer("detect_positive", 1));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Composer c(b);
    const ValueId high = c.op("equal", {x, c.like(x, kInfinity)});
    const ValueId low = c.op("equal", {x, c.like(x, -kInfinity)});
    if (negative != 0 && positive != 0)
        return c.finish({c.op("logical_or", {high, low})});
    if (negative == 0 && positive == 0)
        return c.finish({c.op("logical_and", {high, low})}); // never both
    return c.finish({positive != 0 ? high : low});
}

Result<std::vector<ValueId>> convertShrink(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double bias, node.number("bias", 0));
    LATHE_TRY_ASSIGN(const double lambda, node.number("lambd", 0.5));
    Composer c(b);
    const ValueId low = c.where(c.op("less", {x, c.like(x, -lambda)}), c.add(x, c.like(x, bias)), c.like(x, 0));
    return c.finish({c.where(c.op("greater", {x, c.like(x, lambda)}), c.sub(x, c.like(x, bias)), low)});
}

Result<std::vector<ValueId>> convertBitShift(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId places, b.input(node, 1));
    const auto direction = node.text("direction", "");
    if (!direction)
        return direction.error();
    if (*direction != "LEFT" && *direction != "RIGHT")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "direction", direction->substr(0, 40)));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit(*direction == "LEFT" ? "left_shift" : "right_shift", {}, {x, places}));
    return std::vector{y};
}

/// All bits turned over is -1 - x, in every width.
Result<std::vector<ValueId>> convertBitwiseNot(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Composer c(b);
    const std::int64_t ones = -1;
    const ValueId all = b.addConstant({}, {DType::I64, {}, graph::makeConst(&ones, sizeof(ones))});
    return c.finish({c.sub(c.cast(all, b.dtype(x)), x)});
}

/// Max, Min, Sum, Mean of any number of tensors.
Result<std::vector<ValueId>> convertVariadic(Builder& b, NodeReader& node)
{
    const std::string_view op = node.op() == "Max" ? "maximum" : (node.op() == "Min" ? "minimum" : "add");
    LATHE_TRY_ASSIGN(ValueId result, b.input(node, 0));
    for (std::int64_t i = 1; i < node.inputCount(); ++i) {
        LATHE_TRY_ASSIGN(const ValueId next, b.input(node, i));
        LATHE_TRY_ASSIGN(result, b.emit(op, {}, {result, next}));
    }
    if (node.op() == "Mean") {
        LATHE_TRY_ASSIGN(
            result, b.emit("divide", {}, {result, b.scalar(b.dtype(result), static_cast<double>(node.inputCount()))}));
    }
    return std::vector{result};
}

Result<std::vector<ValueId>> convertWhere(Builder& b, NodeReader& node)
{
    std::vector<ValueId> inputs;
    for (std::int64_t i = 0; i < 3; ++i) {
        LATHE_TRY_ASSIGN(const ValueId input, b.input(node, i));
        inputs.push_back(input);
    }
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("where", {}, inputs));
    return std::vector{y};
}

/// The bounds of Clip are attributes up to opset 10, optional inputs since; where all are constants they become
/// attributes again. Bounds of integers stay tensors, as an attribute would lose the digits of large ones.
Result<std::vector<ValueId>> convertClip(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId x, b.input(node, 0));
    bool known = isFloat(b.dtype(x));
    for (const int index : {1, 2}) {
        if (!node.hasInput(index))
            continue;
        LATHE_TRY_ASSIGN(const ValueId bound, b.input(node, index));
        known = known && b.isConstant(bound);
    }
    Attrs attrs;
    for (const auto& [name, index] : {std::pair{"min", 1}, std::pair{"max", 2}}) {
        if (node.has(name)) {
            LATHE_TRY_ASSIGN(attrs[name], node.number(name, 0));
        } else if (node.hasInput(index)) {
            LATHE_TRY_ASSIGN(const ValueId bound, b.input(node, index));
            if (!known) { // the upper bound last: an empty interval gives that
                LATHE_TRY_ASSIGN(x, b.emit(index == 1 ? "maximum" : "minimum", {}, {x, bound}));
                continue;
            }
            LATHE_TRY_ASSIGN(const std::vector<double> values, b.constantNumbers(node, index, name));
            if (values.size() != 1)
                return makeError(Errc::BadFile, say(Msg::MustBeScalar, name, values.size()));
            attrs[name] = values[0];
        }
    }
    if (attrs.empty())
        return std::vector{x};
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("clip", std::move(attrs), {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertCast(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    std::optional<DType> dtype;
    if (node.op() == "CastLike") {
        LATHE_TRY_ASSIGN(const ValueId like, b.input(node, 1));
        dtype = b.dtype(like);
    } else if (b.opset() < 6) {
        LATHE_TRY_ASSIGN(const std::string to, node.text("to", ""));
        ::onnx::TensorProto_DataType type = ::onnx::TensorProto_DataType_UNDEFINED;
        if (::onnx::TensorProto_DataType_Parse(to, &type))
            dtype = dtypeOf(type);
        if (!dtype)
            return makeError(Errc::Unsupported, say(Msg::NeedsElementType, to.substr(0, 40)));
    } else {
        LATHE_TRY_ASSIGN(const std::int64_t to, node.integer("to", 0));
        dtype = dtypeOf(to);
        if (!dtype)
            return makeError(Errc::Unsupported, say(Msg::NeedsElementType, dataTypeText(to)));
    }
    node.ignore("saturate"); // of 8-bit floats alone
    node.ignore("round_mode");
    LATHE_TRY_ASSIGN(const ValueId y, b.cast(x, *dtype));
    return std::vector{y};
}

struct Parameter
{
    std::string_view onnx, ours;
    double fallback;
};
struct Parametric
{
    std::string_view onnx, ours;
    Parameter first, second;
};
constexpr Parametric kParametric[] = {
    {"Celu", "celu", {"alpha", "alpha", 1.0}, {}},
    {"Elu", "elu", {"alpha", "alpha", 1.0}, {}},
    {"HardSigmoid", "hard_sigmoid", {"alpha", "alpha", 0.2}, {"beta", "beta", 0.5}},
    {"LeakyRelu", "leaky_relu", {"alpha", "alpha", 0.01}, {}},
    {"Selu", "selu", {"alpha", "alpha", 1.67326319217681884765625}, {"gamma", "gamma", 1.05070102214813232421875}},
    {"ThresholdedRelu", "thresholded_relu", {"alpha", "alpha", 1.0}, {}},
};

Result<std::vector<ValueId>> convertParametric(Builder& b, NodeReader& node)
{
    const Parametric& entry = *std::ranges::find(kParametric, std::string_view(node.op()), &Parametric::onnx);
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Attrs attrs;
    for (const Parameter& parameter : {entry.first, entry.second}) {
        if (parameter.onnx.empty())
            continue;
        LATHE_TRY_ASSIGN(attrs[std::string(parameter.ours)], node.number(parameter.onnx, parameter.fallback));
    }
    LATHE_TRY_ASSIGN(const ValueId y, b.emit(entry.ours, std::move(attrs), {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertGelu(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    // Not LATHE_TRY_ASSIGN: gcc 12 at -O2 wrongly warns that the moved string may be uninitialized.
    const auto approximate = node.text("approximate", "none");
    if (!approximate)
        return approximate.error();
    if (*approximate != "none" && *approximate != "tanh")
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeValue, "approximate", approximate->substr(0, 40)));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit(*approximate == "tanh" ? "gelu_tanh" : "gelu", {}, {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertSwish(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 1.0));
    Composer c(b);
    if (alpha == 1.0)
        return c.finish({c.op("silu", {x})});
    return c.finish({c.mul(x, c.op("sigmoid", {c.mul(x, c.like(x, alpha))}))});
}

Result<std::vector<ValueId>> convertSoftsign(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId magnitude, b.emit("abs", {}, {x}));
    LATHE_TRY_ASSIGN(const ValueId divisor, b.emit("add", {}, {magnitude, b.scalar(b.dtype(x), 1.0)}));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("divide", {}, {x, divisor}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertDropout(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    node.ignore("ratio");
    node.ignore("seed");
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId training, b.input(node, 2));
        if (!b.isConstant(training) || b.graph().value(training).constant->bytes != 1
            || *b.graph().value(training).constant->data != std::byte{0})
            return makeError(Errc::Unsupported, say(Msg::NeedsTraining));
    }
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("dropout", {}, {x}));
    if (!node.hasOutput(1))
        return std::vector{y};
    Composer c(b); // the mask: all stay
    return c.finish({y, c.broadcast(b.scalar(DType::Bool, 1), b.shape(x))});
}

} // namespace

std::span<const ConverterEntry> mathConverters()
{
    static const std::vector<ConverterEntry> table = [] {
        std::vector<ConverterEntry> entries = {
            {"BitShift", convertBitShift},
            {"BitwiseNot", convertBitwiseNot},
            {"Cast", convertCast},
            {"CastLike", convertCast},
            {"Clip", convertClip},
            {"Dropout", convertDropout},
            {"Gelu", convertGelu},
            {"Identity", convertIdentity},
            {"IsInf", convertIsInf},
            {"Max", convertVariadic},
            {"Mean", convertVariadic},
            {"Min", convertVariadic},
            {"Mod", convertMod},
            {"OptionalGetElement", convertIdentity},
            {"OptionalHasElement", convertOptionalHasElement},
            {"Pow", convertPow},
            {"Shrink", convertShrink},
            {"Softsign", convertSoftsign},
            {"Sum", convertVariadic},
            {"Swish", convertSwish},
            {"Where", convertWhere},
        };
        for (const Names& names : kUnary)
            entries.push_back({names.first, convertUnary});
        for (const Names& names : kBinary)
            entries.push_back({names.first, convertBinary});
        for (const Parametric& parametric : kParametric)
            entries.push_back({parametric.onnx, convertParametric});
        return entries;
    }();
    return table;
}

} // namespace lathe::frontend::onnx_detail
