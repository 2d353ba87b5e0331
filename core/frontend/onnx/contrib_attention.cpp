// com.microsoft: attention with its projections and masks, written out in matrix products and softmax. Masks are of
// ONNX Runtime's kind: what may not be looked at gets a large negative number (mask_filter_value), not -infinity.

#include "core/frontend/onnx/quantized.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::frontend::onnx_detail {
namespace {

std::string shapeOf(const Composer& c, ValueId x)
{
    return fmt::format("[{}]", fmt::join(c.shape(x), ", "));
}

struct ContribOptions
{
    std::int64_t heads = 0;
    double scale = 0; ///< 0: 1 / sqrt(size of a head)
    double filter = -10000; ///< added where a mask is 0
    bool causal = false;
};

Result<ContribOptions> contribOptionsOf(NodeReader& node)
{
    ContribOptions o;
    LATHE_TRY_ASSIGN(o.heads, node.integer("num_heads", 0));
    LATHE_TRY_ASSIGN(o.scale, node.number("scale", 0));
    LATHE_TRY_ASSIGN(o.filter, node.number("mask_filter_value", -10000.0));
    LATHE_TRY_ASSIGN(const std::int64_t causal, node.integer("unidirectional", 0));
    o.causal = causal != 0;
    return o;
}

/// Attributes that change the result where they are set. Errors: Unsupported, by name.
Result<> needUnset(NodeReader& node, std::initializer_list<const char*> names)
{
    for (const char* name : names) {
        LATHE_TRY_ASSIGN(const std::int64_t value, node.integer(name, 0));
        if (value != 0)
            return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, name, value));
    }
    return {};
}

Result<> needNoInput(const NodeReader& node, std::int64_t index, const char* name)
{
    return node.hasInput(index) ? Result<>(makeError(Errc::Unsupported, say(Msg::NeedsInput, index, name)))
                                : Result<>();
}

struct Heads
{
    ValueId q, k, v; ///< [batch, heads, sequence, size]; k and v with what was before
    std::int64_t past = 0; ///< how long that is
};

/// 0, 1, 2 ... along dimension `axis` of four.
ValueId positionsAlong(Composer& c, DType dtype, std::int64_t count, std::size_t axis)
{
    Ints shape(4, 1);
    shape[axis] = count;
    return c.reshape(c.cast(c.range(count), dtype), shape);
}

/// 0 where the mask lets look, else mask_filter_value; broadcasts to [batch, heads, queries, keys]. The mask holds for
/// each key whether it counts (also by queries), or, as a vector, how many of a batch's keys count, then from which on.
ValueId paddingBias(Composer& c, ValueId mask, const ContribOptions& o, std::int64_t batch, std::int64_t queries,
                    std::int64_t keys, DType dtype)
{
    const Ints shape = c.shape(mask);
    ValueId counts;
    if (shape == Ints{batch} || shape == Ints{2 * batch}) {
        const ValueId places = positionsAlong(c, DType::I32, keys, 3);
        const auto limit = [&](std::int64_t part) {
            return c.reshape(c.slice(mask, 0, part * batch, (part + 1) * batch), {batch, 1, 1, 1});
        };
        counts = c.op("less", {places, limit(0)});
        if (shape[0] != batch)
            counts = c.op("logical_and", {counts, c.op("greater_equal", {places, limit(1)})});
    } else if (shape == Ints{batch, keys}) {
        counts = c.op("greater", {c.reshape(mask, {batch, 1, 1, keys}), c.like(mask, 0)});
    } else if (shape == Ints{batch, queries, keys}) {
        counts = c.op("greater", {c.reshape(mask, {batch, 1, queries, keys}), c.like(mask, 0)});
    } else {
        return c.unsupported(say(Msg::NeedsMaskOf, shapeOf(c, mask)));
    }
    return c.where(counts, c.number(dtype, 0), c.number(dtype, o.filter));
}

/// softmax(q k' scale + bias) v, [batch, queries, heads * size].
ValueId attended(Builder& b, Composer& c, const Heads& h, const ContribOptions& o, ValueId mask, ValueId bias)
{
    const std::int64_t batch = c.extent(h.q, 0), queries = c.extent(h.q, 2), keys = c.extent(h.k, 2);
    const DType dtype = c.dtype(h.q);
    const double scale = o.scale != 0 ? o.scale : 1 / std::sqrt(static_cast<double>(c.extent(h.q, 3)));
    ValueId scores = c.matmul(h.q, c.transpose(h.k, {0, 1, 3, 2}));
    scores = c.mul(scores, c.like(scores, scale));
    if (bias.valid())
        scores = c.add(scores, bias);
    if (mask.valid())
        scores = c.add(scores, paddingBias(c, mask, o, batch, queries, keys, dtype));
    if (o.causal && queries > 1) {
        const ValueId last = c.add(positionsAlong(c, DType::I32, queries, 2),
                                   b.scalar(DType::I32, static_cast<double>(h.past)));
        const ValueId later = c.op("greater", {positionsAlong(c, DType::I32, keys, 3), last});
        scores = c.where(later, c.number(dtype, std::numeric_limits<float>::lowest()), scores);
    }
    return joinHeads(c, c.matmul(c.softmax(scores, 3), h.v));
}

/// The additional bias [batch or 1, heads or 1, queries, keys]; invalid if absent.
Result<ValueId> attentionBias(Builder& b, const NodeReader& node, std::int64_t index)
{
    if (!node.hasInput(index))
        return ValueId();
    LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, index));
    if (b.rank(bias) != 4)
        return makeError(Errc::BadFile,
                         say(Msg::InputShapeMustBe, "attention_bias",
                             fmt::format("[{}]", fmt::join(b.shape(bias), ", ")), "[batch, heads, queries, keys]"));
    return bias;
}

/// Queries, keys and values of one projection [batch, sequence, widths], with the past [2, batch, heads, past, size]
/// before them; attention; and the past for the next step.
Result<std::vector<ValueId>> selfAttention(Builder& b, Composer& c, NodeReader& node, ValueId projected, Ints widths,
                                           const ContribOptions& o, std::int64_t pastInput, ValueId mask, ValueId bias)
{
    const std::int64_t whole = c.extent(projected, 2);
    if (widths.empty() && whole % 3 == 0)
        widths = {whole / 3, whole / 3, whole / 3};
    if (widths.size() != 3 || widths[0] < 1 || widths[2] < 1 || widths[0] != widths[1]
        || widths[0] + widths[1] + widths[2] != whole)
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "qkv_hidden_sizes",
                                            fmt::format("{} of {}", fmt::join(widths, ", "), whole)));
    Heads h;
    h.q = splitHeads(c, c.slice(projected, 2, 0, widths[0]), o.heads);
    h.k = splitHeads(c, c.slice(projected, 2, widths[0], 2 * widths[0]), o.heads);
    h.v = splitHeads(c, c.slice(projected, 2, 2 * widths[0], whole), o.heads);
    if (node.hasInput(pastInput)) {
        LATHE_TRY_ASSIGN(const ValueId past, b.input(node, pastInput));
        if (c.rank(past) != 5 || c.extent(past, 0) != 2)
            return makeError(Errc::BadFile,
                             say(Msg::InputShapeMustBe, "past", shapeOf(c, past), "[2, batch, heads, sequence, size]"));
        h.past = c.extent(past, 3);
        for (std::int64_t part = 0; part < 2; ++part) {
            const Ints shape(c.shape(past).begin() + 1, c.shape(past).end());
            ValueId& target = part == 0 ? h.k : h.v;
            target = c.concat({c.reshape(c.slice(past, 0, part, part + 1), shape), target}, 2);
        }
    }
    std::vector<ValueId> outputs{attended(b, c, h, o, mask, bias)};
    if (node.hasOutput(1)) {
        const auto stacked = [&](ValueId x) {
            Ints shape = c.shape(x);
            shape.insert(shape.begin(), 1);
            return c.reshape(x, shape);
        };
        outputs.push_back(c.concat({stacked(h.k), stacked(h.v)}, 0));
    }
    return c.finish(std::move(outputs));
}

Result<ValueId> maskInput(Builder& b, const NodeReader& node, std::int64_t index)
{
    return node.hasInput(index) ? b.input(node, index) : Result<ValueId>(ValueId());
}

Result<std::vector<ValueId>> contribAttention(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId weight, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ContribOptions o, contribOptionsOf(node));
    LATHE_TRY_ASSIGN(Ints widths, node.integers("qkv_hidden_sizes"));
    LATHE_TRY(needUnset(node, {"do_rotary", "past_present_share_buffer", "rotary_embedding_dim"}));
    LATHE_TRY(needNoInput(node, 6, "past_sequence_length"));
    LATHE_TRY_ASSIGN(const ValueId mask, maskInput(b, node, 3));
    LATHE_TRY_ASSIGN(const ValueId bias, attentionBias(b, node, 5));
    if (b.rank(x) != 3)
        return makeError(Errc::BadFile,
                         say(Msg::InputShapeMustBe, "input", fmt::format("[{}]", fmt::join(b.shape(x), ", ")),
                             "[batch, sequence, width]"));
    LATHE_TRY_ASSIGN(ValueId projected, matrixProduct(b, x, weight));
    Composer c(b);
    if (node.hasInput(2)) {
        LATHE_TRY_ASSIGN(const ValueId added, b.input(node, 2));
        projected = c.add(projected, added);
    }
    return selfAttention(b, c, node, projected, std::move(widths), o, 4, mask, bias);
}

/// As Attention, with a projection of integers.
Result<std::vector<ValueId>> contribQAttention(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const Quantized x, quantizedInput(b, node, 0, 3, 6));
    LATHE_TRY_ASSIGN(const Quantized weight, quantizedInput(b, node, 1, 4, 7));
    LATHE_TRY_ASSIGN(const ValueId added, b.input(node, 2));
    LATHE_TRY_ASSIGN(const ContribOptions o, contribOptionsOf(node));
    LATHE_TRY(needUnset(node, {"do_rotary", "past_present_share_buffer"}));
    LATHE_TRY_ASSIGN(const ValueId mask, maskInput(b, node, 5));
    if (b.rank(x.values) != 3)
        return makeError(Errc::BadFile,
                         say(Msg::InputShapeMustBe, "input", fmt::format("[{}]", fmt::join(b.shape(x.values), ", ")),
                             "[batch, sequence, width]"));
    Composer c(b);
    LATHE_TRY_ASSIGN(const ValueId sums, integerProduct(b, c, x, weight));
    const ValueId product = c.mul(c.cast(sums, DType::F32), productScale(c, x, weight));
    const ValueId projected = c.cast(c.add(product, c.cast(added, DType::F32)), b.dtype(added));
    return selfAttention(b, c, node, projected, {}, o, 8, mask, {});
}

/// Keys and values of their own lengths and widths; those that have four dimensions already are of heads.
Result<std::vector<ValueId>> contribMultiHead(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(ValueId q, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ContribOptions o, contribOptionsOf(node));
    LATHE_TRY(needNoInput(node, 8, "past_sequence_length"));
    LATHE_TRY(needNoInput(node, 9, "cache_indirection"));
    if (b.rank(q) != 3 || !node.hasInput(1) || !node.hasInput(2))
        return makeError(Errc::Unsupported, say(Msg::NeedsPacked));
    LATHE_TRY_ASSIGN(ValueId k, b.input(node, 1));
    LATHE_TRY_ASSIGN(ValueId v, b.input(node, 2));
    LATHE_TRY_ASSIGN(const ValueId mask, maskInput(b, node, 4));
    LATHE_TRY_ASSIGN(const ValueId bias, attentionBias(b, node, 5));
    Composer c(b);
    const bool ofHeads = b.rank(k) == 4;
    if ((b.rank(k) != 3 && !ofHeads) || b.rank(v) != b.rank(k))
        return makeError(Errc::BadFile, say(Msg::QueriesKeysValues));
    if (node.hasInput(3)) { // of the three projections, one behind the other
        LATHE_TRY_ASSIGN(const ValueId added, b.input(node, 3));
        const std::int64_t width = c.extent(q, 2);
        if (c.rank(added) != 1 || c.extent(added, 0) <= 2 * width)
            return makeError(Errc::BadFile,
                             say(Msg::InputShapeMustBe, "bias", shapeOf(c, added), "[widths of all three]"));
        q = c.add(q, c.slice(added, 0, 0, width));
        if (!ofHeads) {
            k = c.add(k, c.slice(added, 0, width, 2 * width));
            v = c.add(v, c.slice(added, 0, 2 * width, c.extent(added, 0)));
        }
    }
    Heads h;
    h.q = splitHeads(c, q, o.heads);
    h.k = ofHeads ? k : splitHeads(c, k, o.heads);
    h.v = ofHeads ? v : splitHeads(c, v, o.heads);
    for (const auto& [index, target] : {std::pair{6, &h.k}, std::pair{7, &h.v}}) {
        if (node.hasInput(index)) {
            LATHE_TRY_ASSIGN(const ValueId past, b.input(node, index));
            h.past = c.extent(past, 2);
            *target = c.concat({past, *target}, 2);
        }
    }
    return c.finish({attended(b, c, h, o, mask, bias), h.k, h.v});
}

/// The standard's, with the positions as second input.
Result<std::vector<ValueId>> contribRotary(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ValueId cosines, b.input(node, 2));
    LATHE_TRY_ASSIGN(const ValueId sines, b.input(node, 3));
    LATHE_TRY_ASSIGN(const std::int64_t interleaved, node.integer("interleaved", 0));
    LATHE_TRY_ASSIGN(std::int64_t heads, node.integer("num_heads", 0));
    LATHE_TRY_ASSIGN(const std::int64_t part, node.integer("rotary_embedding_dim", 0));
    LATHE_TRY_ASSIGN(const double scale, node.number("scale", 1));
    LATHE_TRY(needUnset(node, {"is_packed_batching"}));
    if (scale != 1)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "scale", scale));
    const std::int64_t rank = b.rank(x);
    if ((rank != 3 && rank != 4) || b.rank(cosines) != 2 || b.shape(cosines) != b.shape(sines))
        return makeError(Errc::BadFile,
                         say(Msg::InputShapeMustBe, "input", fmt::format("[{}]", fmt::join(b.shape(x), ", ")),
                             "[batch, sequence, heads * size]"));
    Composer c(b);
    const std::int64_t width = part != 0 ? part : 2 * c.extent(cosines, 1);
    if (rank == 3 && heads == 0)
        heads = c.extent(x, 2) / std::max<std::int64_t>(width, 1);
    const ValueId apart = rank == 4 ? x : splitHeads(c, x, heads); // [batch, heads, sequence, size]
    const std::int64_t sequence = c.extent(apart, 2);
    if (!c.failed() && (width < 2 || width % 2 != 0 || width > c.extent(apart, 3) || c.extent(cosines, 1) != width / 2))
        return makeError(Errc::BadFile, say(Msg::InputShapeMustBe, "cos_cache", shapeOf(c, cosines),
                                            fmt::format("[positions, {}]", width / 2)));
    ValueId places = given;
    if (c.shape(given) == Ints{1} || c.rank(given) == 0) { // the first; the others follow
        std::vector<double> values(static_cast<std::size_t>(sequence));
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = static_cast<double>(i);
        places = c.add(b.constant(b.dtype(given), {1, sequence}, values), c.reshape(given, {1, 1}));
    }
    const auto at = [&](ValueId cache) { return c.op("take", {cache, places}, {{"axis", std::int64_t{0}}}); };
    const ValueId turned = rotated(c, c.transpose(apart, {0, 2, 1, 3}),
                                   {at(cosines), at(sines), width, interleaved != 0});
    return c.finish({rank == 4 ? c.transpose(turned, {0, 2, 1, 3}) : c.reshape(turned, b.shape(x))});
}

} // namespace

std::span<const ConverterEntry> contribAttentionConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"Attention", contribAttention},
        {"MultiHeadAttention", contribMultiHead},
        {"QAttention", contribQAttention},
        {"RotaryEmbedding", contribRotary},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
