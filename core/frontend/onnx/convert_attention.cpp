// Attention and what stands around it, written out in matrix products and softmax.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

} // namespace

ValueId splitHeads(Composer& c, ValueId x, std::int64_t heads)
{
    if (heads < 1 || c.extent(x, 2) % heads != 0)
        return c.bad(say(Msg::HeadsUnfit, heads, c.extent(x, 2)));
    const ValueId apart = c.reshape(x, {c.extent(x, 0), c.extent(x, 1), heads, c.extent(x, 2) / heads});
    return c.transpose(apart, {0, 2, 1, 3});
}

ValueId joinHeads(Composer& c, ValueId x)
{
    const ValueId y = c.transpose(x, {0, 2, 1, 3});
    return c.reshape(y, {c.extent(y, 0), c.extent(y, 1), c.extent(y, 2) * c.extent(y, 3)});
}

namespace {

/// Each head of keys or values serves `times` heads of queries that follow one another.
ValueId repeatHeads(Composer& c, ValueId x, std::int64_t times)
{
    if (times == 1)
        return x;
    const Ints s = c.shape(x);
    const ValueId apart = c.reshape(x, {s[0], s[1], 1, s[2], s[3]});
    return c.reshape(c.broadcast(apart, {s[0], s[1], times, s[2], s[3]}), {s[0], s[1] * times, s[2], s[3]});
}

/// 0 where query i may look at key j, -infinity where j lies after it.
ValueId causalMask(Builder& b, DType dtype, std::int64_t queries, std::int64_t keys, std::int64_t past)
{
    std::vector<double> values;
    for (std::int64_t i = 0; i < queries; ++i) {
        for (std::int64_t j = 0; j < keys; ++j)
            values.push_back(j > past + i ? kNever : 0.0);
    }
    return b.constant(dtype, {queries, keys}, values);
}

ValueId boolToBias(Composer& c, ValueId mask, DType dtype)
{
    return c.where(mask, c.number(dtype, 0), c.number(dtype, kNever));
}

struct Inputs
{
    ValueId q, k, v, mask, pastKey, pastValue, lengths;
};

Result<Inputs> inputsOf(Builder& b, NodeReader& node)
{
    Inputs in;
    LATHE_TRY_ASSIGN(in.q, b.input(node, 0));
    LATHE_TRY_ASSIGN(in.k, b.input(node, 1));
    LATHE_TRY_ASSIGN(in.v, b.input(node, 2));
    for (const auto& [index, slot] : {std::pair{3, &in.mask}, {4, &in.pastKey}, {5, &in.pastValue}, {6, &in.lengths}}) {
        if (node.hasInput(index)) {
            LATHE_TRY_ASSIGN(*slot, b.input(node, index));
        }
    }
    return in;
}

/// Everything that is added to the products: mask, causality, lengths of the keys. Invalid if there is nothing.
ValueId biasOf(Builder& b, Composer& c, const Inputs& in, DType dtype, std::int64_t queries, std::int64_t keys,
               bool causal)
{
    ValueId bias;
    const auto join = [&](ValueId more) { bias = bias.valid() ? c.add(bias, more) : more; };
    if (in.mask.valid()) {
        ValueId mask = in.mask;
        if (c.dtype(mask) == DType::Bool)
            mask = boolToBias(c, mask, dtype);
        if (const std::int64_t missing = keys - c.extent(mask, -1); missing > 0) {
            Ints widths(static_cast<std::size_t>(2 * c.rank(mask)), 0);
            widths.back() = missing;
            mask = c.pad(mask, widths, kNever);
        }
        join(mask);
    }
    if (causal) {
        if (queries > (std::int64_t{1} << 22) / std::max<std::int64_t>(keys, 1))
            return c.unsupported(say(Msg::NeedsCausal));
        join(causalMask(b, dtype, queries, keys, in.pastKey.valid() ? c.extent(in.pastKey, 2) : 0));
    }
    if (in.lengths.valid()) {
        std::vector<double> positions;
        for (std::int64_t i = 0; i < keys; ++i)
            positions.push_back(static_cast<double>(i));
        const ValueId places = b.constant(c.dtype(in.lengths), {1, 1, 1, keys}, positions);
        const ValueId inside = c.op("less", {places, c.reshape(in.lengths, {c.extent(in.lengths, 0), 1, 1, 1})});
        join(boolToBias(c, inside, dtype));
    }
    return bias;
}

Result<std::vector<ValueId>> convertAttention(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(Inputs in, inputsOf(b, node));
    LATHE_TRY_ASSIGN(const std::int64_t causal, node.integer("is_causal", 0));
    LATHE_TRY_ASSIGN(std::int64_t heads, node.integer("q_num_heads", 0));
    LATHE_TRY_ASSIGN(std::int64_t keyHeads, node.integer("kv_num_heads", 0));
    LATHE_TRY_ASSIGN(const std::int64_t shown, node.integer("qk_matmul_output_mode", 0));
    LATHE_TRY_ASSIGN(double scale, node.number("scale", 0));
    LATHE_TRY_ASSIGN(const double softcap, node.number("softcap", 0));
    LATHE_TRY_ASSIGN(const std::int64_t precision, node.integer("softmax_precision", 0));
    Composer c(b);
    const std::int64_t rank = c.rank(in.q);
    if ((rank != 3 && rank != 4) || c.rank(in.k) != rank || c.rank(in.v) != rank)
        return makeError(Errc::BadFile, say(Msg::QueriesKeysValues));
    if (rank == 3) {
        in.q = splitHeads(c, in.q, heads);
        in.k = splitHeads(c, in.k, keyHeads);
        in.v = splitHeads(c, in.v, keyHeads);
    }
    heads = c.extent(in.q, 1);
    keyHeads = c.extent(in.k, 1);
    if (heads % std::max<std::int64_t>(keyHeads, 1) != 0)
        return makeError(Errc::BadFile, say(Msg::KeyHeadsUnfit, keyHeads, heads));
    if (scale == 0)
        scale = 1 / std::sqrt(static_cast<double>(c.extent(in.q, 3)));
    const ValueId key = in.pastKey.valid() ? c.concat({in.pastKey, in.k}, 2) : in.k;
    const ValueId value = in.pastValue.valid() ? c.concat({in.pastValue, in.v}, 2) : in.v;

    const DType dtype = c.dtype(in.q);
    const ValueId root = c.number(dtype, std::sqrt(scale)); // half of the scale on either side, as the standard has it
    const ValueId keys = c.transpose(repeatHeads(c, key, heads / std::max<std::int64_t>(keyHeads, 1)), {0, 1, 3, 2});
    ValueId scores = c.matmul(c.mul(in.q, root), c.mul(keys, root));
    ValueId output = scores;
    const ValueId bias = biasOf(b, c, in, dtype, c.extent(in.q, 2), c.extent(key, 2), causal != 0);
    if (bias.valid())
        scores = c.add(scores, bias);
    if (shown == 1)
        output = scores;
    if (softcap > 0)
        scores = c.mul(c.op("tanh", {c.div(scores, c.like(scores, softcap))}), c.like(scores, softcap));
    if (shown == 2)
        output = scores;
    if (precision != 0) {
        const auto wide = dtypeOf(precision);
        if (!wide || !isFloat(*wide))
            return makeError(Errc::Unsupported,
                             say(Msg::NeedsAttributeNumber, "softmax_precision", dataTypeText(precision)));
        scores = c.cast(scores, *wide);
    }
    ValueId weights = c.cast(c.softmax(scores, 3), dtype);
    if (shown == 3)
        output = weights;
    ValueId y = c.matmul(weights, repeatHeads(c, value, heads / std::max<std::int64_t>(keyHeads, 1)));
    if (rank == 3)
        y = joinHeads(c, y);
    return c.finish({y, key, value, output});
}

} // namespace

ValueId rotated(Composer& c, ValueId x, const Rotation& r)
{
    const std::int64_t size = c.extent(x, 3), width = r.width;
    const auto ofHeads = [&](ValueId angles) {
        return c.reshape(angles, {c.extent(angles, 0), c.extent(angles, 1), 1, width / 2});
    };
    const ValueId cosine = ofHeads(r.cosine), sine = ofHeads(r.sine);
    const ValueId turned = c.slice(x, 3, 0, width);
    const ValueId left = r.interleaved ? c.slice(turned, 3, 0, width, 2) : c.slice(turned, 3, 0, width / 2);
    const ValueId right = r.interleaved ? c.slice(turned, 3, 1, width, 2) : c.slice(turned, 3, width / 2, width);
    const ValueId real = c.sub(c.mul(cosine, left), c.mul(sine, right));
    const ValueId imaginary = c.add(c.mul(sine, left), c.mul(cosine, right));
    ValueId result;
    if (r.interleaved) {
        Ints pairs = c.shape(real);
        pairs.push_back(1);
        result = c.reshape(c.concat({c.reshape(real, pairs), c.reshape(imaginary, pairs)}, 4), c.shape(turned));
    } else {
        result = c.concat({real, imaginary}, 3);
    }
    return width < size ? c.concat({result, c.slice(x, 3, width, size)}, 3) : result;
}

namespace {

Result<std::vector<ValueId>> convertRotary(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(ValueId cosine, b.input(node, 1));
    LATHE_TRY_ASSIGN(ValueId sine, b.input(node, 2));
    LATHE_TRY_ASSIGN(const std::int64_t interleaved, node.integer("interleaved", 0));
    LATHE_TRY_ASSIGN(const std::int64_t heads, node.integer("num_heads", 0));
    LATHE_TRY_ASSIGN(std::int64_t width, node.integer("rotary_embedding_dim", 0));
    Composer c(b);
    const Ints whole = c.shape(x);
    if (whole.size() != 3 && whole.size() != 4)
        return makeError(Errc::BadFile, say(Msg::RotaryDimensions));
    // [batch, sequence, heads, size]
    ValueId y = x;
    if (whole.size() == 4) {
        y = c.transpose(x, {0, 2, 1, 3});
    } else {
        if (heads < 1 || whole[2] % heads != 0)
            return makeError(Errc::BadFile, say(Msg::HeadsUnfit, heads, whole[2]));
        y = c.reshape(x, {whole[0], whole[1], heads, whole[2] / heads});
    }
    const std::int64_t size = c.extent(y, 3);
    width = width == 0 ? size : width;
    if (width < 2 || width > size || width % 2 != 0)
        return makeError(Errc::BadFile, say(Msg::RotaryWidth, width, size));
    if (node.hasInput(3)) {
        LATHE_TRY_ASSIGN(const ValueId places, b.input(node, 3));
        cosine = c.op("take", {cosine, places}, {{"axis", std::int64_t{0}}});
        sine = c.op("take", {sine, places}, {{"axis", std::int64_t{0}}});
    }
    for (ValueId* const cache : {&cosine, &sine}) {
        if (c.rank(*cache) != 3 || c.extent(*cache, 2) != width / 2)
            return c.failed() ? c.finish({}) : makeError(Errc::BadFile, say(Msg::RotaryCaches));
    }
    const ValueId turned = rotated(c, y, {cosine, sine, width, interleaved != 0});
    const ValueId result = whole.size() == 4 ? c.transpose(turned, {0, 2, 1, 3}) : c.reshape(turned, whole);
    return c.finish({result});
}

} // namespace

std::span<const ConverterEntry> attentionConverters()
{
    static constexpr ConverterEntry kTable[] = {{"Attention", convertAttention}, {"RotaryEmbedding", convertRotary}};
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
