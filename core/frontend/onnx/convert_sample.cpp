// Images read at computed places: grids, regions, deformed windows; columns and maxima put back.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxPixels = std::int64_t{1}
                                    << 24; ///< elements of a tensor that a few bytes of the file ask for

/// Sizes that must be positive, and whose product from entry `first` on must be moderate.
Result<Ints> sizesOf(Builder& b, NodeReader& node, std::int64_t input, std::string_view what, std::size_t first = 0)
{
    LATHE_TRY_ASSIGN(Ints sizes, b.constantInts(node, input, what));
    std::int64_t count = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 1 || sizes[i] > kMaxPixels || (i >= first && count * sizes[i] > kMaxPixels))
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, what, sizes[i]));
        count *= i >= first ? sizes[i] : 1;
    }
    return sizes;
}

Result<std::vector<ValueId>> convertGridSample(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId grid, b.input(node, 1));
    LATHE_TRY_ASSIGN(std::string mode, node.text("mode", b.opset() < 20 ? "bilinear" : "linear"));
    LATHE_TRY_ASSIGN(const std::string padding, node.text("padding_mode", "zeros"));
    LATHE_TRY_ASSIGN(const std::int64_t align, node.integer("align_corners", 0));
    for (const auto& [old, name] : {std::pair{"bilinear", "linear"}, {"bicubic", "cubic"}}) { // up to opset 19
        if (mode == old)
            mode = name;
    }
    LATHE_TRY_ASSIGN(
        const ValueId y,
        b.emit("grid_sample",
               {{"mode", mode}, {"padding_mode", padding}, {"align_corners", std::int64_t{align != 0 ? 1 : 0}}},
               {x, grid}));
    return std::vector{y};
}

/// The places of a regular grid, turned by theta [N, k, k + 1]: [N, D1 ... Dk, k].
Result<std::vector<ValueId>> convertAffineGrid(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId theta, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Ints size, sizesOf(b, node, 1, "size", 2));
    LATHE_TRY_ASSIGN(const std::int64_t align, node.integer("align_corners", 0));
    const auto dims = static_cast<std::int64_t>(size.size()) - 2;
    if ((dims != 2 && dims != 3) || b.shape(theta) != Ints{size[0], dims, dims + 1})
        return makeError(Errc::BadFile, say(Msg::ThetaShape));
    const Ints spatial(size.begin() + 2, size.end());
    const std::int64_t points = elementCount(spatial);
    LATHE_TRY(b.charge(points * (dims + 1) * sizeOf(b.dtype(theta))));
    std::vector<double> regular;
    for (std::int64_t p = 0; p < points; ++p) {
        std::int64_t rest = p;
        std::vector<double> place; // the last dimension first
        for (std::size_t d = spatial.size(); d-- > 0;) {
            const auto extent = static_cast<double>(spatial[d]), i = static_cast<double>(rest % spatial[d]);
            place.push_back(align == 0 ? (2 * i + 1) / extent - 1 : spatial[d] > 1 ? 2 * i / (extent - 1) - 1 : 0);
            rest /= spatial[d];
        }
        regular.insert(regular.end(), place.begin(), place.end());
        regular.push_back(1);
    }
    Composer c(b);
    const ValueId places = b.constant(b.dtype(theta), {points, dims + 1}, regular);
    Ints shape{size[0]};
    shape.insert(shape.end(), spatial.begin(), spatial.end());
    shape.push_back(dims);
    return c.finish({c.reshape(c.matmul(places, c.transpose(theta, {0, 2, 1})), shape)});
}

Result<std::vector<ValueId>> convertRoiAlign(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId rois, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ValueId images, b.input(node, 2));
    LATHE_TRY_ASSIGN(const std::string mode, node.text("mode", "avg"));
    LATHE_TRY_ASSIGN(const std::int64_t height, node.integer("output_height", 1));
    LATHE_TRY_ASSIGN(const std::int64_t width, node.integer("output_width", 1));
    LATHE_TRY_ASSIGN(const std::int64_t samples, node.integer("sampling_ratio", 0));
    LATHE_TRY_ASSIGN(const double scale, node.number("spatial_scale", 1.0));
    const char* const fallback = b.opset() < 16 ? "output_half_pixel" : "half_pixel";
    LATHE_TRY_ASSIGN(const std::string coordinates, node.text("coordinate_transformation_mode", fallback));
    if (mode != "avg" && mode != "max")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "mode", mode.substr(0, 40)));
    if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
        return makeError(Errc::BadFile,
                         say(Msg::AttributeIs, "coordinate_transformation_mode", coordinates.substr(0, 40)));
    if (mode == "max" && samples == 0)
        return makeError(Errc::Unsupported, say(Msg::NeedsAdaptiveMaximum));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("roi_align",
                                             {{"output_height", height},
                                              {"output_width", width},
                                              {"sampling_ratio", samples},
                                              {"spatial_scale", scale},
                                              {"half_pixel", std::int64_t{coordinates == "half_pixel" ? 1 : 0}},
                                              {"maximum", std::int64_t{mode == "max" ? 1 : 0}}},
                                             {x, rois, images}));
    return std::vector{y};
}

Result<std::vector<ValueId>> convertMaxRoiPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId rois, b.input(node, 1));
    LATHE_TRY_ASSIGN(const Ints size, node.integers("pooled_shape"));
    LATHE_TRY_ASSIGN(const double scale, node.number("spatial_scale", 1.0));
    if (size.size() != 2)
        return makeError(Errc::BadFile, say(Msg::AttributeEntries, "pooled_shape", 2, size.size()));
    LATHE_TRY_ASSIGN(const ValueId y,
                     b.emit("roi_max_pool",
                            {{"output_height", size[0]}, {"output_width", size[1]}, {"spatial_scale", scale}},
                            {x, rois}));
    return std::vector{y};
}

/// The deformed windows as channels, multiplied by the weights as a convolution of 1 x 1.
Result<std::vector<ValueId>> convertDeformConv(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId weight, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ValueId offsets, b.input(node, 2));
    if (b.rank(x) != 4 || b.rank(weight) != 4)
        return makeError(Errc::Unsupported, say(Msg::NeedsImages, b.rank(x) - 2));
    const Ints kernel(b.shape(weight).begin() + 2, b.shape(weight).end());
    LATHE_TRY_ASSIGN(const Ints said, node.integers("kernel_shape", kernel));
    LATHE_TRY_ASSIGN(const Ints strides, node.integers("strides", {1, 1}));
    LATHE_TRY_ASSIGN(const Ints dilations, node.integers("dilations", {1, 1}));
    LATHE_TRY_ASSIGN(const Ints padding, node.integers("pads", {0, 0, 0, 0}));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("group", 1));
    LATHE_TRY_ASSIGN(const std::int64_t offsetGroups, node.integer("offset_group", 1));
    if (said != kernel)
        return makeError(Errc::BadFile, say(Msg::KernelShapeContradicts));
    if (b.rank(offsets) != 4 || offsetGroups < 1 || offsetGroups > kMaxPixels || elementCount(kernel) > kMaxPixels
        || b.shape(offsets)[1] != offsetGroups * 2 * elementCount(kernel))
        return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "offset_group", offsetGroups));
    std::vector<ValueId> inputs{x, offsets};
    if (node.hasInput(4)) {
        LATHE_TRY_ASSIGN(const ValueId mask, b.input(node, 4));
        inputs.push_back(mask);
    }
    Composer c(b);
    const ValueId columns = c.op(
        "deformed_columns", inputs,
        {{"kernel_size", kernel}, {"strides", strides}, {"dilations", dilations}, {"padding", padding}});
    const Ints s = c.shape(columns), w = b.shape(weight);
    if (c.failed())
        return c.finish({});
    ValueId y = c.op("conv2d",
                     {c.reshape(columns, {s[0], s[1] * s[2], s[3], s[4]}),
                      c.reshape(weight, {w[0], w[1] * elementCount(kernel), 1, 1})},
                     {{"groups", groups}});
    if (node.hasInput(3)) {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 3));
        y = c.op("bias_add", {y, bias}, {{"axis", std::int64_t{1}}});
    }
    return c.finish({y});
}

Result<std::vector<ValueId>> convertCol2Im(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const Ints image, sizesOf(b, node, 1, "image_shape"));
    LATHE_TRY_ASSIGN(const Ints block, sizesOf(b, node, 2, "block_shape"));
    const std::size_t dims = image.size();
    LATHE_TRY_ASSIGN(const Ints strides, node.integers("strides", Ints(dims, 1)));
    LATHE_TRY_ASSIGN(const Ints dilations, node.integers("dilations", Ints(dims, 1)));
    LATHE_TRY_ASSIGN(const Ints padding, node.integers("pads", Ints(2 * dims, 0)));
    LATHE_TRY_ASSIGN(const ValueId y, b.emit("columns_to_image",
                                             {{"image_shape", image},
                                              {"kernel_size", block},
                                              {"strides", strides},
                                              {"dilations", dilations},
                                              {"padding", padding}},
                                             {x}));
    return std::vector{y};
}

/// Zeros, and the values at the positions that a MaxPool told. A given size cuts or extends at the far ends.
Result<std::vector<ValueId>> convertMaxUnpool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId positions, b.input(node, 1));
    const Ints in = b.shape(x);
    if (in.size() < 3 || b.shape(positions) != in)
        return makeError(Errc::BadFile, say(Msg::PositionsShape));
    const std::size_t dims = in.size() - 2;
    LATHE_TRY_ASSIGN(const Ints kernel, node.integers("kernel_shape"));
    LATHE_TRY_ASSIGN(const Ints strides, node.integers("strides", Ints(dims, 1)));
    LATHE_TRY_ASSIGN(const Ints padding, node.integers("pads", Ints(2 * dims, 0)));
    if (kernel.size() != dims || strides.size() != dims || padding.size() != 2 * dims)
        return makeError(Errc::BadFile, say(Msg::AttributeEntries, "kernel_shape", dims, kernel.size()));
    Ints shape{in[0], in[1]};
    for (std::size_t d = 0; d < dims; ++d) {
        for (const std::int64_t value : {kernel[d], strides[d], padding[d], padding[d + dims]}) {
            if (value < 0 || value > kMaxPixels)
                return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "strides", value));
        }
        shape.push_back((in[d + 2] - 1) * strides[d] + kernel[d] - padding[d] - padding[d + dims]);
        if (shape.back() < 1 || shape.back() > kMaxPixels)
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "pads", padding[d]));
        if (!checkedElementCount(shape))
            return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "kernel_shape", kernel[d]));
    }
    Composer c(b);
    const std::int64_t count = elementCount(in);
    const ValueId zeros = c.broadcast(c.like(x, 0), {elementCount(shape)});
    ValueId y = c.reshape(c.op("scatter_nd", {zeros, c.reshape(positions, {count, 1}), c.reshape(x, {count})}), shape);
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const Ints wanted, sizesOf(b, node, 2, "output_shape", 2));
        if (wanted.size() != shape.size())
            return makeError(Errc::BadFile, say(Msg::AttributeEntries, "output_shape", shape.size(), wanted.size()));
        Ints widths;
        for (std::size_t d = 0; d < shape.size(); ++d)
            widths.insert(widths.end(), {0, wanted[d] - shape[d]});
        y = wanted == shape ? y : c.pad(y, widths);
    }
    return c.finish({y});
}

} // namespace

std::span<const ConverterEntry> sampleConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"AffineGrid", convertAffineGrid}, {"Col2Im", convertCol2Im},         {"DeformConv", convertDeformConv},
        {"GridSample", convertGridSample}, {"MaxRoiPool", convertMaxRoiPool}, {"MaxUnpool", convertMaxUnpool},
        {"RoiAlign", convertRoiAlign},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
