#include "core/graph/plan/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace lathe::graph::plan {
namespace {

bool isCapital(char c)
{
    return c >= 'A' && c <= 'Z';
}

char capital(char c)
{
    return static_cast<char>(c - 'a' + 'A');
}

Error badLayout(std::string_view text, std::string_view why)
{
    return makeError(Errc::InvalidArgument, fmt::format("'{}' is no layout: {}", text, why));
}

} // namespace

Result<Layout> Layout::parse(std::string_view text)
{
    Layout layout;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (; at != end && isCapital(*at); ++at) {
        if (layout.axes.find(*at) != std::string::npos)
            return badLayout(text, "a dimension is there twice");
        layout.axes += *at;
    }
    if (layout.axes.empty())
        return badLayout(text, "it names no dimension");
    while (at != end) {
        Block block;
        const auto [behind, error] = std::from_chars(at, end, block.size);
        if (error != std::errc() || *at == '0' || block.size < 1 || block.size > kLargestBlock)
            return badLayout(text, "a block is a number and a small letter, as in NCHW16c");
        if (behind == end || *behind < 'a' || *behind > 'z')
            return badLayout(text, "a block is a number and a small letter, as in NCHW16c");
        block.axis = capital(*behind);
        if (layout.axes.find(block.axis) == std::string::npos)
            return badLayout(text, "there is a block of a dimension that it does not have");
        layout.blocks.push_back(block);
        at = behind + 1;
    }
    return layout;
}

std::string Layout::text() const
{
    std::string text = axes;
    for (const Block& block : blocks)
        text += fmt::format("{}{}", block.size, static_cast<char>(block.axis - 'A' + 'a'));
    return text;
}

std::int64_t Layout::blockOf(char axis) const
{
    std::int64_t size = 1;
    for (const Block& block : blocks) {
        if (block.axis == axis)
            size *= block.size;
    }
    return size;
}

bool Layout::covers(std::string_view order) const
{
    return std::is_permutation(axes.begin(), axes.end(), order.begin(), order.end());
}

Result<IndexMap> indexMapOf(const Layout& layout, std::string_view order, std::span<const std::int64_t> shape)
{
    if (!layout.covers(order) || shape.size() != order.size() || shape.size() > kMaxRank
        || layout.axes.size() + layout.blocks.size() > kMaxPhysicalRank)
        return makeError(Errc::InvalidArgument,
                         fmt::format("a tensor {} of {} cannot lie in layout {}", shape, order, layout.text()));
    IndexMap map;
    map.logicalRank = static_cast<std::int32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), map.logicalShape);
    // A block counts as many elements as the blocks of its dimension behind it hold.
    std::vector<std::int64_t> within(order.size(), 1);
    map.physicalRank = static_cast<std::int32_t>(layout.axes.size() + layout.blocks.size());
    int axis = map.physicalRank;
    for (std::size_t b = layout.blocks.size(); b-- > 0;) {
        const std::size_t dim = order.find(layout.blocks[b].axis);
        map.axes[--axis] = {static_cast<std::int32_t>(dim), within[dim], layout.blocks[b].size, 1};
        within[dim] *= layout.blocks[b].size;
    }
    for (std::size_t a = layout.axes.size(); a-- > 0;) {
        const std::size_t dim = order.find(layout.axes[a]);
        map.axes[--axis] = {static_cast<std::int32_t>(dim), within[dim], (shape[dim] + within[dim] - 1) / within[dim],
                            1};
    }
    map.makeDense();
    return map;
}

Result<LaidOut> laidOut(const Layout& layout, std::string_view order, std::span<const std::int64_t> shape)
{
    LATHE_TRY_ASSIGN(const IndexMap map, indexMapOf(layout, order, shape));
    LaidOut result{{}, layout};
    for (int axis = 0; axis < map.physicalRank; ++axis)
        result.shape.push_back(map.axes[axis].extent);
    return result;
}

Result<ConvolutionLayouts> inferLayouts(std::string_view order, std::span<const std::int64_t> input,
                                        std::span<const std::int64_t> output, std::int64_t inputTile,
                                        std::int64_t outputTile)
{
    const auto blocked = [&](std::span<const std::int64_t> shape, std::int64_t tile) -> Result<LaidOut> {
        const std::size_t channel = order.find('C');
        if (channel < shape.size() && (tile < 1 || shape[channel] % tile != 0))
            return badLayout(fmt::format("{}{}c", order, tile),
                             fmt::format("the tile does not divide {} channels", shape[channel]));
        return laidOut({std::string(order), {{'C', tile}}}, order, shape);
    };
    ConvolutionLayouts layouts;
    LATHE_TRY_ASSIGN(layouts.input, blocked(input, inputTile));
    LATHE_TRY_ASSIGN(layouts.output, blocked(output, outputTile));
    return layouts;
}

} // namespace lathe::graph::plan
