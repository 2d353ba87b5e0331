// com.microsoft: products and activations that ONNX Runtime's optimizer joined, and single functions.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace lathe::frontend::onnx_detail {
namespace {

/// Half floats are computed in float32 and rounded once.
DType computedIn(DType dtype)
{
    return dtype == DType::F16 || dtype == DType::BF16 ? DType::F32 : dtype;
}

/// A function that was joined with what stands before it: its name and up to two numbers.
struct Activation
{
    std::string name; ///< empty: none
    std::optional<double> first, second;
};

ValueId activated(Composer& c, ValueId x, const Activation& a)
{
    struct Plain
    {
        std::string_view onnx, ours;
    };
    static constexpr Plain kPlain[] = {{"Relu", "relu"},
                                       {"Sigmoid", "sigmoid"},
                                       {"Tanh", "tanh"},
                                       {"Softplus", "softplus"},
                                       {"HardSwish", "hard_swish"}};
    if (a.name.empty())
        return x;
    if (const auto* const plain = std::ranges::find(kPlain, a.name, &Plain::onnx); plain != std::end(kPlain))
        return c.op(plain->ours, {x});
    if (a.name == "LeakyRelu")
        return c.op("leaky_relu", {x}, {{"alpha", a.first.value_or(0.01)}});
    if (a.name == "Elu")
        return c.op("elu", {x}, {{"alpha", a.first.value_or(1.0)}});
    if (a.name == "HardSigmoid")
        return c.op("hard_sigmoid", {x}, {{"alpha", a.first.value_or(0.2)}, {"beta", a.second.value_or(0.5)}});
    if (a.name == "Clip")
        return c.op("clip", {x},
                    {{"min", a.first.value_or(std::numeric_limits<float>::lowest())},
                     {"max", a.second.value_or(std::numeric_limits<float>::max())}});
    return c.unsupported(say(Msg::NeedsAttributeValue, "activation", a.name.substr(0, 40)));
}

Result<std::vector<ValueId>> convertFusedConv(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId data, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId weight, b.input(node, 1));
    ValueId bias;
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(bias, b.input(node, 2));
    }
    Activation activation;
    LATHE_TRY_ASSIGN(activation.name, node.text("activation", ""));
    LATHE_TRY_ASSIGN(const std::vector<double> numbers, node.numbers("activation_params"));
    if (!numbers.empty())
        activation.first = numbers[0];
    if (numbers.size() > 1)
        activation.second = numbers[1];
    LATHE_TRY_ASSIGN(ValueId y, convolve(b, node, data, weight, bias));
    Composer c(b);
    if (node.hasInput(3)) {
        LATHE_TRY_ASSIGN(const ValueId sum, b.input(node, 3));
        y = c.add(y, sum);
    }
    return c.finish({activated(c, y, activation)});
}

Result<std::vector<ValueId>> convertFusedGemm(Builder& b, NodeReader& node)
{
    Activation activation;
    LATHE_TRY_ASSIGN(activation.name, node.text("activation", ""));
    for (const auto& [name, slot] :
         {std::pair{"activation_alpha", &activation.first}, {"activation_beta", &activation.second}}) {
        if (node.has(name)) {
            LATHE_TRY_ASSIGN(*slot, node.number(name, 0));
        }
    }
    node.ignore("activation_gamma"); // which no activation has
    LATHE_TRY_ASSIGN(const std::vector<ValueId> product, convertGemm(b, node));
    Composer c(b);
    return c.finish({activated(c, product[0], activation)});
}

/// The first dimension goes behind the batches: [M, batches, K] -> [batches, M, K].
ValueId batchesFirst(Composer& c, ValueId x)
{
    const std::int64_t rank = c.rank(x);
    if (rank < 3)
        return x;
    Ints axes(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 1);
    axes[static_cast<std::size_t>(rank) - 2] = 0;
    axes.back() = rank - 1;
    return c.transpose(x, axes);
}

ValueId lastTwoSwapped(Composer& c, ValueId x)
{
    const std::int64_t rank = c.rank(x);
    if (rank < 2)
        return x;
    Ints axes(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[static_cast<std::size_t>(rank) - 1], axes[static_cast<std::size_t>(rank) - 2]);
    return c.transpose(x, axes);
}

Result<std::vector<ValueId>> convertFusedMatMul(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 1));
    Composer c(b);
    std::vector<ValueId> operands;
    for (const auto& [index, turned, batched] :
         {std::tuple{0, "transA", "transBatchA"}, std::tuple{1, "transB", "transBatchB"}}) {
        LATHE_TRY_ASSIGN(ValueId x, b.input(node, index));
        LATHE_TRY_ASSIGN(const std::int64_t batchesLater, node.integer(batched, 0));
        LATHE_TRY_ASSIGN(const std::int64_t transposed, node.integer(turned, 0));
        if (batchesLater != 0)
            x = batchesFirst(c, x);
        if (transposed != 0)
            x = lastTwoSwapped(c, x);
        operands.push_back(x);
    }
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(const ValueId product, matrixProduct(b, operands[0], operands[1]));
    return c.finish({alpha == 1 ? product : c.mul(product, c.like(product, alpha))});
}

/// FastGelu and BiasGelu: gelu of a sum, whose second operand FastGelu may lack.
Result<std::vector<ValueId>> convertBiasGelu(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Composer c(b);
    const DType wide = computedIn(b.dtype(x));
    ValueId y = c.cast(x, wide);
    if (node.hasInput(1) || node.op() == "BiasGelu") {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, 1));
        y = c.add(y, c.cast(bias, wide));
    }
    return c.finish({c.cast(c.op(node.op() == "FastGelu" ? "gelu_tanh" : "gelu", {y}), b.dtype(x))});
}

Result<std::vector<ValueId>> convertQuickGelu(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const double alpha, node.number("alpha", 1.702F));
    Composer c(b);
    const ValueId wide = c.cast(x, computedIn(b.dtype(x)));
    const ValueId gate = c.op("sigmoid", {c.mul(wide, c.like(wide, alpha))});
    return c.finish({c.cast(c.mul(wide, gate), b.dtype(x))});
}

/// Gauss and Jordan: in each column the row with the largest entry is exchanged for the column's own, and taken off all
/// others. Written out, so for small matrices.
Result<std::vector<ValueId>> convertInverse(Builder& b, NodeReader& node)
{
    constexpr std::int64_t kMaxRows = 32;
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 0));
    const Ints shape = b.shape(given);
    const std::int64_t rank = b.rank(given);
    if (rank < 2 || shape[shape.size() - 1] != shape[shape.size() - 2])
        return makeError(Errc::BadFile,
                         say(Msg::InputShapeMustBe, "X", fmt::format("{}", fmt::join(shape, ", ")), "[..., N, N]"));
    const std::int64_t rows = shape.back();
    if (rows > kMaxRows)
        return makeError(Errc::Unsupported, say(Msg::NeedsInverseOf, rows, kMaxRows));
    Composer c(b);
    const std::int64_t batch = elementCount(std::span(shape).first(static_cast<std::size_t>(rank - 2)));
    const DType dtype = computedIn(b.dtype(given));
    const ValueId x = c.reshape(c.cast(given, dtype), {batch, rows, rows});
    std::vector<double> unit(static_cast<std::size_t>(rows * rows), 0);
    std::vector<double> numbers(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
        unit[static_cast<std::size_t>(i * rows + i)] = 1;
        numbers[static_cast<std::size_t>(i)] = static_cast<double>(i);
    }
    const ValueId places = b.constant(DType::I64, {1, rows, 1}, numbers);
    ValueId a = c.concat({x, c.broadcast(b.constant(dtype, {1, rows, rows}, unit), {batch, rows, rows})}, 2);
    for (std::int64_t k = 0; k < rows; ++k) {
        const ValueId below = c.op("abs", {c.slice(c.slice(a, 2, k, k + 1), 1, k, rows)}); // [batch, rows - k, 1]
        const ValueId largest = c.add(c.op("argmax", {below}, {{"axes", Ints{1}}, {"keepdims", std::int64_t{1}}}),
                                      b.scalar(DType::I64, static_cast<double>(k)));
        const ValueId isPivot = c.op("equal", {places, largest}); // [batch, rows, 1]
        const ValueId isOwn = c.op("equal", {places, b.scalar(DType::I64, static_cast<double>(k))});
        const ValueId own = c.slice(a, 1, k, k + 1);
        const ValueId pivot = c.reduce("sum", c.where(isPivot, a, c.like(a, 0)), {1}); // [batch, 1, 2 rows]
        a = c.where(isOwn, pivot, c.where(isPivot, own, a));
        const ValueId scaled = c.div(pivot, c.slice(pivot, 2, k, k + 1));
        a = c.where(isOwn, scaled, c.sub(a, c.mul(c.slice(a, 2, k, k + 1), scaled)));
    }
    return c.finish({c.cast(c.reshape(c.slice(a, 2, rows, 2 * rows), shape), b.dtype(given))});
}

Result<std::vector<ValueId>> convertNhwcMaxPool(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    Composer c(b);
    const ValueId first = channelsFirst(c, x);
    LATHE_TRY(c.finish({}));
    LATHE_TRY_ASSIGN(const ValueId y, pooled(b, node, first, false));
    return c.finish({channelsLast(c, y)});
}

} // namespace

ValueId channelsFirst(Composer& c, ValueId x)
{
    const std::int64_t rank = c.rank(x);
    Ints axes(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), -1);
    axes[0] = 0;
    if (rank > 1)
        axes[1] = rank - 1;
    return rank < 3 ? x : c.transpose(x, axes);
}

ValueId channelsLast(Composer& c, ValueId x)
{
    const std::int64_t rank = c.rank(x);
    Ints axes(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 1);
    axes[0] = 0;
    axes.back() = 1;
    return rank < 3 ? x : c.transpose(x, axes);
}

std::span<const ConverterEntry> contribFusedConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"BiasGelu", convertBiasGelu},           {"FastGelu", convertBiasGelu},
        {"FusedConv", convertFusedConv},         {"FusedGemm", convertFusedGemm},
        {"FusedMatMul", convertFusedMatMul},     {"Inverse", convertInverse},
        {"NhwcMaxPool", convertNhwcMaxPool},     {"QuickGelu", convertQuickGelu},
        {"TransposeMatMul", convertFusedMatMul}, // its older name
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
