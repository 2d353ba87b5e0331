// Convolutions and pools.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxWindow = std::int64_t{1} << 20; ///< keeps sums of products inside of 64 bits

Error unsupported(Message what)
{
    return makeError(Errc::Unsupported, std::move(what));
}

struct WindowAttributes
{
    Ints strides, dilations, padding;
    std::string autoPad;
};

/// strides, dilations, pads and auto_pad of a window over `dims` spatial dimensions. `padding` is final unless auto_pad
/// says SAME. A window over one dimension becomes one over images of height 1.
Result<WindowAttributes> windowAttributes(NodeReader& node, std::size_t dims)
{
    WindowAttributes w;
    LATHE_TRY_ASSIGN(w.strides, node.integers("strides", Ints(dims, 1)));
    LATHE_TRY_ASSIGN(w.dilations, node.integers("dilations", Ints(dims, 1)));
    LATHE_TRY_ASSIGN(w.padding, node.integers("pads", Ints(2 * dims, 0)));
    LATHE_TRY_ASSIGN(w.autoPad, node.text("auto_pad", "NOTSET"));
    for (const auto& [name, list, count] :
         {std::tuple{"strides", &w.strides, dims}, std::tuple{"dilations", &w.dilations, dims},
          std::tuple{"pads", &w.padding, 2 * dims}}) {
        if (list->size() != count)
            return makeError(Errc::BadFile, say(Msg::AttributeEntries, name, count, list->size()));
        for (const std::int64_t value : *list) {
            if (value < -kMaxWindow || value > kMaxWindow)
                return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, name, value));
            if (value < 0)
                return unsupported(say(Msg::NeedsNegative, name, value));
        }
    }
    if (w.autoPad == "VALID")
        w.padding = Ints(2 * dims, 0);
    else if (w.autoPad != "NOTSET" && w.autoPad != "SAME_UPPER" && w.autoPad != "SAME_LOWER")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "auto_pad", w.autoPad.substr(0, 40)));
    if (dims == 1) {
        w.strides.insert(w.strides.begin(), 1);
        w.dilations.insert(w.dilations.begin(), 1);
        w.padding = {0, w.padding[0], 0, w.padding[1]};
    }
    return w;
}

/// [N, C, L] as images of height 1.
Result<ValueId> asImage(Builder& b, ValueId x)
{
    if (b.rank(x) != 3)
        return x;
    const Ints& s = b.shape(x);
    return b.reshape(x, {s[0], s[1], 1, s[2]});
}

Result<ValueId> asLine(Builder& b, ValueId x, bool line)
{
    if (!line)
        return x;
    const Ints& s = b.shape(x);
    return b.reshape(x, {s[0], s[1], s[3]});
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
    w.padding[d + w.strides.size()] = total - w.padding[d];
}

/// SAME: as many outputs as strides fit into the image.
void padSame(WindowAttributes& w, const Ints& image, const Ints& kernel)
{
    for (std::size_t d = 0; d < kernel.size() && isSame(w); ++d) {
        const std::int64_t in = image[d + 2];
        const std::int64_t stride = std::max<std::int64_t>(w.strides[d], 1);
        const std::int64_t out = (in + stride - 1) / stride;
        splitPadding(w, d, (out - 1) * stride + (kernel[d] - 1) * w.dilations[d] + 1 - in);
    }
}

Result<> needImage(Builder& b, ValueId data)
{
    if (b.rank(data) < 3 || b.rank(data) > 5)
        return unsupported(say(Msg::NeedsSpatial, b.rank(data) - 2));
    return {};
}

/// "conv2d" for lines and images, "conv3d" for volumes; the layouts that go with them.
struct Family
{
    explicit Family(std::int64_t rank)
        : dims(rank == 5 ? 3 : 2)
    {
    }

    std::string op(std::string_view stem) const { return fmt::format("{}{}d", stem, dims); }
    std::string layout() const { return dims == 3 ? "NCDHW" : "NCHW"; }
    std::string kernel(std::string_view channels) const { return std::string(channels) + (dims == 3 ? "DHW" : "HW"); }

    std::size_t dims;
};

Result<> checkKernelShape(NodeReader& node, const Ints& weight)
{
    const Ints wanted(weight.begin() + 2, weight.end());
    LATHE_TRY_ASSIGN(const Ints kernel, node.integers("kernel_shape", wanted));
    if (kernel != wanted)
        return makeError(Errc::BadFile, say(Msg::KernelShapeContradicts));
    return {};
}

Result<ValueId> addBias(Builder& b, ValueId bias, ValueId value)
{
    if (!bias.valid())
        return value;
    return b.emit("bias_add", {{"axis", std::int64_t{1}}}, {value, bias});
}

} // namespace

Result<ValueId> convolve(Builder& b, NodeReader& node, ValueId data, ValueId weight, ValueId bias)
{
    LATHE_TRY(needImage(b, data));
    if (b.rank(weight) != b.rank(data))
        return makeError(Errc::BadFile, say(Msg::DataAndWeight));
    const bool line = b.rank(data) == 3;
    const Family family(b.rank(data));
    LATHE_TRY_ASSIGN(WindowAttributes w, windowAttributes(node, line ? 1 : family.dims));
    LATHE_TRY(checkKernelShape(node, b.shape(weight)));
    LATHE_TRY_ASSIGN(data, asImage(b, data));
    LATHE_TRY_ASSIGN(weight, asImage(b, weight));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("group", 1));
    padSame(w, b.shape(data), Ints(b.shape(weight).begin() + 2, b.shape(weight).end()));
    Attrs attrs{{"strides", w.strides}, {"padding", w.padding},      {"dilations", w.dilations},
                {"groups", groups},     {"layout", family.layout()}, {"kernel_layout", family.kernel("OI")}};
    if (!isFloat(b.dtype(data)))
        attrs["out_dtype"] = std::string(toString(DType::I32));
    LATHE_TRY_ASSIGN(ValueId result, b.emit(family.op("conv"), std::move(attrs), {data, weight}));
    LATHE_TRY_ASSIGN(result, addBias(b, bias, result));
    return asLine(b, result, line);
}

namespace {

Result<std::vector<ValueId>> convertConv(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId weight, b.input(node, 1));
    ValueId bias;
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(bias, b.input(node, 2));
    }
    LATHE_TRY_ASSIGN(const ValueId result, convolve(b, node, data, weight, bias));
    return std::vector{result};
}

Result<std::vector<ValueId>> convertConvTranspose(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(ValueId weight, b.input(node, 1));
    LATHE_TRY(needImage(b, data));
    if (b.rank(weight) != b.rank(data))
        return makeError(Errc::BadFile, say(Msg::DataAndWeight));
    const bool line = b.rank(data) == 3;
    const Family family(b.rank(data));
    LATHE_TRY_ASSIGN(WindowAttributes w, windowAttributes(node, line ? 1 : family.dims));
    LATHE_TRY(checkKernelShape(node, b.shape(weight)));
    LATHE_TRY_ASSIGN(data, asImage(b, data));
    LATHE_TRY_ASSIGN(weight, asImage(b, weight));
    LATHE_TRY_ASSIGN(const std::int64_t groups, node.integer("group", 1));
    LATHE_TRY_ASSIGN(Ints outputPadding, node.integers("output_padding", Ints(line ? 1 : family.dims, 0)));
    LATHE_TRY_ASSIGN(Ints outputShape, node.integers("output_shape", {}));
    if (line) {
        outputPadding.insert(outputPadding.begin(), 0);
        if (!outputShape.empty())
            outputShape.insert(outputShape.begin(), 1);
    }
    if (outputPadding.size() != family.dims || (!outputShape.empty() && outputShape.size() != family.dims))
        return makeError(Errc::BadFile, say(Msg::OutputSidesEntries, b.rank(data) - 2));
    if (std::ranges::any_of(outputPadding, [](std::int64_t p) { return p < 0 || p > kMaxWindow; }))
        return makeError(Errc::BadFile, say(Msg::OutputPaddingOutside));
    Ints beyond(2 * (family.dims + 2), 0); // what no window reaches holds the bias alone
    for (std::size_t d = 0; d < family.dims; ++d) {
        const std::int64_t reach = (b.shape(weight)[d + 2] - 1) * w.dilations[d] + 1;
        const std::int64_t in = b.shape(data)[d + 2];
        const std::int64_t full = (in - 1) * w.strides[d] + reach + outputPadding[d];
        // With output_shape or SAME the wanted size decides how much is cut; the odd one goes as auto_pad says.
        if (!outputShape.empty() || isSame(w)) {
            const std::int64_t wanted = outputShape.empty() ? in * w.strides[d] : outputShape[d];
            if (wanted < 1 || wanted > kMaxWindow * kMaxWindow)
                return makeError(Errc::BadFile, say(Msg::AttributeOutOfRange, "output_shape", wanted));
            const std::int64_t total = std::max<std::int64_t>(full - wanted, 0);
            beyond[2 * (d + 2) + 1] = std::max<std::int64_t>(wanted - full, 0);
            w.padding[d] = w.autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
            w.padding[d + family.dims] = total - w.padding[d];
        }
    }
    LATHE_TRY_ASSIGN(ValueId result, b.emit(family.op("conv") + "_transpose",
                                            {{"strides", w.strides},
                                             {"padding", w.padding},
                                             {"dilations", w.dilations},
                                             {"groups", groups},
                                             {"output_padding", outputPadding},
                                             {"layout", family.layout()},
                                             {"kernel_layout", family.kernel("IO")}},
                                            {data, weight}));
    if (std::ranges::any_of(beyond, [](std::int64_t width) { return width > 0; })) {
        LATHE_TRY_ASSIGN(
            result,
            b.emit("pad", {{"pad_width", beyond}, {"mode", std::string("constant")}, {"value", 0.0}}, {result}));
    }
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 2));
        LATHE_TRY_ASSIGN(result, addBias(b, bias, result));
    }
    LATHE_TRY_ASSIGN(result, asLine(b, result, line));
    return std::vector{result};
}

struct PoolAttributes
{
    WindowAttributes window; ///< of all spatial dimensions, at least two
    Ints kernel;
    std::int64_t ceilMode = 0;
};

/// Pools of one dimension become those of images.
Result<PoolAttributes> poolAttributes(NodeReader& node, const Ints& image)
{
    PoolAttributes p;
    const std::size_t dims = image.size() < 3 ? 0 : image.size() - 2;
    if (dims < 1 || dims > 3)
        return unsupported(say(Msg::NeedsSpatial, dims));
    LATHE_TRY_ASSIGN(p.window, windowAttributes(node, dims));
    LATHE_TRY_ASSIGN(p.kernel, node.integers("kernel_shape"));
    LATHE_TRY_ASSIGN(p.ceilMode, node.integer("ceil_mode", 0));
    const bool inRange = std::ranges::all_of(p.kernel, [](std::int64_t k) { return k >= 1 && k <= kMaxWindow; });
    if (p.kernel.size() != dims || !inRange)
        return makeError(Errc::BadFile, say(Msg::KernelShapeEntries, dims));
    Ints padded = image;
    if (dims == 1) {
        p.kernel.insert(p.kernel.begin(), 1);
        padded.insert(padded.begin() + 2, 1);
    }
    padSame(p.window, padded, p.kernel);
    return p;
}

/// `positions`: receives where the maxima stand, if it is there; counted along `order`.
ValueId pool(Composer& c, ValueId x, bool average, const PoolAttributes& p, std::optional<std::int64_t> countPadding,
             ValueId* positions = nullptr, std::int64_t order = 0)
{
    const Ints s = c.shape(x);
    const bool line = s.size() == 3;
    const Family family(static_cast<std::int64_t>(s.size()));
    const WindowAttributes& w = p.window;
    Attrs attrs{{"pool_size", p.kernel}, {"strides", w.strides},    {"dilations", w.dilations},
                {"padding", w.padding},  {"ceil_mode", p.ceilMode}, {"layout", family.layout()}};
    if (countPadding)
        attrs["count_include_pad"] = *countPadding;
    const ValueId image = line ? c.reshape(x, {s[0], s[1], 1, s[2]}) : x;
    const auto shaped = [&](ValueId y) { return line ? c.reshape(y, {s[0], s[1], c.extent(y, 3)}) : y; };
    const ValueId y = c.op(family.op(average ? "avg_pool" : "max_pool"), {image}, attrs);
    if (positions) {
        attrs["storage_order"] = order;
        *positions = shaped(c.op(family.op("max_pool_positions"), {image}, std::move(attrs)));
    }
    return shaped(y);
}

} // namespace

Result<ValueId> pooled(Builder& b, NodeReader& node, ValueId data, bool average)
{
    LATHE_TRY_ASSIGN(const PoolAttributes p, poolAttributes(node, b.shape(data)));
    std::optional<std::int64_t> countPadding;
    if (average) {
        LATHE_TRY_ASSIGN(countPadding, node.integer("count_include_pad", 0));
    }
    Composer c(b);
    const ValueId y = pool(c, data, average, p, countPadding);
    LATHE_TRY(c.finish({}));
    return y;
}

namespace {

template<bool Average>
Result<std::vector<ValueId>> convertPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    if (Average || !node.hasOutput(1)) {
        node.ignore("storage_order"); // of positions alone
        LATHE_TRY_ASSIGN(const ValueId y, pooled(b, node, data, Average));
        return std::vector{y};
    }
    LATHE_TRY_ASSIGN(const PoolAttributes p, poolAttributes(node, b.shape(data)));
    LATHE_TRY_ASSIGN(const std::int64_t order, node.integer("storage_order", 0));
    Composer c(b);
    ValueId positions;
    const ValueId y = pool(c, data, false, p, {}, &positions, order);
    return c.finish({y, positions});
}

/// The p-th root of the sum of |x|^p. Padding is written out as zeros, so that a mean times the window's size is the
/// sum.
Result<std::vector<ValueId>> convertLpPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t power, node.integer("p", 2));
    LATHE_TRY_ASSIGN(PoolAttributes p, poolAttributes(node, b.shape(data)));
    if (power < 1)
        return unsupported(say(Msg::NeedsAttributeNumber, "p", power));
    Composer c(b);
    const Ints shape = b.shape(data);
    const std::size_t dims = shape.size() - 2,
                      shift = p.kernel.size() - dims; // a line's window has a first dimension of 1
    Ints widths(2 * shape.size(), 0);
    std::int64_t size = 1;
    for (std::size_t d = 0; d < dims; ++d) {
        const std::size_t k = d + shift;
        const std::int64_t before = p.window.padding[k], after = p.window.padding[k + p.kernel.size()],
                           stride = std::max<std::int64_t>(p.window.strides[k], 1);
        const std::int64_t free = shape[d + 2] + before + after - (p.kernel[k] - 1) * p.window.dilations[k] - 1;
        widths[2 * (d + 2)] = before;
        widths[2 * (d + 2) + 1] = after + (p.ceilMode != 0 && free >= 0 ? (stride - free % stride) % stride : 0);
        size *= p.kernel[k];
    }
    p.window.padding.assign(p.window.padding.size(), 0);
    p.ceilMode = 0;
    const ValueId magnitude = c.op("abs", {data});
    const ValueId raised = power == 1   ? magnitude
                           : power == 2 ? c.mul(data, data)
                                        : c.op("pow", {magnitude, c.like(data, static_cast<double>(power))});
    const ValueId sum = c.mul(pool(c, c.pad(raised, widths), true, p, std::int64_t{1}),
                              c.like(data, static_cast<double>(size)));
    if (power == 1)
        return c.finish({sum});
    return c.finish(
        {power == 2 ? c.op("sqrt", {sum}) : c.op("pow", {sum, c.like(data, 1.0 / static_cast<double>(power))})});
}

Result<std::vector<ValueId>> convertGlobalLpPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const std::int64_t power, node.integer("p", 2));
    if (b.rank(x) < 3)
        return makeError(Errc::BadFile, say(Msg::InputUnder3));
    if (power < 1)
        return unsupported(say(Msg::NeedsAttributeNumber, "p", power));
    Ints axes;
    for (std::int64_t d = 2; d < b.rank(x); ++d)
        axes.push_back(d);
    Composer c(b);
    const ValueId size = c.op("abs", {x});
    if (power == 1)
        return c.finish({c.reduce("sum", size, axes)});
    if (power == 2)
        return c.finish({c.op("sqrt", {c.reduce("sum", c.mul(x, x), axes)})});
    const auto p = static_cast<double>(power);
    return c.finish({c.op("pow", {c.reduce("sum", c.op("pow", {size, c.like(x, p)}), axes), c.like(x, 1 / p)})});
}

template<bool Average>
Result<std::vector<ValueId>> convertGlobalPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    if (b.rank(data) == 4 || b.rank(data) == 5) {
        const Family family(b.rank(data));
        LATHE_TRY_ASSIGN(const ValueId result, b.emit(family.op(Average ? "global_avg_pool" : "global_max_pool"),
                                                      {{"layout", family.layout()}}, {data}));
        return std::vector{result};
    }
    if (b.rank(data) < 3)
        return makeError(Errc::BadFile, say(Msg::InputUnder3));
    Ints axes;
    for (std::int64_t d = 2; d < b.rank(data); ++d)
        axes.push_back(d);
    Composer c(b);
    return c.finish({c.reduce(Average ? "mean" : "max", data, axes)});
}

} // namespace

std::span<const ConverterEntry> imageConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"AveragePool", convertPool<true>},
        {"Conv", convertConv},
        {"ConvTranspose", convertConvTranspose},
        {"GlobalAveragePool", convertGlobalPool<true>},
        {"GlobalLpPool", convertGlobalLpPool},
        {"GlobalMaxPool", convertGlobalPool<false>},
        {"LpPool", convertLpPool},
        {"MaxPool", convertPool<false>},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
