// Running sums and ranks along an axis. They run as functions of the runtime: a loop nest would have to look at the
// whole row for each element.

#include "core/graph/operators/demands.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/functions.h"
#include "core/graph/operators/indexing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::graph::operators {
namespace {

Result<Types> inferCumulativeSum(const Node& node, InputTypes inputs, Constants)
{
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("the input must be a number, it is bool");
    LATHE_TRY(axisAttr(node, inputs[0].shape.size()));
    return Types{inputs[0]};
}

Result<> evaluateCumulativeSum(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& shape = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, shape.size()));
    LATHE_TRY_ASSIGN(const bool exclusive, boolAttr(node, "exclusive", false));
    LATHE_TRY_ASSIGN(const bool reverse, boolAttr(node, "reverse", false));
    const std::int64_t inner = denseStrides(shape)[axis], extent = shape[axis];
    const auto run = [&](auto values) {
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(values.size()) / std::max<std::int64_t>(extent, 1);
             ++row) {
            const std::int64_t first = row / inner * inner * extent + row % inner;
            using T = typename decltype(values)::value_type;
            using Sum = std::conditional_t<std::is_floating_point_v<T>, T, Wrapping>;
            Sum sum = 0;
            for (std::int64_t k = 0; k < extent; ++k) {
                auto& value = values[static_cast<std::size_t>(first + (reverse ? extent - 1 - k : k) * inner)];
                const Sum with = sum + static_cast<Sum>(value);
                value = static_cast<T>(exclusive ? sum : with);
                sum = with;
            }
        }
        return values;
    };
    if (isFloat(inputs[0]->type.dtype))
        writeFloats(outputs[0], run(readFloats(*inputs[0])));
    else
        writeInts(outputs[0], run(readInts(*inputs[0])));
    return {};
}

Result<Types> inferTopPositions(const Node& node, InputTypes inputs, Constants)
{
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("the input must be a number, it is bool");
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
    LATHE_TRY_ASSIGN(const std::int64_t count, intAttr(node, "k", 1));
    Shape shape = inputs[0].shape;
    if (count < 1 || count > shape[axis])
        return brokenRule(fmt::format("k is {}, the axis has {} entries", count, shape[axis]));
    shape[axis] = count;
    return Types{{DType::I64, std::move(shape)}};
}

/// Not-a-number is higher than all numbers.
template<typename T>
bool comesBefore(T a, T b, bool largest)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) || std::isnan(b))
            return std::isnan(a) != std::isnan(b) && std::isnan(a) == largest;
    }
    return largest ? a > b : a < b;
}

Result<> evaluateTopPositions(const Node& node, Arguments inputs, std::span<HostTensor> outputs)
{
    const Shape& shape = inputs[0]->type.shape;
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, shape.size()));
    LATHE_TRY_ASSIGN(const bool largest, boolAttr(node, "largest", true));
    const std::int64_t inner = denseStrides(shape)[axis], extent = shape[axis], count = outputs[0].type.shape[axis];
    std::vector<std::int64_t> result(outputs[0].bytes.size() / sizeof(std::int64_t));
    const auto run = [&](const auto& values) {
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(result.size()) / count; ++row) {
            const std::int64_t outer = row / inner, rest = row % inner;
            std::vector<std::int64_t> order(static_cast<std::size_t>(extent));
            std::iota(order.begin(), order.end(), 0);
            const auto value = [&](std::int64_t k) {
                return values[static_cast<std::size_t>((outer * extent + k) * inner + rest)];
            };
            std::ranges::stable_sort(
                order, [&](std::int64_t a, std::int64_t b) { return comesBefore(value(a), value(b), largest); });
            for (std::int64_t k = 0; k < count; ++k)
                result[static_cast<std::size_t>((outer * count + k) * inner + rest)] =
                    order[static_cast<std::size_t>(k)];
        }
    };
    if (isFloat(inputs[0]->type.dtype)) {
        run(readFloats(*inputs[0]));
    } else if (inputs[0]->type.dtype == DType::U64) {
        const std::vector<std::int64_t> bits = readInts(*inputs[0]);
        run(std::vector<std::uint64_t>(bits.begin(), bits.end()));
    } else {
        run(readInts(*inputs[0]));
    }
    writeInts(outputs[0], result);
    return {};
}

Result<FunctionCall> callCumulativeSum(const Node& node, InputTypes inputs, InputTypes)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
    LATHE_TRY_ASSIGN(const bool exclusive, boolAttr(node, "exclusive", false));
    LATHE_TRY_ASSIGN(const bool reverse, boolAttr(node, "reverse", false));
    runtime::CumulativeSumParameters p{};
    p.dtype = static_cast<std::int64_t>(inputs[0].dtype);
    p.rows = rowsAlong(inputs[0].shape, axis);
    p.exclusive = exclusive ? 1 : 0;
    p.reverse = reverse ? 1 : 0;
    return functionCall({"lathe_0_cumulative_sum"}, p);
}

Result<FunctionCall> callTopPositions(const Node& node, InputTypes inputs, InputTypes outputs)
{
    LATHE_TRY_ASSIGN(const std::size_t axis, axisAttr(node, inputs[0].shape.size()));
    LATHE_TRY_ASSIGN(const bool largest, boolAttr(node, "largest", true));
    runtime::TopPositionsParameters p{};
    p.dtype = static_cast<std::int64_t>(inputs[0].dtype);
    p.rows = rowsAlong(inputs[0].shape, axis);
    p.count = outputs[0].shape[axis];
    p.largest = largest ? 1 : 0;
    FunctionCall call = functionCall({"lathe_0_top_positions"}, p);
    call.partScratchBytes = p.count * runtime::kSelectionBytes;
    return call;
}

} // namespace

std::span<const OpDef> orderingOperators()
{
    static const std::vector<OpDef> table = {
        {"cumulative_sum",
         Pattern::Opaque,
         1,
         1,
         inferCumulativeSum,
         nullptr,
         evaluateCumulativeSum,
         {.sums = true, .demands = sumDemands()},
         callCumulativeSum},
        {"top_positions",
         Pattern::Opaque,
         1,
         1,
         inferTopPositions,
         nullptr,
         evaluateTopPositions,
         {.demands = noDemands()},
         callTopPositions},
    };
    return table;
}

} // namespace lathe::graph::operators
