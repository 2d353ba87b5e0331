// Operators that compute: what is known of the sizes of their results, and what padding would spoil.

#include "core/frontend/onnx/dynamic_size.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <algorithm>
#include <array>
#include <limits>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr double kLowest = -std::numeric_limits<double>::infinity(); // saturates to the lowest of the type
constexpr double kHighest = std::numeric_limits<double>::infinity();

Result<std::vector<ValueId>> elements(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    if ((node.op() == "Div" || node.op() == "Mod") && isInteger(b.dtype(inputs[0]))
        && !b.dynamicAxes(inputs[1]).empty())
        return sizedInput(node, 1); // what lies behind the true size may be 0
    LATHE_TRY_ASSIGN(const std::vector<DynamicAxis> axes, joinedAxes(b, inputs));
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    for (const ValueId value : values) // a Dropout's mask too
        b.setDynamicAxes(value, axes);
    return values;
}

/// Each sample by itself: only the batch may have such a size.
Result<std::vector<ValueId>> samples(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    for (std::size_t i = 1; i < inputs.size(); ++i)
        if (inputs[i].valid() && !b.dynamicAxes(inputs[i]).empty())
            return sizedInput(node, i);
    const std::vector<DynamicAxis> axes = b.dynamicAxes(inputs[0]);
    if (axes.size() != 1 || axes[0].axis != 0)
        return sizedInput(node, 0);
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    for (const ValueId value : values) // positions of maxima too
        b.setDynamicAxes(value, axes);
    return values;
}

/// Regions of an image, each by itself: how many there are may depend on data.
Result<std::vector<ValueId>> regions(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    if (!b.dynamicAxes(inputs[0]).empty())
        return sizedInput(node, 0);
    ValueId count;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        const std::vector<DynamicAxis> axes = inputs[i].valid() ? b.dynamicAxes(inputs[i]) : std::vector<DynamicAxis>();
        if (axes.size() > 1 || (!axes.empty() && axes[0].axis != 0))
            return sizedInput(node, i);
        if (!axes.empty() && count.valid() && axes[0].count != count)
            return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
        count = axes.empty() ? count : axes[0].count;
    }
    // Places behind the true size may name images that do not exist: the first one takes their part.
    Composer c(b);
    std::vector<ValueId> replaced;
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        if (!inputs[i].valid() || b.dynamicAxes(inputs[i]).empty())
            continue;
        b.standIn(inputs[i], filled(b, c, inputs[i], 0));
        replaced.push_back(inputs[i]);
    }
    auto values = c.failed() ? c.finish({}) : convert(b, node);
    for (const ValueId id : replaced)
        b.standIn(id, {});
    if (values && count.valid())
        b.setDynamicAxes((*values)[0], {{0, count}});
    return values;
}

/// Normalizes from an axis on, or (oneAxis) along it: other dimensions may have such a size.
template<bool oneAxis>
Result<std::vector<ValueId>> rows(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    for (std::size_t i = 1; i < inputs.size(); ++i)
        if (inputs[i].valid() && !b.dynamicAxes(inputs[i]).empty())
            return sizedInput(node, i);
    const bool alone = oneAxis && b.opset() >= 13;
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", oneAxis && !alone ? 1 : -1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(inputs[0])));
    const std::vector<DynamicAxis> axes = b.dynamicAxes(inputs[0]);
    for (const DynamicAxis& dynamic : axes)
        if (alone ? dynamic.axis == axis : dynamic.axis >= axis)
            return sizedAxis();
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    for (const ValueId value : values)
        b.setDynamicAxes(value, axes);
    return values;
}

/// A sum from the front does not see what lies behind the true size; one from the back does.
Result<std::vector<ValueId>> cumulativeSums(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    LATHE_TRY_ASSIGN(const Ints given, b.constantInts(node, 1, "the axis"));
    LATHE_TRY_ASSIGN(const std::int64_t reverse, node.integer("reverse", 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given.empty() ? 0 : given[0], b.rank(inputs[0])));
    if (reverse != 0 && b.countAlong(inputs[0], axis).valid())
        return sizedAxis();
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    b.setDynamicAxes(values[0], b.dynamicAxes(inputs[0]));
    return values;
}

/// Rows of the first operand, or columns of the second one.
Result<std::vector<ValueId>> products(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const std::int64_t rankA = b.rank(inputs[0]), rankB = b.rank(inputs[1]);
    const std::int64_t rank = std::max(rankA, rankB);
    std::vector<DynamicAxis> axes;
    if (node.op() == "Gemm") {
        LATHE_TRY_ASSIGN(const std::int64_t transposed, node.integer("transA", 0));
        if (transposed != 0 && !b.dynamicAxes(inputs[0]).empty())
            return sizedInput(node, 0);
        if (inputs.size() > 2 && inputs[2].valid() && b.rank(inputs[2]) > 1 && b.shape(inputs[2])[0] != 1)
            return sizedInput(node, 0);
    }
    for (const DynamicAxis& dynamic : b.dynamicAxes(inputs[0])) {
        if (rankA < 2 || rankB < 2 || dynamic.axis == rankA - 1 || (dynamic.axis != rankA - 2 && rankB > 2))
            return sizedInput(node, 0);
        axes.push_back({dynamic.axis + rank - rankA, dynamic.count});
    }
    for (const DynamicAxis& dynamic : b.dynamicAxes(inputs[1])) {
        if (rankA < 2 || rankB < 2 || dynamic.axis != rankB - 1 || node.op() == "Gemm")
            return sizedInput(node, 1);
        axes.push_back({rank - 1, dynamic.count});
    }
    for (std::size_t i = 2; i < inputs.size(); ++i)
        if (inputs[i].valid() && !b.dynamicAxes(inputs[i]).empty())
            return sizedInput(node, i);
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    b.setDynamicAxes(values[0], axes);
    return values;
}

struct Filling
{
    std::string_view op;
    double value; ///< that changes nothing
};
constexpr std::array kFillings{
    Filling{"ReduceL1", 0},        Filling{"ReduceL2", 0},         Filling{"ReduceLogSum", 0},
    Filling{"ReduceMax", kLowest}, Filling{"ReduceMin", kHighest}, Filling{"ReduceProd", 1},
    Filling{"ReduceSum", 0},       Filling{"ReduceSumSquare", 0},  Filling{"ReduceLogSumExp", kLowest}};

/// What lies behind the true size takes no part: it is filled with what changes nothing.
Result<std::vector<ValueId>> reductions(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const ValueId x = inputs[0];
    LATHE_TRY_ASSIGN(const std::optional<Ints> given, attributeOrInput(b, node, "axes", 1));
    LATHE_TRY_ASSIGN(const std::int64_t keep, node.integer("keepdims", 1));
    LATHE_TRY_ASSIGN(const std::int64_t none, node.integer("noop_with_empty_axes", 0));
    std::vector<bool> reduced(static_cast<std::size_t>(b.rank(x)), (!given || given->empty()) && none == 0);
    for (const std::int64_t one : given.value_or(Ints{})) {
        LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(one, b.rank(x)));
        reduced[static_cast<std::size_t>(axis)] = true;
    }
    std::vector<DynamicAxis> axes; // of the result
    bool along = false;
    for (const DynamicAxis& dynamic : b.dynamicAxes(x)) {
        const auto at = reduced.begin() + dynamic.axis;
        along = along || *at;
        if (!*at)
            axes.push_back(
                {keep != 0 ? dynamic.axis : dynamic.axis - std::count(reduced.begin(), at, true), dynamic.count});
    }
    const auto filling = std::ranges::find(kFillings, node.op(), &Filling::op);
    if (along && (filling == kFillings.end() && !(node.op() == "ReduceMean" && isFloat(b.dtype(x)))))
        return sizedAxis();
    if (along && node.op() == "ReduceMean") {
        Composer c(b);
        const DType wide = b.dtype(x) == DType::F64 ? DType::F64
                                                    : DType::F32; // half floats would lose digits in the sum
        Ints which;
        ValueId count = c.number(wide, 1);
        for (std::int64_t d = 0; d < b.rank(x); ++d) {
            if (!reduced[static_cast<std::size_t>(d)])
                continue;
            which.push_back(d);
            const ValueId here = b.countAlong(x, d);
            count = c.mul(count,
                          here.valid() ? c.cast(here, wide) : c.number(wide, static_cast<double>(c.extent(x, d))));
        }
        const ValueId sum = c.reduce("sum", c.cast(filled(b, c, x, 0), wide), which, keep != 0);
        auto values = c.finish({c.cast(c.div(sum, count), b.dtype(x))});
        if (values)
            b.setDynamicAxes((*values)[0], axes);
        return values;
    }
    Composer c(b);
    if (along)
        b.standIn(x, filled(b, c, x, filling->value));
    auto values = c.failed() ? c.finish({}) : convert(b, node);
    b.standIn(x, {});
    if (values)
        b.setDynamicAxes((*values)[0], axes);
    return values;
}

/// ArgMax and ArgMin: of equal ones the first wins, so that filling with the worst changes nothing.
Result<std::vector<ValueId>> positions(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId x = inputValues(b, node)[0];
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const std::int64_t keep, node.integer("keepdims", 1));
    LATHE_TRY_ASSIGN(const std::int64_t last, node.integer("select_last_index", 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(x)));
    const bool along = b.countAlong(x, axis).valid();
    if (along && last != 0)
        return sizedAxis();
    std::vector<DynamicAxis> axes;
    for (const DynamicAxis& dynamic : b.dynamicAxes(x))
        if (dynamic.axis != axis)
            axes.push_back({dynamic.axis - (keep == 0 && dynamic.axis > axis ? 1 : 0), dynamic.count});
    Composer c(b);
    if (along)
        b.standIn(x, filled(b, c, x, node.op() == "ArgMax" ? kLowest : kHighest));
    auto values = c.failed() ? c.finish({}) : convert(b, node);
    b.standIn(x, {});
    if (values)
        b.setDynamicAxes((*values)[0], axes);
    return values;
}

constexpr std::string_view kElements[] = {"Abs",         "Acos",
                                          "Acosh",       "Add",
                                          "And",         "Asin",
                                          "Asinh",       "Atan",
                                          "Atanh",       "BitShift",
                                          "Cast",        "BitwiseAnd",
                                          "BitwiseNot",  "BitwiseOr",
                                          "BitwiseXor",  "Ceil",
                                          "Celu",        "Clip",
                                          "Cos",         "Cosh",
                                          "Div",         "Dropout",
                                          "Elu",         "Equal",
                                          "Erf",         "Exp",
                                          "Floor",       "Gelu",
                                          "Greater",     "GreaterOrEqual",
                                          "HardSigmoid", "HardSwish",
                                          "Identity",    "IsInf",
                                          "IsNaN",       "LeakyRelu",
                                          "Less",        "LessOrEqual",
                                          "Log",         "Max",
                                          "Mean",        "Min",
                                          "Mish",        "Mod",
                                          "Mul",         "Neg",
                                          "Not",         "Or",
                                          "PRelu",       "Pow",
                                          "Reciprocal",  "Relu",
                                          "Round",       "Selu",
                                          "Shrink",      "Sigmoid",
                                          "Sign",        "Sin",
                                          "Sinh",        "Softplus",
                                          "Softsign",    "Sqrt",
                                          "Sub",         "Sum",
                                          "Swish",       "Tan",
                                          "Tanh",        "ThresholdedRelu",
                                          "Where",       "Xor"};
constexpr std::string_view kSamples[] = {
    "AveragePool",   "BatchNormalization",    "Conv",   "ConvTranspose", "GlobalAveragePool",
    "GlobalMaxPool", "InstanceNormalization", "MaxPool"};

} // namespace

std::span<const SizeRuleEntry> sizeRules()
{
    static const std::vector<SizeRuleEntry> table = [] {
        std::vector<SizeRuleEntry> entries = {
            {"ArgMax", positions},
            {"ArgMin", positions},
            {"CumSum", cumulativeSums},
            {"Gemm", products, 2},
            {"LayerNormalization", rows<false>},
            {"LogSoftmax", rows<true>},
            {"MatMul", products, 2},
            {"ReduceMean", reductions},
            {"RoiAlign", regions},
            {"Softmax", rows<true>},
        };
        for (const std::string_view op : kElements)
            entries.push_back({op, elements, op == "Div" || op == "Mod" ? 2 : 1});
        for (const std::string_view op : kSamples)
            entries.push_back({op, samples});
        for (const Filling& filling : kFillings)
            entries.push_back({filling.op, reductions});
        return entries;
    }();
    return table;
}

} // namespace lathe::frontend::onnx_detail
