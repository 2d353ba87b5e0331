#pragma once

#include "core/runtime/index_map.h"
#include "core/support/result.h"

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::graph::plan {

/// How the dimensions of a tensor follow one another in memory, by their names: "NCHW", "NHWC", "NCHW16c".
///
/// Capital letters are dimensions, outermost first. A number and a small letter behind them is a block: so many
/// neighbours of that dimension lie together, and the capital letter counts the blocks. There may be several:
/// "OIHW16i16o".
struct Layout
{
    struct Block
    {
        char axis = 'C'; ///< the capital letter
        std::int64_t size = 1;
        auto operator<=>(const Block&) const = default;
    };
    std::string axes;
    std::vector<Block> blocks; ///< outermost first
    auto operator<=>(const Layout&) const = default;

    /// Errors: InvalidArgument for what is no layout, naming it.
    static Result<Layout> parse(std::string_view text);
    static Layout plain(std::string_view order) { return {std::string(order), {}}; }
    std::string text() const; ///< parse() reads it
    std::int64_t blockOf(char axis) const; ///< elements in one count of the capital letter: 1 without blocks
    bool covers(std::string_view order) const; ///< its dimensions are those of `order`, in whatever order
};

/// Blocks larger than this are refused.
inline constexpr std::int64_t kLargestBlock = std::int64_t{1} << 20;

/// Where the elements of a tensor lie. `order` names the dimensions of `shape`: "NCHW". Blocks that do not divide a
/// dimension are filled up with zeros.
/// Errors: InvalidArgument for a layout with other dimensions than the tensor, or more than an index map has.
Result<IndexMap> indexMapOf(const Layout& layout, std::string_view order, std::span<const std::int64_t> shape);

/// A tensor as it lies in memory: "NCHW16c" of [1, 64, 56, 56] is [1, 4, 56, 56, 16].
struct LaidOut
{
    std::vector<std::int64_t> shape;
    Layout layout;
    bool operator==(const LaidOut&) const = default;
};

/// Errors: those of indexMapOf().
Result<LaidOut> laidOut(const Layout& layout, std::string_view order, std::span<const std::int64_t> shape);

/// Data and result of a convolution whose channels are blocked.
struct ConvolutionLayouts
{
    LaidOut input, output;
};

/// What the reference infers from the tiles of a convolution of a processor (autotvm.md 12.1): the data in blocks of
/// `inputTile` channels, the result in blocks of `outputTile`. `order` names the dimensions of both shapes.
/// Errors: InvalidArgument for tiles that do not divide the channels.
Result<ConvolutionLayouts> inferLayouts(std::string_view order, std::span<const std::int64_t> input,
                                        std::span<const std::int64_t> output, std::int64_t inputTile,
                                        std::int64_t outputTile);

} // namespace lathe::graph::plan
