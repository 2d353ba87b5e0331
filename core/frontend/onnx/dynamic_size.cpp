#include "core/frontend/onnx/dynamic_size.h"

#include "core/frontend/onnx/schema.h"
#include "core/graph/node_types.h"
#include "core/graph/operators/element.h"
#include "core/support/message.h"

#include <algorithm>
#include <limits>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::size_t kShortVector = 64; ///< no shape is longer

const SizeRuleEntry* findRule(std::string_view op)
{
    for (const auto table : {sizeRules(), shapeRules()}) {
        const auto found = std::ranges::find(table, op, &SizeRuleEntry::op);
        if (found != table.end())
            return &*found;
    }
    return nullptr;
}

/// From the least that a number can be to the most.
struct Span
{
    std::int64_t least = 0, most = 0;
};

Span spanOf(const ShapeNumber& number)
{
    return {number.count.valid() ? number.least : number.most, number.most};
}

enum class Combine : std::uint8_t
{
    Sum,
    Difference,
    Product
};

/// What is out of range stays at the end of it.
std::int64_t saturated(std::int64_t a, std::int64_t b, Combine how)
{
    std::int64_t result = 0;
    const bool over = how == Combine::Sum          ? __builtin_add_overflow(a, b, &result)
                      : how == Combine::Difference ? __builtin_sub_overflow(a, b, &result)
                                                   : __builtin_mul_overflow(a, b, &result);
    if (!over)
        return result;
    const bool isBelow = how == Combine::Product ? (a < 0) != (b < 0) : a < 0;
    return isBelow ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

/// What an operator of two integers gives; nothing: not known.
std::optional<Span> spanOfTwo(std::string_view op, const Span& a, const Span& b)
{
    if (op == "Min")
        return Span{std::min(a.least, b.least), std::min(a.most, b.most)};
    if (op == "Max")
        return Span{std::max(a.least, b.least), std::max(a.most, b.most)};
    if (op == "Add")
        return Span{saturated(a.least, b.least, Combine::Sum), saturated(a.most, b.most, Combine::Sum)};
    if (op == "Sub")
        return Span{saturated(a.least, b.most, Combine::Difference), saturated(a.most, b.least, Combine::Difference)};
    if (op == "Mul") {
        const auto [least, most] = std::minmax(
            {saturated(a.least, b.least, Combine::Product), saturated(a.least, b.most, Combine::Product),
             saturated(a.most, b.least, Combine::Product), saturated(a.most, b.most, Combine::Product)});
        return Span{least, most};
    }
    if (op == "Div" && a.least >= 0 && b.least >= 0) // by 0 nothing is divided
        return Span{a.least / std::max<std::int64_t>(b.most, 1), a.most / std::max<std::int64_t>(b.least, 1)};
    return std::nullopt;
}

using Numbers = std::vector<ShapeNumber>;

/// Those that a Gather or Slice of known places picks.
std::optional<Numbers> picked(Builder& b, NodeReader& node, const Numbers& from)
{
    Numbers result;
    const auto extent = static_cast<std::int64_t>(from.size());
    if (node.op() == "Gather") {
        const auto places = b.constantInts(node, 1, "places");
        if (!places)
            return std::nullopt;
        for (const std::int64_t place : *places) {
            const std::int64_t at = place < 0 ? place + extent : place;
            if (at < 0 || at >= extent)
                return std::nullopt;
            result.push_back(from[static_cast<std::size_t>(at)]);
        }
        return result;
    }
    const auto begin = attributeOrInput(b, node, "starts", 1), end = attributeOrInput(b, node, "ends", 2),
               steps = attributeOrInput(b, node, "steps", 4);
    const auto one = [](const auto& list) { return list && *list && (*list)->size() == 1; };
    if (!one(begin) || !one(end) || !steps || (*steps && **steps != Ints{1}))
        return std::nullopt;
    const auto place = [&](std::int64_t given) {
        return std::clamp<std::int64_t>(given < 0 ? std::max(given, -extent) + extent : given, 0, extent);
    };
    for (std::int64_t k = place((**begin)[0]); k < place((**end)[0]); ++k)
        result.push_back(from[static_cast<std::size_t>(k)]);
    return result;
}

/// What is known of the integers that a node makes of integers that shapes are made of.
std::optional<Numbers> numbersAfter(Builder& b, NodeReader& node, ValueId result)
{
    static constexpr std::string_view kSame[] = {"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};
    std::vector<Numbers> inputs;
    for (const ValueId id : inputValues(b, node)) {
        const auto numbers = id.valid() ? numbersOf(b, id) : std::nullopt;
        if (!numbers)
            return std::nullopt;
        inputs.push_back(*numbers);
    }
    if (std::ranges::find(kSame, node.op()) != std::end(kSame))
        return inputs[0];
    if (node.op() == "Gather" || node.op() == "Slice")
        return picked(b, node, inputs[0]);
    if (node.op() == "Concat") {
        Numbers all;
        for (const Numbers& input : inputs)
            all.insert(all.end(), input.begin(), input.end());
        return all;
    }
    if (node.op() == "ReduceMin" || node.op() == "ReduceMax") { // of the whole vector, which its only axis is
        ShapeNumber one = inputs[0].empty() ? ShapeNumber{-1, {}} : inputs[0][0];
        Span span = spanOf(one);
        for (const ShapeNumber& other : inputs[0])
            span = *spanOfTwo(node.op() == "ReduceMin" ? "Min" : "Max", span, spanOf(other));
        one = {span.most, {}, span.least};
        if (b.rank(inputValues(b, node)[0]) != 1 || one.most < 0)
            return std::nullopt;
        Composer c(b);
        one.count = asCount(c, result);
        return c.failed() ? std::nullopt : std::optional(Numbers{one});
    }
    if (!spanOfTwo(node.op(), {}, {}) || inputs.empty() || inputs[0].size() != 1)
        return std::nullopt;
    Span span = spanOf(inputs[0][0]);
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        const auto next = inputs[i].size() == 1 ? spanOfTwo(node.op(), span, spanOf(inputs[i][0])) : std::nullopt;
        if (!next)
            return std::nullopt;
        span = *next;
    }
    Composer c(b);
    const ShapeNumber made{span.most, asCount(c, result), span.least};
    return made.most >= 0 && !c.failed() ? std::optional(Numbers{made}) : std::nullopt;
}

} // namespace

Result<std::vector<ValueId>> convertSized(Builder& b, NodeReader& node, Converter convert)
{
    const std::vector<ValueId> inputs = inputValues(b, node);
    const auto sized = [&](ValueId id) { return id.valid() && !b.dynamicAxes(id).empty(); };
    const auto first = std::ranges::find_if(inputs, sized);
    const bool counted = std::ranges::any_of(inputs,
                                             [&](ValueId id) { return id.valid() && b.shapeNumbers(id) != nullptr; });
    if (first == inputs.end() && !counted)
        return convert(b, node);
    const SizeRuleEntry* const rule = findRule(node.op());
    if (!rule && first != inputs.end())
        return sizedInput(node, static_cast<std::size_t>(first - inputs.begin()));
    for (std::int64_t i = 0; rule && i < rule->inputs; ++i)
        if (!node.hasInput(i))
            return makeError(Errc::BadFile, say(Msg::InputAbsent, i));
    auto values = rule ? rule->rule(b, node, convert) : convert(b, node);
    if (values && counted && values->size() == 1 && values->front().valid() && !b.isConstant(values->front())
        && isInteger(b.dtype(values->front())) && b.shapeNumbers(values->front()) == nullptr)
        if (auto numbers = numbersAfter(b, node, values->front()))
            b.setShapeNumbers(values->front(), *std::move(numbers));
    return values;
}

std::vector<ValueId> inputValues(Builder& b, const NodeReader& node)
{
    std::vector<ValueId> values;
    for (std::int64_t i = 0; i < node.inputCount(); ++i)
        values.push_back(node.hasInput(i) ? b.find(node.proto().input(static_cast<int>(i))) : ValueId());
    return values;
}

ValueId asCount(Composer& c, ValueId number)
{
    return c.reshape(c.cast(number, DType::I64), {});
}

ValueId maskAlong(Composer& c, ValueId x, const DynamicAxis& dynamic)
{
    const std::int64_t extent = c.extent(x, dynamic.axis);
    Ints shape(static_cast<std::size_t>(c.rank(x) - dynamic.axis), 1);
    shape[0] = extent;
    return c.op("less", {c.reshape(c.range(extent), shape), dynamic.count});
}

ValueId filled(Builder& b, Composer& c, ValueId x, double fill)
{
    ValueId result = x;
    for (const DynamicAxis& dynamic : b.dynamicAxes(x))
        result = c.where(maskAlong(c, x, dynamic), result, c.like(x, fill));
    return result;
}

std::optional<std::vector<ShapeNumber>> numbersOf(const Builder& b, ValueId id)
{
    if (const auto* const known = b.shapeNumbers(id))
        return *known;
    const graph::Value& value = b.graph().value(id);
    if (!value.constant || !isInteger(value.dtype))
        return std::nullopt;
    const auto tensor = graph::tensorOf(value);
    if (!tensor || tensor->bytes.size() > kShortVector * sizeof(std::int64_t))
        return std::nullopt;
    Numbers numbers;
    for (const std::int64_t number : graph::operators::readInts(*tensor))
        numbers.push_back({number, {}});
    return numbers;
}

Ints mostOf(const std::vector<ShapeNumber>& numbers)
{
    Ints most;
    for (const ShapeNumber& number : numbers)
        most.push_back(number.most);
    return most;
}

Result<std::vector<DynamicAxis>> joinedAxes(const Builder& b, std::span<const ValueId> values)
{
    std::int64_t rank = 0;
    for (const ValueId id : values)
        rank = std::max(rank, id.valid() ? b.rank(id) : 0);
    std::vector<DynamicAxis> result;
    for (std::int64_t d = 0; d < rank; ++d) {
        ValueId count;
        bool known = false; // some extent that is not 1
        for (const ValueId id : values) {
            const std::int64_t own = id.valid() ? d - (rank - b.rank(id)) : -1;
            if (own < 0)
                continue;
            const ValueId here = b.countAlong(id, own);
            if (count.valid() && here.valid() && count != here)
                return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
            count = here.valid() ? here : count;
            known = known || (!here.valid() && b.shape(id)[static_cast<std::size_t>(own)] != 1);
        }
        if (count.valid() && known)
            return makeError(Errc::Unsupported, say(Msg::NeedsEqualSizes));
        if (count.valid())
            result.push_back({d, count});
    }
    return result;
}

Result<std::int64_t> frontAxis(std::int64_t axis, std::int64_t rank)
{
    if (axis < -rank || axis >= rank)
        return makeError(Errc::BadFile, say(Msg::AxisOutside, axis, rank));
    return axis < 0 ? axis + rank : axis;
}

Error sizedAxis()
{
    return makeError(Errc::Unsupported, say(Msg::NeedsSizedAxis));
}

Error sizedInput(const NodeReader& node, std::size_t input)
{
    return makeError(Errc::Unsupported,
                     say(Msg::NeedsSizedInput, node.proto().input(static_cast<int>(input)).substr(0, 100)));
}

} // namespace lathe::frontend::onnx_detail
