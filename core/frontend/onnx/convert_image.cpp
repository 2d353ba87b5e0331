// Convolutions and pools.

#include "core/frontend/onnx/importer.h"
#include "core/frontend/onnx/schema.h"

#include <fmt/format.h>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxWindow = std::int64_t{1} << 20; ///< keeps sums of products inside of 64 bits

Error unsupported(std::string what)
{
    return makeError(Errc::Unsupported, std::move(what));
}

struct WindowAttributes
{
    Ints strides, dilations, padding;
    std::string autoPad;
};

/// strides, dilations, pads and auto_pad of a window over images. `padding` is final unless auto_pad says SAME.
Result<WindowAttributes> windowAttributes(NodeReader& node, bool dilated)
{
    WindowAttributes w;
    LATHE_TRY_ASSIGN(w.strides, node.integers("strides", {1, 1}));
    if (dilated) {
        LATHE_TRY_ASSIGN(w.dilations, node.integers("dilations", {1, 1}));
    } else {
        w.dilations = {1, 1};
    }
    LATHE_TRY_ASSIGN(w.padding, node.integers("pads", {0, 0, 0, 0}));
    LATHE_TRY_ASSIGN(w.autoPad, node.text("auto_pad", "NOTSET"));
    for (const auto& [name, list, count] : {std::tuple{"strides", &w.strides, 2U}, std::tuple{"dilations", &w.dilations, 2U}, std::tuple{"pads", &w.padding, 4U}}) {
        if (list->size() != count)
            return makeError(Errc::BadFile, fmt::format("attribute {} must have {} entries, it has {}", name, count, list->size()));
        for (const std::int64_t value : *list) {
            if (value < -kMaxWindow || value > kMaxWindow)
                return makeError(Errc::BadFile, fmt::format("attribute {} holds {}, which is out of range", name, value));
            if (value < 0)
                return unsupported(fmt::format("attribute {} with the negative value {}", name, value));
        }
    }
    if (w.autoPad == "VALID")
        w.padding = {0, 0, 0, 0};
    else if (w.autoPad != "NOTSET" && w.autoPad != "SAME_UPPER" && w.autoPad != "SAME_LOWER")
        return makeError(Errc::BadFile, fmt::format("attribute auto_pad is \"{}\"", w.autoPad.substr(0, 40)));
    return w;
}

bool isSame(const WindowAttributes& w)
{
    return w.autoPad.starts_with("SAME");
}

/// Splits the total padding of one dimension; the odd one goes behind for SAME_UPPER, in front for SAME_LOWER.
void splitPadding(WindowAttributes& w, std::size_t d, std::int64_t total)
{
    total = std::max<std::int64_t>(total, 0);
    const std::int64_t smaller = total / 2;
    w.padding[d] = w.autoPad == "SAME_UPPER" ? smaller : total - smaller;
    w.padding[d + 2] = total - w.padding[d];
}

/// SAME: as many outputs as strides fit into the image.
void padSame(WindowAttributes& w, const Ints& image, const Ints& kernel)
{
    for (std::size_t d = 0; d < 2 && isSame(w); ++d) {
        const std::int64_t in = image[d + 2];
        const std::int64_t stride = std::max<std::int64_t>(w.strides[d], 1);
        const std::int64_t out = (in + stride - 1) / stride;
        splitPadding(w, d, (out - 1) * stride + (kernel[d] - 1) * w.dilations[d] + 1 - in);
    }
}

Result<> needImage(Builder& b, ValueId data)
{
    if (b.rank(data) != 4)
        return unsupported(fmt::format("{} spatial dimensions (only images, two of them)", b.rank(data) - 2));
    return {};
}

Result<> checkKernelShape(NodeReader& node, const Ints& weight)
{
    LATHE_TRY_ASSIGN(const Ints kernel, node.integers("kernel_shape", {weight[2], weight[3]}));
    if (kernel != Ints{weight[2], weight[3]})
        return makeError(Errc::BadFile, "attribute kernel_shape contradicts the weight");
    return {};
}

Result<ValueId> addBias(Builder& b, NodeReader& node, ValueId value)
{
    if (!node.hasInput(2))
        return value;
    LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 2));
    return b.emit("bias_add", {{"axis", std::int64_t{1}}}, {value, bias});
}

Result<std::vector<ValueId>> convertConv(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId weight, b.input(node, 1));
    LATHE_TRY(needImage(b, data));
    LATHE_TRY(needImage(b, weight));
    LATHE_TRY_ASSIGN(WindowAttributes w, windowAttributes(node, true));
    LATHE_TRY(checkKernelShape(node, b.shape(weight)));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("group", 1));
    padSame(w, b.shape(data), {b.shape(weight)[2], b.shape(weight)[3]});
    LATHE_TRY_ASSIGN(ValueId result, b.emit("conv2d",
                                            {{"strides", w.strides}, {"padding", w.padding}, {"dilations", w.dilations}, {"groups", groups},
                                             {"layout", std::string("NCHW")}, {"kernel_layout", std::string("OIHW")}},
                                            {data, weight}));
    LATHE_TRY_ASSIGN(result, addBias(b, node, result));
    return std::vector{result};
}

Result<std::vector<ValueId>> convertConvTranspose(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId weight, b.input(node, 1));
    LATHE_TRY(needImage(b, data));
    LATHE_TRY(needImage(b, weight));
    LATHE_TRY_ASSIGN(WindowAttributes w, windowAttributes(node, true));
    LATHE_TRY(checkKernelShape(node, b.shape(weight)));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("group", 1));
    LATHE_TRY_ASSIGN(const Ints outputPadding, node.integers("output_padding", {0, 0}));
    LATHE_TRY_ASSIGN(const Ints outputShape, node.integers("output_shape", {}));
    if (outputPadding.size() != 2 || (!outputShape.empty() && outputShape.size() != 2))
        return makeError(Errc::BadFile, "attributes output_padding and output_shape must have 2 entries");
    if (outputPadding[0] < 0 || outputPadding[1] < 0 || outputPadding[0] > kMaxWindow || outputPadding[1] > kMaxWindow)
        return makeError(Errc::BadFile, "attribute output_padding is out of range");
    for (std::size_t d = 0; d < 2; ++d) {
        const std::int64_t reach = (b.shape(weight)[d + 2] - 1) * w.dilations[d] + 1;
        const std::int64_t in = b.shape(data)[d + 2];
        const std::int64_t full = (in - 1) * w.strides[d] + reach + outputPadding[d];
        // With output_shape or SAME the wanted size decides how much is cut; the odd one goes as auto_pad says.
        if (!outputShape.empty() || isSame(w)) {
            const std::int64_t wanted = outputShape.empty() ? in * w.strides[d] : outputShape[d];
            if (wanted > full || wanted < 1)
                return unsupported(fmt::format("attribute output_shape {} where {} is the largest", wanted, full));
            const std::int64_t total = full - wanted;
            w.padding[d] = w.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
            w.padding[d + 2] = total - w.padding[d];
        }
    }
    LATHE_TRY_ASSIGN(ValueId result,
                     b.emit("conv2d_transpose",
                            {{"strides", w.strides}, {"padding", w.padding}, {"dilations", w.dilations}, {"groups", groups},
                             {"output_padding", outputPadding}, {"layout", std::string("NCHW")}, {"kernel_layout", std::string("IOHW")}},
                            {data, weight}));
    LATHE_TRY_ASSIGN(result, addBias(b, node, result));
    return std::vector{result};
}

template<bool Average>
Result<std::vector<ValueId>> convertPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY(needImage(b, data));
    LATHE_TRY_ASSIGN(WindowAttributes w, windowAttributes(node, true));
    LATHE_TRY_ASSIGN(const Ints kernel, node.integers("kernel_shape"));
    if (kernel.size() != 2 || kernel[0] < 1 || kernel[1] < 1 || kernel[0] > kMaxWindow || kernel[1] > kMaxWindow)
        return makeError(Errc::BadFile, "attribute kernel_shape must have 2 positive entries of at most 2^20");
    LATHE_TRY_ASSIGN(const std::int64_t ceilMode, node.integer("ceil_mode", 0));
    padSame(w, b.shape(data), kernel);
    Attrs attrs{{"pool_size", kernel}, {"strides", w.strides}, {"padding", w.padding}, {"dilations", w.dilations},
                {"ceil_mode", ceilMode}, {"layout", std::string("NCHW")}};
    if (Average) {
        LATHE_TRY_ASSIGN(attrs["count_include_pad"], node.integer("count_include_pad", 0));
    } else {
        LATHE_TRY_ASSIGN(const std::int64_t order, node.integer("storage_order", 0));
        if (order != 0 && node.hasOutput(1))
            return unsupported("attribute storage_order 1");
    }
    LATHE_TRY_ASSIGN(const ValueId result, b.emit(Average ? "avg_pool2d" : "max_pool2d", std::move(attrs), {data}));
    return std::vector{result};
}

template<bool Average>
Result<std::vector<ValueId>> convertGlobalPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY(needImage(b, data));
    LATHE_TRY_ASSIGN(const ValueId result, b.emit(Average ? "global_avg_pool2d" : "global_max_pool2d", {{"layout", std::string("NCHW")}}, {data}));
    return std::vector{result};
}

} // namespace

std::span<const ConverterEntry> imageConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"AveragePool", convertPool<true>},
        {"Conv", convertConv},
        {"ConvTranspose", convertConvTranspose},
        {"GlobalAveragePool", convertGlobalPool<true>},
        {"GlobalMaxPool", convertGlobalPool<false>},
        {"MaxPool", convertPool<false>},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
