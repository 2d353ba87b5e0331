// Matrix products and reductions.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {

/// alpha * A' * B' + beta * C. Weights become [N, K], the order of dense.
Result<std::vector<ValueId>> convertGemm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(ValueId weight, b.input(node, 1));
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 1.0));
    LATHE_TRY_ASSIGN(const double beta, node.number("beta", 1.0));
    LATHE_TRY_ASSIGN(const std::int64_t transA, node.integer("transA", 0));
    LATHE_TRY_ASSIGN(const std::int64_t transB, node.integer("transB", 0));
    node.ignore("broadcast"); // always on since opset 7
    if (transA != 0) {
        LATHE_TRY_ASSIGN(data, b.emit("transpose", {{"axes", Ints{1, 0}}}, {data}));
    }
    if (transB == 0) {
        LATHE_TRY_ASSIGN(weight, b.emit("transpose", {{"axes", Ints{1, 0}}}, {weight}));
    }
    if (alpha != 1.0) {
        LATHE_TRY_ASSIGN(weight, b.emit("multiply", {}, {weight, b.scalar(b.dtype(weight), alpha)}));
    }
    LATHE_TRY_ASSIGN(ValueId result, b.emit("dense", {}, {data, weight}));
    if (!node.hasInput(2) || beta == 0.0)
        return std::vector{result};
    LATHE_TRY_ASSIGN(ValueId bias, b.input(node, 2));
    if (beta != 1.0) {
        LATHE_TRY_ASSIGN(bias, b.emit("multiply", {}, {bias, b.scalar(b.dtype(bias), beta)}));
    }
    const std::int64_t columns = b.shape(result)[1];
    if (b.shape(bias) == Ints{1, columns}) {
        LATHE_TRY_ASSIGN(bias, b.reshape(bias, {columns}));
    }
    if (b.shape(bias) == Ints{columns}) {
        LATHE_TRY_ASSIGN(result, b.emit("bias_add", {{"axis", std::int64_t{1}}}, {result, bias}));
    } else {
        LATHE_TRY_ASSIGN(result, b.emit("add", {}, {result, bias}));
    }
    return std::vector{result};
}

/// A constant matrix on the right makes a dense layer, with the dimensions before the last folded into rows; anything
/// else is a general product.
Result<ValueId> matrixProduct(Builder& b, ValueId left, ValueId right)
{
    if (b.rank(left) == 1 || b.rank(right) == 1) { // a row in front, a column behind, and neither stays
        if (b.rank(left) == 0 || b.rank(right) == 0)
            return makeError(Errc::BadFile, say(Msg::ScalarProduct));
        const bool row = b.rank(left) == 1, column = b.rank(right) == 1;
        if (row) {
            LATHE_TRY_ASSIGN(left, b.reshape(left, {1, b.shape(left)[0]}));
        }
        if (column) {
            LATHE_TRY_ASSIGN(right, b.reshape(right, {b.shape(right)[0], 1}));
        }
        LATHE_TRY_ASSIGN(const ValueId product, matrixProduct(b, left, right));
        Ints shape = b.shape(product);
        if (column)
            shape.pop_back();
        if (row)
            shape.erase(shape.end() - (column ? 1 : 2));
        return b.reshape(product, shape);
    }
    Attrs attrs;
    if (!isFloat(b.dtype(left)) && sizeOf(b.dtype(left)) < 4)
        attrs["out_dtype"] = std::string(toString(DType::I32));
    if (b.rank(left) >= 2 && b.rank(right) == 2 && (b.isConstant(right) || b.rank(left) == 2)
        && b.shape(left).back() == b.shape(right)[0]) {
        Ints outShape = b.shape(left);
        std::int64_t rows = 1;
        for (std::size_t i = 0; i + 1 < outShape.size(); ++i)
            rows *= outShape[i];
        LATHE_TRY_ASSIGN(const ValueId weight, b.emit("transpose", {{"axes", Ints{1, 0}}}, {right}));
        LATHE_TRY_ASSIGN(const ValueId flat, b.reshape(left, {rows, outShape.back()}));
        LATHE_TRY_ASSIGN(const ValueId product, b.emit("dense", std::move(attrs), {flat, weight}));
        outShape.back() = b.shape(right)[1];
        return b.reshape(product, outShape);
    }
    return b.emit("matmul", std::move(attrs), {left, right});
}

namespace {

Result<std::vector<ValueId>> convertMatMul(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId left, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId right, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ValueId result, matrixProduct(b, left, right));
    return std::vector{result};
}

/// By elimination with the largest pivot of each column, a few nodes a column.
Result<std::vector<ValueId>> convertDet(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    constexpr std::int64_t kMost = 64;
    const Ints shape = b.shape(x);
    if (shape.size() < 2 || shape.back() != shape[shape.size() - 2] || !isFloat(b.dtype(x)))
        return makeError(Errc::BadFile, say(Msg::MatricesNotSquare));
    const std::int64_t n = shape.back();
    if (n < 1 || n > kMost)
        return makeError(Errc::Unsupported, say(Msg::NeedsDeterminant, n, n));
    const Ints outer(shape.begin(), shape.end() - 2);
    const std::int64_t count = elementCount(outer);
    Composer c(b);
    const bool narrow = sizeOf(b.dtype(x)) < sizeOf(DType::F32);
    ValueId rest = c.reshape(narrow ? c.cast(x, DType::F32) : x, {count, n, n});
    ValueId product;
    for (std::int64_t m = n; m > 0; --m) { // rest is [count, m, m]
        const ValueId column = c.slice(rest, 2, 0, 1);
        ValueId pivotRow = rest;
        ValueId factor = column;
        if (m > 1) {
            const ValueId place = c.op("argmax", {c.op("abs", {column})},
                                       {{"axes", Ints{1}}, {"keepdims", std::int64_t{1}}});
            pivotRow = c.op("gather_elements", {rest, c.broadcast(place, {count, 1, m})}, {{"axis", std::int64_t{1}}});
            const ValueId pivot = c.slice(pivotRow, 2, 0, 1);
            const ValueId swapped = c.op("not_equal", {place, c.like(place, 0)});
            factor = c.where(swapped, c.sub(c.like(pivot, 0), pivot), pivot);
            std::vector<double> rows;
            for (std::int64_t i = 1; i < m; ++i)
                rows.push_back(static_cast<double>(i));
            const ValueId isPivot = c.op("equal", {place, b.constant(DType::I64, {m - 1, 1}, rows)});
            const ValueId below = c.where(isPivot, c.slice(rest, 1, 0, 1), c.slice(rest, 1, 1, m));
            const ValueId safe = c.where(c.op("equal", {pivot, c.like(pivot, 0)}), c.like(pivot, 1), pivot);
            const ValueId ratio = c.div(c.slice(below, 2, 0, 1), safe);
            rest = c.sub(c.slice(below, 2, 1, m), c.mul(ratio, c.slice(pivotRow, 2, 1, m)));
        }
        product = product.valid() ? c.mul(product, factor) : factor;
    }
    return c.finish({c.cast(c.reshape(product, outer), b.dtype(x))});
}

/// Reductions take their axes as attribute or, from opset 13 (ReduceSum) and 18 on, as input.
Result<std::vector<ValueId>> convertReduce(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::optional<Ints> axes, attributeOrInput(b, node, "axes", 1));
    LATHE_TRY_ASSIGN(const std::int64_t keepDims, node.integer("keepdims", 1));
    LATHE_TRY_ASSIGN(const std::int64_t noop, node.integer("noop_with_empty_axes", 0));
    const std::string_view op = std::string_view(node.op()).substr(6);
    const bool skip = noop != 0 && (!axes || axes->empty());
    Composer c(b);
    const auto reduce = [&](std::string_view name, ValueId value) {
        return skip ? value : c.reduce(name, value, axes.value_or(Ints{}), keepDims != 0);
    };
    if (op == "LogSumExp" && !skip) {
        // The largest keeps exp within its range; an infinite one would leave infinity - infinity.
        const ValueId top = c.reduce("max", x, axes.value_or(Ints{})), none = c.like(x, 0);
        const ValueId largest = c.where(c.op("equal", {c.sub(top, top), none}), top, none);
        const ValueId sum = c.reduce("sum", c.op("exp", {c.sub(x, largest)}), axes.value_or(Ints{}));
        const ValueId y = c.add(c.op("log", {sum}), largest);
        if (keepDims != 0 || c.failed())
            return c.finish({y});
        const ValueId shaped = reduce("max", x); // for its shape alone
        return c.finish({c.reshape(y, c.shape(shaped))});
    }
    const DType dtype = b.dtype(x);
    if (dtype == DType::Bool)
        x = c.cast(x, DType::U8);
    if (op == "L1")
        x = c.op("abs", {x});
    else if (op == "L2" || op == "SumSquare")
        x = c.mul(x, x);
    const std::string_view name = op == "Mean"   ? "mean"
                                  : op == "Max"  ? "max"
                                  : op == "Min"  ? "min"
                                  : op == "Prod" ? "prod"
                                                 : "sum";
    ValueId y = reduce(name, x);
    if (op == "L2")
        y = c.op("sqrt", {y});
    else if (op == "LogSum")
        y = c.op("log", {y});
    if (dtype == DType::Bool)
        y = c.cast(y, DType::Bool);
    return c.finish({y});
}

Result<std::vector<ValueId>> convertArg(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const std::int64_t keepDims, node.integer("keepdims", 1));
    LATHE_TRY_ASSIGN(const std::int64_t last, node.integer("select_last_index", 0));
    Composer c(b);
    constexpr std::int64_t kBehind = -(std::int64_t{1} << 40); // before the first entry, whatever the extent
    if (last != 0) // the first one from behind
        x = c.slice(x, axis, -1, kBehind, -1);
    ValueId y = c.op(node.op() == "ArgMax" ? "argmax" : "argmin", {x}, {{"axes", Ints{axis}}, {"keepdims", keepDims}});
    if (last != 0)
        y = c.sub(c.like(y, static_cast<double>(c.extent(x, axis) - 1)), y);
    return c.finish({y});
}

} // namespace

std::span<const ConverterEntry> matrixConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"ArgMax", convertArg},        {"ArgMin", convertArg},          {"Det", convertDet},
        {"Gemm", convertGemm},         {"MatMul", convertMatMul},       {"ReduceL1", convertReduce},
        {"ReduceL2", convertReduce},   {"ReduceLogSum", convertReduce}, {"ReduceLogSumExp", convertReduce},
        {"ReduceMax", convertReduce},  {"ReduceMean", convertReduce},   {"ReduceMin", convertReduce},
        {"ReduceProd", convertReduce}, {"ReduceSum", convertReduce},    {"ReduceSumSquare", convertReduce},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
