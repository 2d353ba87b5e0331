// Reductions over axes.

#include "core/compute/definitions/reduction.h"
#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::graph::operators {
namespace {

enum class Kind
{
    Sum,
    Mean,
    Prod,
    Max,
    Min
};

struct Reduced
{
    Shape kept; ///< the input's shape with the reduced dimensions as 1
    Shape outShape;
    std::int64_t count = 1; ///< elements that meet in one
    std::int64_t axis = 0; ///< the first
};

Result<Reduced> reducedOf(const Node& node, const TensorType& data)
{
    LATHE_TRY_ASSIGN(const Shape given, intsAttr(node, "axes", {}));
    LATHE_TRY_ASSIGN(Shape axes, normalAxes(given, data.shape.size()));
    LATHE_TRY_ASSIGN(const bool keepDims, boolAttr(node, "keepdims", false));
    if (axes.empty()) { // all of them
        for (std::size_t i = 0; i < data.shape.size(); ++i)
            axes.push_back(static_cast<std::int64_t>(i));
    }
    Reduced result;
    result.kept = data.shape;
    result.axis = axes.empty() ? 0 : axes.front();
    for (const std::int64_t axis : axes) {
        std::int64_t& extent = result.kept[static_cast<std::size_t>(axis)];
        result.count *= extent;
        extent = 1;
    }
    for (std::size_t i = 0; i < result.kept.size(); ++i) {
        if (keepDims || std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end())
            result.outShape.push_back(result.kept[i]);
    }
    return result;
}

/// `endOf`: the lowest value of the type (true), the highest (false).
template<typename T, Kind K, typename EndOf>
std::vector<T> reduceValues(const std::vector<T>& values, const Shape& shape, const Reduced& reduced, EndOf&& endOf)
{
    std::vector<T> result(static_cast<std::size_t>(elementCount(reduced.kept)), K == Kind::Prod ? T{1} : T{0});
    if (reduced.count == 0 && (K == Kind::Max || K == Kind::Min))
        std::ranges::fill(result, static_cast<T>(endOf(K == Kind::Max))); // what any element would replace
    std::vector<bool> seen(K == Kind::Max || K == Kind::Min ? result.size() : 0, false);
    const auto strides = broadcastStrides(reduced.kept, shape);
    const std::int64_t step = rowStride(strides), length = rowLength(shape);
    forEachRow<1>(shape, {strides}, [&](std::int64_t position, const std::array<std::int64_t, 1>& offsets) {
        for (std::int64_t i = 0; i < length; ++i) {
            const T value = values[static_cast<std::size_t>(position + i)];
            const auto at = static_cast<std::size_t>(offsets[0] + i * step);
            T& target = result[at];
            if constexpr (K == Kind::Sum || K == Kind::Mean) {
                if constexpr (std::is_integral_v<T>)
                    target = static_cast<T>(static_cast<std::uint64_t>(target)
                                            + static_cast<std::uint64_t>(value)); // wraps
                else
                    target += value;
            } else if constexpr (K == Kind::Prod) {
                if constexpr (std::is_integral_v<T>)
                    target = static_cast<T>(static_cast<std::uint64_t>(target) * static_cast<std::uint64_t>(value));
                else
                    target *= value;
            } else {
                if (!seen[at] || (K == Kind::Max ? value > target : value < target)
                    || value != value) // NaN is passed on
                    target = value;
                seen[at] = true;
            }
        }
    });
    return result;
}

/// Integers of 64 bits as numbers with a sign, or without one for types that have none.
template<typename F>
void withSignOf(DType dtype, const std::vector<std::int64_t>& values, F&& f)
{
    if (isSigned(dtype))
        f(values);
    else
        f(std::vector<std::uint64_t>(values.begin(), values.end()));
}

template<Kind K>
Result<Types> inferReduce(const Node& node, InputTypes inputs, Constants)
{
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("the input must be a number, it is bool");
    LATHE_TRY_ASSIGN(Reduced reduced, reducedOf(node, inputs[0]));
    if (reduced.count == 0 && K == Kind::Mean && !isFloat(inputs[0].dtype))
        return brokenRule(fmt::format("there is no mean of no integers: {}", shapeText(inputs[0].shape)));
    return Types{{inputs[0].dtype, std::move(reduced.outShape)}};
}

template<Kind K>
Result<> evaluateReduce(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const TensorType& type = inputs[0]->type;
    LATHE_TRY_ASSIGN(const Reduced reduced, reducedOf(node, type));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto floatEnd = [](bool lowest) { return lowest ? -kInfinity : kInfinity; };
    const auto intEnd = [&type](bool lowest) -> std::int64_t {
        const int bits = static_cast<int>(sizeOf(type.dtype)) * 8;
        if (!isSigned(type.dtype)) // written with the type's width
            return lowest ? 0 : -1;
        const std::int64_t least = -1 - static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
        return lowest ? least : -1 - least;
    };
    if (isFloat(type.dtype)) {
        std::vector<double> values = reduceValues<double, K>(readFloats(*inputs[0]), type.shape, reduced, floatEnd);
        if (K == Kind::Mean)
            std::ranges::for_each(values, [&](double& value) { value /= static_cast<double>(reduced.count); });
        writeFloats(outputs[0], values);
        return {};
    }
    withSignOf(type.dtype, readInts(*inputs[0]), [&]<typename T>(const std::vector<T>& values) {
        const std::vector<T> result = reduceValues<T, K>(values, type.shape, reduced, intEnd);
        writeInts(outputs[0], std::vector<std::int64_t>(result.begin(), result.end()));
    });
    if (K == Kind::Mean) // of the sum as it wrapped
        withSignOf(type.dtype, readInts(outputs[0]), [&]<typename T>(std::vector<T> sums) {
            for (T& value : sums)
                value /= static_cast<T>(reduced.count);
            writeInts(outputs[0], std::vector<std::int64_t>(sums.begin(), sums.end()));
        });
    return {};
}

Result<Types> inferArg(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY_ASSIGN(const Shape axes, intsAttr(node, "axes", {}));
    if (axes.size() != 1)
        return brokenRule(fmt::format("attribute axes must name one dimension, it names {}", axes.size()));
    LATHE_TRY_ASSIGN(Reduced reduced, reducedOf(node, inputs[0]));
    if (reduced.count == 0)
        return brokenRule(fmt::format("the reduced dimension of {} must not be empty", shapeText(inputs[0].shape)));
    return Types{{DType::I64, std::move(reduced.outShape)}};
}

/// Index of the first largest (or smallest) element.
template<bool Largest>
Result<> evaluateArg(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    const Shape& shape = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const Reduced reduced, reducedOf(node, inputs[0]->type));
    const std::int64_t inner = denseStrides(shape)[static_cast<std::size_t>(reduced.axis)];
    std::vector<std::int64_t> result(outputs[0].bytes.size() / sizeof(std::int64_t), 0);
    const auto search = [&](const auto& values) {
        for (std::size_t i = 0; i < result.size(); ++i) {
            const std::int64_t first = static_cast<std::int64_t>(i) / inner * inner * reduced.count
                                       + static_cast<std::int64_t>(i) % inner;
            for (std::int64_t k = 1; k < reduced.count; ++k) {
                const auto best = values[static_cast<std::size_t>(first + result[i] * inner)];
                const auto value = values[static_cast<std::size_t>(first + k * inner)];
                // NaN is passed over, unless there is nothing else.
                if ((Largest ? value > best : value < best) || (best != best && value == value))
                    result[i] = k;
            }
        }
    };
    if (isFloat(inputs[0]->type.dtype))
        search(readFloats(*inputs[0]));
    else
        withSignOf(inputs[0]->type.dtype, readInts(*inputs[0]), search);
    writeInts(outputs[0], result);
    return {};
}

using Tensors = std::span<const compute::Tensor>;

template<compute::Reduction R>
Result<compute::Tensor> computeReduce(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(Shape axes, intsAttr(node, "axes", {}));
    LATHE_TRY_ASSIGN(const bool keepDims, boolAttr(node, "keepdims", false));
    return compute::reduction(context.builder, R, inputs[0], std::move(axes), keepDims);
}

template<bool Largest>
Result<compute::Tensor> computeArg(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const Shape axes, intsAttr(node, "axes", {}));
    LATHE_TRY_ASSIGN(const bool keepDims, boolAttr(node, "keepdims", false));
    LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(axes.at(0), context.builder.shape(inputs[0]).size()));
    return compute::argReduction(context.builder, Largest, inputs[0], axis, keepDims);
}

} // namespace

std::span<const OpDef> reduceOperators()
{
    static const std::vector<OpDef> table = {
        {"sum",
         Pattern::CommReduce,
         1,
         1,
         inferReduce<Kind::Sum>,
         computeReduce<compute::Reduction::Sum>,
         evaluateReduce<Kind::Sum>,
         {.layout = LayoutRule::Reduction, .sums = true, .demands = sumDemands()}},
        {"mean",
         Pattern::CommReduce,
         1,
         1,
         inferReduce<Kind::Mean>,
         computeReduce<compute::Reduction::Mean>,
         evaluateReduce<Kind::Mean>,
         {.layout = LayoutRule::Reduction, .sums = true, .demands = sameDemands()}},
        {"prod",
         Pattern::CommReduce,
         1,
         1,
         inferReduce<Kind::Prod>,
         computeReduce<compute::Reduction::Prod>,
         evaluateReduce<Kind::Prod>,
         {.layout = LayoutRule::Reduction, .sums = true}},
        {"max",
         Pattern::CommReduce,
         1,
         1,
         inferReduce<Kind::Max>,
         computeReduce<compute::Reduction::Max>,
         evaluateReduce<Kind::Max>,
         {.layout = LayoutRule::Reduction, .demands = sameDemands()}},
        {"min",
         Pattern::CommReduce,
         1,
         1,
         inferReduce<Kind::Min>,
         computeReduce<compute::Reduction::Min>,
         evaluateReduce<Kind::Min>,
         {.layout = LayoutRule::Reduction, .demands = sameDemands()}},
        {"argmax", Pattern::CommReduce, 1, 1, inferArg, computeArg<true>, evaluateArg<true>, {.demands = noDemands()}},
        {"argmin",
         Pattern::CommReduce,
         1,
         1,
         inferArg,
         computeArg<false>,
         evaluateArg<false>,
         {.demands = noDemands()}},
    };
    return table;
}

} // namespace lathe::graph::operators
