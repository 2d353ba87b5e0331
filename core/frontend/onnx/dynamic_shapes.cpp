// Operators on shapes, and those that pick and join parts, where a size depends on data.

#include "core/frontend/onnx/dynamic_size.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>
#include <limits>

namespace lathe::frontend::onnx_detail {
namespace {

using Values = Result<std::vector<ValueId>>;

Error sizedShape()
{
    return makeError(Errc::Unsupported, say(Msg::NeedsSizedShape));
}

/// Of some extents, which a file may have made up: nothing if it is out of range.
std::optional<std::int64_t> productOfRange(const Ints& shape, std::int64_t first, std::int64_t last)
{
    return checkedElementCount(
        std::span(shape).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
}

/// One result, with these axes.
Values sized(Builder& b, const Composer& c, ValueId result, std::vector<DynamicAxis> axes)
{
    auto values = c.finish({result});
    if (values)
        b.setDynamicAxes(result, std::move(axes));
    return values;
}

ValueId whole(Composer& c, std::int64_t number)
{
    return c.reshape(c.ints({number}), {});
}

/// The true extent as a number of the graph, counted or known.
ValueId extentOf(Builder& b, Composer& c, ValueId x, std::int64_t axis)
{
    const ValueId count = b.countAlong(x, axis);
    return count.valid() ? count : whole(c, c.extent(x, axis));
}

// ---- shapes

Values shapes(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId x = inputValues(b, node)[0];
    if (b.dynamicAxes(x).empty())
        return convert(b, node);
    Composer c(b);
    const std::int64_t rank = b.rank(x);
    if (node.op() == "Size") {
        ValueId size = whole(c, 1);
        for (std::int64_t d = 0; d < rank; ++d)
            size = c.mul(size, extentOf(b, c, x, d));
        const std::int64_t most = elementCount(b.shape(x));
        auto values = c.finish({size});
        if (values)
            b.setShapeNumbers(size, {{most, size}});
        return values;
    }
    LATHE_TRY_ASSIGN(std::int64_t start, node.integer("start", 0));
    LATHE_TRY_ASSIGN(std::int64_t end, node.integer("end", rank));
    start = std::clamp<std::int64_t>(start < 0 ? std::max(start, -rank) + rank : start, 0, rank);
    end = std::clamp<std::int64_t>(end < 0 ? std::max(end, -rank) + rank : end, start, std::max(rank, start));
    std::vector<ValueId> parts;
    std::vector<ShapeNumber> numbers;
    for (std::int64_t d = start; d < end; ++d) {
        parts.push_back(c.reshape(extentOf(b, c, x, d), {1}));
        numbers.push_back({c.extent(x, d), b.countAlong(x, d)});
    }
    if (parts.empty())
        return convert(b, node);
    const ValueId shape = parts.size() == 1 ? parts[0] : c.concat(parts, 0);
    auto values = c.finish({shape});
    if (values && !b.isConstant(shape))
        b.setShapeNumbers(shape, std::move(numbers));
    return values;
}

/// One dimension of such a size goes into one of the result, if what stands in front of both is equal.
Values reshaped(Builder& b, ValueId x, const std::vector<ShapeNumber>& wanted)
{
    const Ints& in = b.shape(x);
    const std::vector<DynamicAxis>& axes = b.dynamicAxes(x);
    if (axes.size() != 1)
        return sizedShape();
    const DynamicAxis from = axes[0];
    const auto rankOut = std::ssize(wanted), rankIn = std::ssize(in);
    const std::int64_t all = productOfRange(in, 0, rankIn).value_or(0);
    if (all < 1)
        return sizedShape();
    Ints out;
    std::int64_t to = -1, open = -1; // the dimension of such a size; the one that is what is left
    for (std::int64_t d = 0; d < rankOut; ++d) {
        const ShapeNumber& number = wanted[static_cast<std::size_t>(d)];
        const bool copies = number.most == 0 && !number.count.valid();
        if (copies && d >= rankIn)
            return makeError(Errc::BadFile, say(Msg::ShapeAbsent));
        out.push_back(copies ? in[static_cast<std::size_t>(d)] : number.most);
        if (number.count.valid() || (copies && d == from.axis)) {
            if (to >= 0)
                return sizedShape();
            to = d;
        } else if (out.back() == -1) {
            open = d;
        }
    }
    if (to >= 0 && open >= 0) { // then the one keeps its size, and what is left is known
        const ValueId count = wanted[static_cast<std::size_t>(to)].count;
        out[static_cast<std::size_t>(to)] = in[static_cast<std::size_t>(from.axis)];
        out[static_cast<std::size_t>(open)] = 1;
        const std::int64_t others = productOfRange(out, 0, rankOut).value_or(0);
        if ((count.valid() && count != from.count) || others == 0 || all % others != 0)
            return sizedShape();
        out[static_cast<std::size_t>(open)] = all / others;
    }
    to = to < 0 ? open : to;
    if (to >= 0)
        out[static_cast<std::size_t>(to)] = 1;
    if (to < 0 || std::ranges::any_of(out, [](std::int64_t n) { return n < 1; }))
        return sizedShape();
    const std::optional<std::int64_t> known = productOfRange(out, 0, rankOut);
    if (!known)
        return sizedShape();
    const std::int64_t extent = all / *known, bound = in[static_cast<std::size_t>(from.axis)];
    if (extent * *known != all || productOfRange(out, 0, to) != productOfRange(in, 0, from.axis)
        || (extent % bound != 0 && bound % extent != 0))
        return sizedShape();
    out[static_cast<std::size_t>(to)] = extent;
    Composer c(b);
    ValueId count = from.count;
    if (extent > bound)
        count = c.mul(count, whole(c, extent / bound));
    if (extent < bound)
        count = c.div(count, whole(c, bound / extent));
    return sized(b, c, c.reshape(x, out), {{to, count}});
}

Values reshapes(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    if (b.dynamicAxes(inputs[0]).empty() && (inputs.size() < 2 || b.shapeNumbers(inputs[1]) == nullptr))
        return convert(b, node);
    node.ignore("allowzero");
    const auto shape = inputs.size() > 1 && inputs[1].valid() ? numbersOf(b, inputs[1]) : std::nullopt;
    if (!shape)
        return sizedShape();
    if (b.dynamicAxes(inputs[0]).empty()) { // its size is known, whatever the shape says about it
        Ints known;
        for (const ShapeNumber& number : *shape)
            known.push_back(number.count.valid() ? -1 : number.most);
        if (std::ranges::count(known, -1) > 1)
            return sizedShape();
        Composer c(b);
        return c.finish({c.op("reshape", {inputs[0]}, {{"newshape", known}})});
    }
    return reshaped(b, inputs[0], *shape);
}

Values flattens(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId x = inputValues(b, node)[0];
    if (b.dynamicAxes(x).empty())
        return convert(b, node);
    LATHE_TRY_ASSIGN(std::int64_t axis, node.integer("axis", 1));
    axis = axis < 0 ? axis + b.rank(x) : axis;
    if (axis < 0 || axis > b.rank(x))
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, b.rank(x)));
    const Ints& shape = b.shape(x);
    const bool first = b.dynamicAxes(x)[0].axis < axis;
    const std::int64_t rows = productOfRange(shape, 0, axis).value_or(0);
    const std::int64_t columns = productOfRange(shape, axis, b.rank(x)).value_or(0);
    return reshaped(b, x, {{first ? -1 : rows, {}}, {first ? columns : -1, {}}});
}

/// Squeeze, Unsqueeze and Transpose: dimensions go elsewhere.
Values moves(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId x = inputValues(b, node)[0];
    const std::int64_t rank = b.rank(x);
    std::vector<DynamicAxis> axes = b.dynamicAxes(x);
    if (axes.empty())
        return convert(b, node);
    if (node.op() == "Transpose") {
        Ints order;
        for (std::int64_t d = rank; d-- > 0;)
            order.push_back(d);
        LATHE_TRY_ASSIGN(order, node.integers("perm", order));
        for (DynamicAxis& dynamic : axes)
            dynamic.axis = std::ranges::find(order, dynamic.axis) - order.begin();
    } else {
        const bool squeeze = node.op() == "Squeeze";
        LATHE_TRY_ASSIGN(const std::optional<Ints> given, attributeOrInput(b, node, "axes", 1));
        const std::int64_t full = squeeze ? rank : rank + std::ssize(given.value_or(Ints{}));
        std::vector<bool> named(static_cast<std::size_t>(full), false);
        for (const std::int64_t one : given.value_or(Ints{})) {
            LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(one, full));
            named[static_cast<std::size_t>(axis)] = true;
        }
        for (std::int64_t d = 0; squeeze && !given && d < rank; ++d)
            named[static_cast<std::size_t>(d)] = b.shape(x)[static_cast<std::size_t>(d)] == 1;
        for (DynamicAxis& dynamic : axes) {
            if (squeeze) {
                if (named[static_cast<std::size_t>(dynamic.axis)])
                    return sizedAxis();
                dynamic.axis -= std::count(named.begin(), named.begin() + dynamic.axis, true);
                continue;
            }
            std::int64_t at = 0; // the place of the dynamic.axis-th dimension that is not new
            for (std::int64_t seen = 0;; ++at)
                if (!named[static_cast<std::size_t>(at)] && seen++ == dynamic.axis)
                    break;
            dynamic.axis = at;
        }
    }
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    b.setDynamicAxes(values[0], axes);
    return values;
}

Values expands(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const auto shape = inputs.size() > 1 && inputs[1].valid() ? numbersOf(b, inputs[1]) : std::nullopt;
    if (!shape)
        return sizedShape();
    const ValueId x = inputs[0];
    const std::int64_t rank = std::max<std::int64_t>(b.rank(x), std::ssize(*shape));
    std::vector<DynamicAxis> axes;
    for (std::int64_t d = 0; d < rank; ++d) {
        const std::int64_t own = d - (rank - b.rank(x)), asked = d - (rank - std::ssize(*shape));
        const ValueId mine = own < 0 ? ValueId() : b.countAlong(x, own);
        const ShapeNumber wanted = asked < 0 ? ShapeNumber{1, {}} : (*shape)[static_cast<std::size_t>(asked)];
        const bool wide = own >= 0 && !mine.valid() && b.shape(x)[static_cast<std::size_t>(own)] != 1;
        if ((mine.valid() && wanted.count.valid() && mine != wanted.count) || (wanted.count.valid() && wide)
            || (mine.valid() && !wanted.count.valid() && wanted.most != 1))
            return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
        if (mine.valid() || wanted.count.valid())
            axes.push_back({d, mine.valid() ? mine : wanted.count});
    }
    b.standIn(inputs[1], b.ints(mostOf(*shape)));
    auto values = convert(b, node);
    b.standIn(inputs[1], {});
    if (values)
        b.setDynamicAxes((*values)[0], axes);
    return values;
}

Values constantsOfShape(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId shape = inputValues(b, node)[0];
    const auto numbers = numbersOf(b, shape);
    if (!numbers)
        return sizedShape();
    b.standIn(shape, b.ints(mostOf(*numbers)));
    auto values = convert(b, node);
    b.standIn(shape, {});
    std::vector<DynamicAxis> axes;
    for (std::size_t d = 0; d < numbers->size(); ++d)
        if ((*numbers)[d].count.valid())
            axes.push_back({static_cast<std::int64_t>(d), (*numbers)[d].count});
    if (values)
        b.setDynamicAxes((*values)[0], axes);
    return values;
}

/// From a known integer to a counted one, one by one.
Values ranges(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const auto limit = numbersOf(b, inputs[1]);
    if (!limit || limit->size() != 1 || !(*limit)[0].count.valid())
        return convert(b, node);
    const auto start = numbersOf(b, inputs[0]), delta = numbersOf(b, inputs[2]);
    if (!start || start->size() != 1 || (*start)[0].count.valid() || !delta || delta->size() != 1
        || (*delta)[0].count.valid() || (*delta)[0].most != 1)
        return sizedShape();
    Composer c(b);
    const std::int64_t first = (*start)[0].most;
    const ValueId count = first == 0 && (*limit)[0].least >= 0
                              ? (*limit)[0].count
                              : c.op("maximum", {c.sub((*limit)[0].count, whole(c, first)), whole(c, 0)});
    if ((*limit)[0].most <= first)
        return sizedShape();
    b.standIn(inputs[1], c.reshape(c.cast(c.ints({(*limit)[0].most}), b.dtype(inputs[0])), {}));
    auto values = c.failed() ? c.finish({}) : convert(b, node);
    b.standIn(inputs[1], {});
    if (values)
        b.setDynamicAxes((*values)[0], {{0, count}});
    return values;
}

Values tiles(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId x = inputValues(b, node)[0];
    LATHE_TRY_ASSIGN(const Ints repeats, b.constantInts(node, 1, "repeats"));
    for (const DynamicAxis& dynamic : b.dynamicAxes(x))
        if (static_cast<std::size_t>(dynamic.axis) >= repeats.size()
            || repeats[static_cast<std::size_t>(dynamic.axis)] != 1)
            return sizedAxis();
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    b.setDynamicAxes(values[0], b.dynamicAxes(x));
    return values;
}

// ---- picking

/// Places in dimension `axis` of x, in int64, that padding and negative ones do not lead astray.
ValueId soundPlaces(Builder& b, Composer& c, ValueId x, std::int64_t axis, ValueId places)
{
    if (b.isConstant(places)) {
        const auto numbers = numbersOf(b, places);
        if (numbers && std::ranges::all_of(*numbers, [](const ShapeNumber& n) { return n.most >= 0; }))
            return places;
    }
    ValueId sound = c.cast(filled(b, c, places, 0), DType::I64);
    if (const ValueId count = b.countAlong(x, axis); count.valid())
        sound = c.where(c.op("less", {sound, c.like(sound, 0)}), c.add(sound, count), sound);
    return sound;
}

Values gathers(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const ValueId x = inputs[0], places = inputs[1];
    if (b.dynamicAxes(x).empty() && b.dynamicAxes(places).empty())
        return convert(b, node);
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(x)));
    std::vector<DynamicAxis> axes;
    for (const DynamicAxis& dynamic : b.dynamicAxes(x))
        if (dynamic.axis != axis)
            axes.push_back({dynamic.axis < axis ? dynamic.axis : dynamic.axis - 1 + b.rank(places), dynamic.count});
    for (const DynamicAxis& dynamic : b.dynamicAxes(places))
        axes.push_back({axis + dynamic.axis, dynamic.count});
    Composer c(b);
    const ValueId y = c.op("take", {x, soundPlaces(b, c, x, axis, places)}, {{"axis", axis}});
    return sized(b, c, y, std::move(axes));
}

Values gatherElements(Builder& b, NodeReader& node, Converter)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const ValueId x = inputs[0], places = inputs[1];
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(x)));
    for (std::int64_t d = 0; d < b.rank(x); ++d) // the places may cover less of a dimension, but not more than exists
        if (d != axis && b.countAlong(x, d).valid() && b.countAlong(x, d) != b.countAlong(places, d))
            return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
    Composer c(b);
    const ValueId y = c.op("gather_elements", {x, soundPlaces(b, c, x, axis, places)}, {{"axis", axis}});
    return sized(b, c, y, b.dynamicAxes(places));
}

Values gathersOfVectors(Builder& b, NodeReader& node, Converter)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const ValueId x = inputs[0], places = inputs[1];
    LATHE_TRY_ASSIGN(const std::int64_t batch, node.integer("batch_dims", 0));
    const std::int64_t last = b.rank(places) - 1;
    if (batch != 0 || last < 0 || b.countAlong(places, last).valid())
        return sizedInput(node, b.dynamicAxes(places).empty() ? 0 : 1);
    const std::int64_t depth = b.shape(places)[static_cast<std::size_t>(last)];
    Composer c(b);
    std::vector<DynamicAxis> axes = b.dynamicAxes(places);
    ValueId sound = soundPlaces(b, c, x, -1, places);
    std::vector<ValueId> extents;
    bool counted = false;
    for (std::int64_t d = 0; d < depth && d < b.rank(x); ++d) {
        counted = counted || b.countAlong(x, d).valid();
        extents.push_back(c.reshape(extentOf(b, c, x, d), {1}));
    }
    if (counted) // negative ones count from the true end
        sound = c.where(c.op("less", {sound, c.like(sound, 0)}), c.add(sound, c.concat(extents, 0)), sound);
    for (const DynamicAxis& dynamic : b.dynamicAxes(x))
        if (dynamic.axis >= depth)
            axes.push_back({dynamic.axis - depth + last, dynamic.count});
    return sized(b, c, c.op("gather_nd", {x, sound}, {{"batch_dims", batch}}), std::move(axes));
}

/// From a known place to a known or counted one, step by step.
Values slices(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const ValueId x = inputs[0];
    const bool attributes = node.has("starts");
    const auto counted = [&](std::size_t i) {
        return inputs.size() > i && inputs[i].valid() && b.shapeNumbers(inputs[i]) != nullptr;
    };
    if (b.dynamicAxes(x).empty() && (attributes || (!counted(1) && !counted(2))))
        return convert(b, node);
    const auto read = [&](std::string_view name, std::size_t i) -> Result<std::optional<std::vector<ShapeNumber>>> {
        if (!attributes && inputs.size() > i && inputs[i].valid())
            return numbersOf(b, inputs[i]);
        LATHE_TRY_ASSIGN(const std::optional<Ints> given,
                         attributeOrInput(b, node, name, static_cast<std::int64_t>(i)));
        std::optional<std::vector<ShapeNumber>> numbers;
        if (given) {
            numbers.emplace();
            for (const std::int64_t number : *given)
                numbers->push_back({number, {}});
        }
        return numbers;
    };
    LATHE_TRY_ASSIGN(const auto starts, read("starts", 1));
    LATHE_TRY_ASSIGN(const auto ends, read("ends", 2));
    LATHE_TRY_ASSIGN(const std::optional<Ints> axes, attributeOrInput(b, node, "axes", 3));
    LATHE_TRY_ASSIGN(const std::optional<Ints> steps, attributeOrInput(b, node, "steps", 4));
    if (!starts || !ends || starts->size() != ends->size() || (axes && axes->size() != starts->size())
        || (steps && steps->size() != starts->size()))
        return sizedShape();
    Composer c(b);
    std::vector<DynamicAxis> result = b.dynamicAxes(x);
    ValueId y = x;
    for (std::size_t i = 0; i < starts->size(); ++i) {
        LATHE_TRY_ASSIGN(const std::int64_t axis,
                         frontAxis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), b.rank(x)));
        const std::int64_t step = steps ? (*steps)[i] : 1, extent = c.extent(x, axis);
        const ShapeNumber start = (*starts)[i], end = (*ends)[i];
        const ValueId count = b.countAlong(x, axis);
        if (!count.valid() && !end.count.valid() && !start.count.valid()) { // as ever
            y = c.op(
                "strided_slice", {y},
                {{"begin", Ints{start.most}}, {"end", Ints{end.most}}, {"axes", Ints{axis}}, {"strides", Ints{step}}});
            continue;
        }
        if (start.count.valid() || start.most < 0 || step != 1)
            return sizedAxis();
        const bool fromEnd = !end.count.valid() && end.most < 0;
        const std::int64_t furthest = fromEnd         ? extent + end.most
                                      : end.least < 0 ? std::max(extent - 1, std::min(extent, end.most))
                                                      : std::min(extent, end.most);
        const std::int64_t bound = furthest - start.most;
        if (bound < 1)
            return sizedShape();
        if (start.most > 0 || bound < extent)
            y = c.slice(y, axis, start.most, start.most + bound);
        ValueId limit = count.valid() ? count : whole(c, extent);
        if (fromEnd)
            limit = c.add(limit, whole(c, end.most));
        else if (end.count.valid() && end.least < 0) // then it may count from the end
            limit = c.op("minimum",
                         {limit, c.where(c.op("less", {end.count, whole(c, 0)}), c.add(limit, end.count), end.count)});
        else if (end.count.valid())
            limit = c.op("minimum", {limit, end.count});
        else if (end.most < extent)
            limit = c.op("minimum", {limit, whole(c, end.most)});
        if (start.most > 0)
            limit = c.sub(limit, whole(c, start.most));
        if (start.most > 0 || fromEnd || end.least < 0)
            limit = c.op("maximum", {limit, whole(c, 0)});
        std::erase_if(result, [axis](const DynamicAxis& dynamic) { return dynamic.axis == axis; });
        result.push_back({axis, limit});
    }
    return sized(b, c, y, std::move(result));
}

Values splits(Builder& b, NodeReader& node, Converter convert)
{
    const ValueId x = inputValues(b, node)[0];
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(x)));
    if (b.countAlong(x, axis).valid())
        return sizedAxis();
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    for (const ValueId value : values)
        b.setDynamicAxes(value, b.dynamicAxes(x));
    return values;
}

/// Parts of such a size along the axis itself are laid behind one another, and then the places between are closed.
Values concatenations(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    if (std::ranges::all_of(inputs, [&](ValueId id) { return id.valid() && b.dynamicAxes(id).empty(); }))
        return convert(b, node);
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", b.opset() < 4 ? 1 : 0));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(inputs[0])));
    std::vector<DynamicAxis> axes;
    for (std::int64_t d = 0; d < b.rank(inputs[0]); ++d) {
        const ValueId first = b.countAlong(inputs[0], d);
        if (d != axis && std::ranges::any_of(inputs, [&](ValueId id) { return b.countAlong(id, d) != first; }))
            return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
        if (d != axis && first.valid())
            axes.push_back({d, first});
    }
    LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
    const bool along = std::ranges::any_of(inputs, [&](ValueId id) { return b.countAlong(id, axis).valid(); });
    if (!along) {
        b.setDynamicAxes(values[0], axes);
        return values;
    }
    Composer c(b);
    const ValueId places = c.range(c.extent(values[0], axis));
    ValueId from = places, start = whole(c, 0);
    std::int64_t offset = 0;
    for (const ValueId input : inputs) { // the last part that begins at or before a place
        from = c.where(c.op("less", {places, start}), from, c.add(c.sub(places, start), whole(c, offset)));
        start = c.add(start, extentOf(b, c, input, axis));
        offset += c.extent(input, axis);
    }
    // What lies behind the last part reads its padding, and behind that the last place of all.
    from = c.op("minimum", {from, whole(c, offset - 1)});
    axes.push_back({axis, start});
    return sized(b, c, c.op("take", {values[0], from}, {{"axis", axis}}), std::move(axes));
}

/// The best of a dimension of such a size, or as many as a shape says.
Values bests(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const ValueId x = inputs[0];
    const auto k = inputs.size() > 1 && inputs[1].valid() ? numbersOf(b, inputs[1]) : std::nullopt;
    LATHE_TRY_ASSIGN(const std::int64_t given, node.integer("axis", -1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, frontAxis(given, b.rank(x)));
    LATHE_TRY_ASSIGN(const std::int64_t largest, node.integer("largest", 1));
    const ValueId count = b.countAlong(x, axis);
    const bool counted = k && k->size() == 1 && (*k)[0].count.valid();
    std::vector<DynamicAxis> axes = b.dynamicAxes(x);
    if (!count.valid() && !counted) {
        LATHE_TRY_ASSIGN(const std::vector<ValueId> values, convert(b, node));
        for (const ValueId value : values)
            b.setDynamicAxes(value, axes);
        return values;
    }
    if (!k || k->size() != 1)
        return sizedShape();
    node.ignore("sorted");
    Composer c(b);
    ValueId sound = x; // what does not exist comes last: the worst that there is, behind its equals
    if (count.valid())
        sound = c.where(maskAlong(c, x, {axis, count}), x,
                        c.like(x, largest != 0          ? -std::numeric_limits<double>::infinity()
                                  : isFloat(b.dtype(x)) ? std::numeric_limits<double>::quiet_NaN()
                                                        : std::numeric_limits<double>::infinity()));
    const std::int64_t most = std::min((*k)[0].most, c.extent(x, axis));
    const ValueId places = c.op("top_positions", {sound}, {{"axis", axis}, {"k", most}, {"largest", largest}});
    const ValueId best = c.op("gather_elements", {x, places}, {{"axis", axis}});
    ValueId limit = counted ? (*k)[0].count : whole(c, most);
    if (count.valid())
        limit = c.op("minimum", {limit, count});
    std::erase_if(axes, [axis](const DynamicAxis& dynamic) { return dynamic.axis == axis; });
    axes.push_back({axis, limit});
    auto values = c.finish({best, places});
    if (values)
        for (const ValueId value : *values)
            b.setDynamicAxes(value, axes);
    return values;
}

/// The converter sees to it itself.
Values itself(Builder& b, NodeReader& node, Converter convert)
{
    return convert(b, node);
}

} // namespace

std::span<const SizeRuleEntry> shapeRules()
{
    static constexpr SizeRuleEntry kTable[] = {
        {"Compress", itself},
        {"Concat", concatenations},
        {"ConstantOfShape", constantsOfShape},
        {"Expand", expands},
        {"Flatten", flattens},
        {"Gather", gathers, 2},
        {"GatherElements", gatherElements, 2},
        {"GatherND", gathersOfVectors, 2},
        {"NonMaxSuppression", itself},
        {"NonZero", itself},
        {"Range", ranges, 3},
        {"Reshape", reshapes},
        {"Shape", shapes},
        {"Size", shapes},
        {"Slice", slices},
        {"Split", splits},
        {"Squeeze", moves},
        {"Tile", tiles},
        {"TopK", bests},
        {"Transpose", moves},
        {"Unsqueeze", moves},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
