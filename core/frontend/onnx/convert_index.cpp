// Elements picked and placed by indices, order, and masks that follow from positions alone.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>
#include <numeric>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxPositions = std::int64_t{1} << 22; ///< of masks and tables that import writes out

Result<std::int64_t> axisOf(Builder& b, NodeReader& node, ValueId x, std::int64_t fallback)
{
    LATHE_TRY_ASSIGN(const std::int64_t axis, node.integer("axis", fallback));
    const std::int64_t rank = b.rank(x);
    if (axis < -rank || axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, rank));
    return axis < 0 ? axis + rank : axis;
}

Result<std::int64_t> scalarInput(Builder& b, NodeReader& node, std::int64_t index, std::string_view what)
{
    LATHE_TRY_ASSIGN(const Ints values, b.constantInts(node, index, what));
    if (values.size() != 1)
        return makeError(Errc::BadFile, say(Msg::MustBeOneNumber, what, values.size()));
    return values[0];
}

/// The indices in a type that the operators take; narrower ones are widened.
Result<ValueId> indexInput(Builder& b, NodeReader& node, std::int64_t position)
{
    LATHE_TRY_ASSIGN(const ValueId id, b.input(node, position));
    return b.dtype(id) == DType::I64 ? Result<ValueId>(id) : b.cast(id, DType::I32);
}

Result<std::vector<ValueId>> convertGatherElements(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId indices, indexInput(b, node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, axisOf(b, node, x, 0));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("gather_elements", {{"axis", axis}}, {x, indices}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertGatherNd(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId indices, indexInput(b, node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t batch, node.integer("batch_dims", 0));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("gather_nd", {{"batch_dims", batch}}, {x, indices}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertScatterElements(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId indices, indexInput(b, node, 1));
    LATHE_TRY_ASSIGN(const ValueId updates, b.input(node, 2));
    LATHE_TRY_ASSIGN(const std::int64_t axis, axisOf(b, node, x, 0));
    LATHE_TRY_ASSIGN(const std::string reduction, node.text("reduction", "none"));
    LATHE_TRY_ASSIGN(const ValueId y,
                     b.emit("scatter_elements", {{"axis", axis}, {"reduction", reduction}}, {x, indices, updates}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertScatterNd(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId indices, indexInput(b, node, 1));
    LATHE_TRY_ASSIGN(const ValueId updates, b.input(node, 2));
    LATHE_TRY_ASSIGN(const std::string reduction, node.text("reduction", "none"));
    Composer c(b);
    const Ints& picks = b.shape(indices);
    if (picks.empty() || picks.back() < 1 || picks.back() > b.rank(x))
        return makeError(Errc::BadFile, say(Msg::IndicesOutside));
    Ints rows{elementCount(std::span(picks).first(picks.size() - 1))};
    const Ints flatIndices{rows[0], picks.back()};
    rows.insert(rows.end(), b.shape(x).begin() + picks.back(), b.shape(x).end());
    return c.finish({c.op("scatter_nd", {x, c.reshape(indices, flatIndices), c.reshape(updates, rows)},
                          {{"reduction", reduction}})});
}

/// Writes `update` into a cache from a position of each batch on.
Result<std::vector<ValueId>> convertTensorScatter(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId cache, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId update, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, axisOf(b, node, cache, -2));
    LATHE_TRY_ASSIGN(const std::string mode, node.text("mode", "linear"));
    if (mode != "linear" && mode != "circular")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "mode", mode.substr(0, 40)));
    Composer c(b);
    const Ints shape = b.shape(update);
    if (shape.size() != b.shape(cache).size() || axis == 0)
        return makeError(Errc::BadFile, say(Msg::CacheUpdateRanks));
    std::vector<double> steps;
    for (std::int64_t i = 0; i < shape[static_cast<std::size_t>(axis)]; ++i)
        steps.push_back(static_cast<double>(i));
    Ints wide(shape.size(), 1);
    wide[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(steps.size());
    ValueId places = b.constant(DType::I64, wide, steps);
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId begin, b.input(node, 2));
        Ints perBatch(shape.size(), 1);
        perBatch[0] = shape[0];
        places = c.add(places, c.reshape(c.cast(begin, DType::I64), perBatch));
    }
    if (mode == "circular")
        places = c.op("mod", {places, c.number(DType::I64, static_cast<double>(c.extent(cache, axis)))});
    return c.finish({c.op("scatter_elements", {cache, c.broadcast(places, shape), update}, {{"axis", axis}})});
}

Result<std::vector<ValueId>> convertCumSum(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, scalarInput(b, node, 1, "the axis"));
    LATHE_TRY_ASSIGN(const std::int64_t exclusive, node.integer("exclusive", 0));
    LATHE_TRY_ASSIGN(const std::int64_t reverse, node.integer("reverse", 0));
    LATHE_TRY_ASSIGN(const ValueId y,
                     b.emit("cumulative_sum", {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}, {x}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertTopK(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, axisOf(b, node, x, -1));
    LATHE_TRY_ASSIGN(const std::int64_t largest, node.integer("largest", 1));
    node.ignore("sorted"); // sorted order is an order
    std::int64_t k = 0;
    if (node.has("k")) {
        LATHE_TRY_ASSIGN(k, node.integer("k", 1));
    } else {
        LATHE_TRY_ASSIGN(k, scalarInput(b, node, 1, "k"));
    }
    Composer c(b);
    const ValueId places = c.op("top_positions", {x}, {{"axis", axis}, {"k", k}, {"largest", largest}});
    const ValueId values = c.op("gather_elements", {x, places}, {{"axis", axis}});
    return c.finish({values, places});
}

/// Places along `axis` as a vector that broadcasts in `rank` dimensions.
ValueId placesAlong(Builder& b, std::int64_t count, std::int64_t axis, std::int64_t rank, DType dtype)
{
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0.0);
    Ints shape(static_cast<std::size_t>(rank - axis), 1);
    shape[0] = count;
    return b.constant(dtype, shape, values);
}

Result<std::vector<ValueId>> convertOneHot(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId values, b.input(node, 2));
    LATHE_TRY_ASSIGN(const std::vector<double> depths, b.constantNumbers(node, 1, "the depth"));
    if (depths.size() != 1 || !(depths[0] >= 1 && depths[0] <= static_cast<double>(kMaxPositions)))
        return makeError(Errc::BadFile, say(Msg::DepthNotOne));
    const auto depth = static_cast<std::int64_t>(depths[0]);
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", -1));
    const std::int64_t rank = b.rank(given) + 1;
    axis = axis < 0 ? axis + rank : axis;
    if (axis < 0 || axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AxisOutsideResult));
    Composer c(b);
    ValueId indices = c.cast(given, DType::I64);
    indices = c.where(c.op("less", {indices, c.like(indices, 0)}),
                      c.add(indices, c.like(indices, static_cast<double>(depth))), indices);
    Ints apart = b.shape(given);
    apart.insert(apart.begin() + axis, 1);
    const ValueId hit = c.op("equal", {c.reshape(indices, apart), placesAlong(b, depth, axis, rank, DType::I64)});
    const ValueId off = c.reshape(c.slice(values, 0, 0, 1), {});
    const ValueId on = c.reshape(c.slice(values, 0, 1, 2), {});
    return c.finish({c.where(hit, on, off)});
}

Result<std::vector<ValueId>> convertTrilu(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t upper, node.integer("upper", 1));
    std::int64_t k = 0;
    if (node.hasInput(1)) {
        LATHE_TRY_ASSIGN(k, scalarInput(b, node, 1, "k"));
    }
    const Ints& shape = b.shape(x);
    if (shape.size() < 2)
        return makeError(Errc::BadFile, say(Msg::InputUnder2));
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    if (rows > kMaxPositions / std::max<std::int64_t>(columns, 1))
        return makeError(Errc::Unsupported, say(Msg::NeedsMatrixOf, rows, columns));
    LATHE_TRY(b.charge(rows * columns));
    std::vector<double> mask;
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) // k may be any 64-bit number
            mask.push_back((upper != 0 ? j - i >= k : j - i <= k) ? 1.0 : 0.0);
    }
    Composer c(b);
    return c.finish({c.where(b.constant(DType::Bool, {rows, columns}, mask), x, c.like(x, 0))});
}

Result<std::vector<ValueId>> convertEyeLike(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t k, node.integer("k", 0));
    DType dtype = b.dtype(x);
    if (node.has("dtype")) {
        LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("dtype", 0));
        const auto known = dtypeOf(wanted);
        if (!known)
            return makeError(Errc::Unsupported, say(Msg::NeedsElementType, dataTypeText(wanted)));
        dtype = *known;
    }
    const Ints shape = b.shape(x);
    if (shape.size() != 2 || shape[0] > kMaxPositions / std::max<std::int64_t>(shape[1], 1))
        return makeError(Errc::Unsupported, say(Msg::NeedsMatrix));
    LATHE_TRY(b.charge(shape[0] * shape[1] * sizeOf(dtype)));
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
        for (std::int64_t j = 0; j < shape[1]; ++j)
            values.push_back(j - i == k ? 1.0 : 0.0);
    }
    return std::vector{b.constant(dtype, shape, values)};
}

/// The first `length` entries of each batch turned around: picked by a table of places.
Result<std::vector<ValueId>> convertReverseSequence(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t batch, node.integer("batch_axis", 1));
    LATHE_TRY_ASSIGN(const std::int64_t time, node.integer("time_axis", 0));
    if (b.rank(x) < 2 || batch + time != 1 || batch * time != 0)
        return makeError(Errc::BadFile, say(Msg::BatchTimeAxes));
    Composer c(b);
    Ints perBatch(static_cast<std::size_t>(b.rank(x)), 1);
    perBatch[static_cast<std::size_t>(batch)] = c.extent(x, batch);
    const ValueId lengths = c.reshape(c.cast(given, DType::I64), perBatch);
    const ValueId places = placesAlong(b, c.extent(x, time), time, b.rank(x), DType::I64);
    const ValueId turned = c.sub(c.sub(lengths, places), c.like(lengths, 1));
    const ValueId picks = c.where(c.op("less", {places, lengths}), turned, places);
    return c.finish({c.op("gather_elements", {x, c.broadcast(picks, b.shape(x))}, {{"axis", time}})});
}

/// Ones where the (first) largest is. Before opset 13 all dimensions from `axis` on are one.
Result<std::vector<ValueId>> convertHardmax(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 0));
    const bool oneAxis = b.opset() >= 13;
    LATHE_TRY_ASSIGN(std::int64_t axis, axisOf(b, node, given, oneAxis ? -1 : 1));
    Composer c(b);
    const Ints whole = b.shape(given);
    ValueId x = given;
    if (!oneAxis && axis != b.rank(given) - 1) {
        const auto split = static_cast<std::size_t>(axis);
        x = c.reshape(x, {elementCount(std::span(whole).first(split)), elementCount(std::span(whole).subspan(split))});
        axis = 1;
    }
    const ValueId largest = c.op("argmax", {x}, {{"axes", Ints{axis}}, {"keepdims", std::int64_t{1}}});
    const ValueId hit = c.op("equal", {largest, placesAlong(b, c.extent(x, axis), axis, c.rank(x), DType::I64)});
    return c.finish({c.reshape(c.cast(hit, c.dtype(x)), whole)});
}

} // namespace

std::span<const ConverterEntry> indexConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"CumSum", convertCumSum},
        {"EyeLike", convertEyeLike},
        {"GatherElements", convertGatherElements},
        {"GatherND", convertGatherNd},
        {"Hardmax", convertHardmax},
        {"OneHot", convertOneHot},
        {"ReverseSequence", convertReverseSequence},
        {"Scatter", convertScatterElements},
        {"ScatterElements", convertScatterElements},
        {"ScatterND", convertScatterNd},
        {"TensorScatter", convertTensorScatter},
        {"TopK", convertTopK},
        {"Trilu", convertTrilu},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
