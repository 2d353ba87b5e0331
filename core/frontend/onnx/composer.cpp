#include "core/frontend/onnx/composer.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace lathe::frontend::onnx_detail {

ValueId Composer::fail(Error error)
{
    if (!m_error)
        m_error = std::move(error);
    return {};
}

ValueId Composer::keep(Result<ValueId> result)
{
    return result ? *result : fail(std::move(result).error());
}

ValueId Composer::op(std::string_view name, const std::vector<ValueId>& inputs, Attrs attrs)
{
    return failed() ? ValueId() : keep(m_builder.emit(name, std::move(attrs), inputs));
}

ValueId Composer::op(std::string_view name, std::initializer_list<ValueId> inputs, Attrs attrs)
{
    return op(name, std::vector<ValueId>(inputs), std::move(attrs));
}

ValueId Composer::range(std::int64_t count, bool backward)
{
    if (failed())
        return {};
    std::vector<ValueId>& made = m_builder.made((backward ? "backward " : "range ") + std::to_string(count));
    if (!made.empty())
        return made[0];
    if (auto charged = m_builder.charge(count * std::int64_t{sizeof(std::int64_t)}); !charged)
        return fail(std::move(charged).error());
    Ints places(static_cast<std::size_t>(count));
    if (backward)
        std::iota(places.rbegin(), places.rend(), 0);
    else
        std::iota(places.begin(), places.end(), 0);
    made = {m_builder.ints(places)};
    return made[0];
}

ValueId Composer::cast(ValueId x, DType wanted)
{
    return failed() ? ValueId() : keep(m_builder.cast(x, wanted));
}

ValueId Composer::reshape(ValueId x, Ints wanted)
{
    return failed() ? ValueId() : keep(m_builder.reshape(x, std::move(wanted)));
}

ValueId Composer::broadcast(ValueId x, Ints wanted)
{
    return shape(x) == wanted ? x : op("broadcast_to", {x}, {{"shape", std::move(wanted)}});
}

ValueId Composer::transpose(ValueId x, Ints axes)
{
    return op("transpose", {x}, {{"axes", std::move(axes)}});
}

ValueId Composer::slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end, std::int64_t step)
{
    if (step == 1 && begin == 0 && end == extent(x, axis))
        return x;
    return op("strided_slice", {x},
              {{"begin", Ints{begin}}, {"end", Ints{end}}, {"axes", Ints{axis}}, {"strides", Ints{step}}});
}

ValueId Composer::concat(const std::vector<ValueId>& parts, std::int64_t axis)
{
    return parts.size() == 1 ? parts[0] : op("concatenate", parts, {{"axis", axis}});
}

ValueId Composer::take(ValueId x, const Ints& positions, std::int64_t axis)
{
    return failed() ? ValueId() : op("take", {x, m_builder.ints(positions)}, {{"axis", axis}});
}

ValueId Composer::reduce(std::string_view name, ValueId x, Ints axes, bool keepDims)
{
    return op(name, {x}, {{"axes", std::move(axes)}, {"keepdims", std::int64_t{keepDims ? 1 : 0}}});
}

ValueId Composer::pad(ValueId x, Ints widths, double value)
{
    for (const std::int64_t width : widths) {
        if (width != 0)
            return op("pad", {x}, {{"pad_width", std::move(widths)}, {"value", value}});
    }
    return x;
}

const Ints& Composer::shape(ValueId x) const
{
    static const Ints kOnes(16, 1);
    return failed() || !x.valid() ? kOnes : m_builder.shape(x);
}

std::int64_t Composer::extent(ValueId x, std::int64_t axis) const
{
    const Ints& all = shape(x);
    const auto d = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(all.size()) : axis);
    return d < all.size() ? all[d] : 1;
}

bool Composer::isZero(ValueId x) const
{
    if (failed() || !x.valid() || !m_builder.isConstant(x))
        return false;
    const auto contents = graph::contentsOf(*m_builder.graph().value(x).constant);
    return contents && std::ranges::all_of(contents->bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

Result<std::vector<ValueId>> Composer::finish(std::vector<ValueId> outputs) const
{
    if (m_error)
        return *m_error;
    return outputs;
}

} // namespace lathe::frontend::onnx_detail
