// Results whose size depends on data. What is known at import has its true size; all else has room for the most that
// there can be, and a count (importer.h, DynamicAxis).

#include "core/frontend/onnx/dynamic_size.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

/// The value cut to a count that is known, else marked as counted.
ValueId counted(Builder& b, Composer& c, ValueId value, std::int64_t axis, ValueId count)
{
    if (c.failed())
        return value;
    if (!b.isConstant(count)) {
        std::vector<DynamicAxis> axes = b.dynamicAxes(value);
        axes.push_back({axis, count});
        b.setDynamicAxes(value, std::move(axes));
        return value;
    }
    const auto known = numbersOf(b, count);
    const std::int64_t extent = known && known->size() == 1 ? (*known)[0].most : 0;
    if (extent == c.extent(value, axis))
        return value;
    if (extent > 0)
        return c.slice(value, axis, 0, extent);
    Ints none = c.shape(value);
    none[static_cast<std::size_t>(axis)] = 0;
    return b.constant(c.dtype(value), none, {});
}

/// Positions I64 [rank, elements] of what is not 0, and their count; made once for each value.
Result<std::vector<ValueId>> nonzeroOf(Builder& b, ValueId x)
{
    std::vector<ValueId>& made = b.made(fmt::format("nonzero {}", x.value));
    if (!made.empty())
        return made;
    Composer c(b);
    ValueId sound = filled(b, c, x, 0);
    if (b.rank(x) == 0)
        sound = c.reshape(sound, {1});
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(made, b.emitMany("nonzero", {}, {sound}, 2));
    made[0] = counted(b, c, made[0], 1, made[1]);
    LATHE_TRY(c.finish({}));
    return made;
}

Result<std::vector<ValueId>> convertNonZero(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    if (const Ints& shape = b.shape(x); elementCount(shape) == 0)
        return std::vector{b.constant(DType::I64, {std::ssize(shape), 0}, {})};
    LATHE_TRY_ASSIGN(const std::vector<ValueId> made, nonzeroOf(b, x));
    return std::vector{made[0]};
}

/// The entries along an axis, or of all elements in a row, where the condition is true.
Result<std::vector<ValueId>> convertCompress(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId condition, b.input(node, 1));
    Composer c(b);
    ValueId x = given;
    std::int64_t axis = 0;
    std::vector<DynamicAxis> axes = b.dynamicAxes(given);
    if (node.has("axis")) {
        LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("axis", 0));
        LATHE_TRY_ASSIGN(axis, frontAxis(wanted, b.rank(given)));
    } else {
        if (!axes.empty() && (axes.size() > 1 || b.rank(given) > 1))
            return sizedInput(node, 0);
        x = c.reshape(x, {elementCount(b.shape(given))});
    }
    if (b.rank(condition) != 1)
        return makeError(Errc::BadFile, say(Msg::ConditionDimensions, b.rank(condition)));
    if (b.isConstant(condition) && axes.empty()) {
        LATHE_TRY_ASSIGN(const std::vector<double> picks, b.constantNumbers(node, 1, "a condition"));
        Ints places;
        for (std::size_t i = 0; i < picks.size(); ++i)
            if (picks[i] != 0)
                places.push_back(static_cast<std::int64_t>(i));
        if (places.empty() || places.back() >= c.extent(x, axis))
            return makeError(Errc::Unsupported, say(Msg::NeedsConditionThatPicks));
        return c.finish({c.take(x, places, axis)});
    }
    ValueId picks = filled(b, c, condition, 0);
    if (const std::int64_t extent = c.extent(x, axis); c.extent(picks, 0) > extent)
        picks = c.slice(picks, 0, 0, extent); // what does not exist is not picked
    // Of a row of which not all exists none that does not is picked.
    if (const ValueId count = b.countAlong(given, axis); count.valid())
        picks = c.op("logical_and", {picks, c.slice(maskAlong(c, x, {axis, count}), 0, 0, c.extent(picks, 0))});
    LATHE_TRY(c.finish({}));
    const bool same = picks == condition; // then one count serves all that the condition picks from
    LATHE_TRY_ASSIGN(const std::vector<ValueId> made, nonzeroOf(b, same ? condition : picks));
    std::erase_if(axes, [axis](const DynamicAxis& dynamic) { return dynamic.axis == axis; });
    const ValueId y = c.op("take", {x, c.reshape(made[0], {c.extent(made[0], 1)})}, {{"axis", axis}});
    LATHE_TRY(c.finish({}));
    if (b.countAlong(made[0], 1).valid())
        axes.push_back({axis, b.countAlong(made[0], 1)});
    b.setDynamicAxes(y, std::move(axes));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertUnique(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t sorted, node.integer("sorted", 1));
    Composer c(b);
    ValueId x = given;
    std::int64_t axis = 0;
    if (node.has("axis")) {
        LATHE_TRY_ASSIGN(const std::int64_t wanted, node.integer("axis", 0));
        LATHE_TRY_ASSIGN(axis, frontAxis(wanted, b.rank(given)));
    } else {
        x = c.reshape(x, {elementCount(b.shape(given))});
    }
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(const std::vector<ValueId> made,
                     b.emitMany("unique", {{"axis", axis}, {"sorted", sorted}}, {x}, 4));
    const ValueId count = made[3];
    const ValueId values = c.op("take", {x, made[0]}, {{"axis", axis}});
    std::vector<ValueId> results{counted(b, c, values, axis, count), counted(b, c, made[0], 0, count), made[1],
                                 counted(b, c, made[2], 0, count)};
    return c.finish(std::move(results));
}

Result<std::vector<ValueId>> convertNonMaxSuppression(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId boxes, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId scores, b.input(node, 1));
    LATHE_TRY_ASSIGN(const std::int64_t center, node.integer("center_point_box", 0));
    if (b.rank(boxes) != 3 || b.rank(scores) != 3)
        return makeError(Errc::BadFile, say(Msg::BoxDimensions));
    const ValueId existing = b.countAlong(boxes, 1);
    for (const auto& [value, axis, input] : {std::tuple(boxes, 1, 0), std::tuple(scores, 2, 1)})
        for (const DynamicAxis& dynamic : b.dynamicAxes(value))
            if (dynamic.axis != axis)
                return sizedInput(node, static_cast<std::size_t>(input));
    if (existing != b.countAlong(scores, 2))
        return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
    Composer c(b);
    const std::int64_t count = c.extent(boxes, 1);
    ValueId most, overlap = c.number(DType::F32, 0), lowest = c.number(DType::F32, 0);
    std::int64_t perClass = 0;
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId wanted, b.input(node, 2));
        most = asCount(c, wanted);
        const auto known = numbersOf(b, wanted);
        perClass = known && known->size() == 1 ? std::min((*known)[0].most, count) : count;
    }
    if (perClass < 1) // as the standard says of a most that is missing
        return std::vector{b.constant(DType::I64, {0, 3}, {})};
    if (node.hasInput(3)) {
        LATHE_TRY_ASSIGN(const ValueId wanted, b.input(node, 3));
        overlap = c.reshape(c.cast(wanted, DType::F32), {});
    }
    if (node.hasInput(4)) {
        LATHE_TRY_ASSIGN(const ValueId wanted, b.input(node, 4));
        lowest = c.reshape(c.cast(wanted, DType::F32), {});
    }
    const ValueId valid = existing.valid() ? existing : c.reshape(c.ints({count}), {});
    const ValueId floats = c.cast(boxes, DType::F32), ranked = c.cast(scores, DType::F32);
    LATHE_TRY(c.finish({}));
    const Attrs attrs{
        {"per_class", perClass}, {"center", center}, {"has_score", std::int64_t{node.hasInput(4) ? 1 : 0}}};
    LATHE_TRY_ASSIGN(const std::vector<ValueId> made,
                     b.emitMany("non_max_suppression", attrs, {floats, ranked, most, overlap, lowest, valid}, 2));
    return c.finish({counted(b, c, made[0], 0, made[1])});
}

} // namespace

std::span<const ConverterEntry> countedConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"Compress", convertCompress},
        {"NonMaxSuppression", convertNonMaxSuppression},
        {"NonZero", convertNonZero},
        {"Unique", convertUnique},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
