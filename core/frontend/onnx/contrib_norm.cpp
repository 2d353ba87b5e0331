// com.microsoft: normalisations joined with the sums before them.

#include "core/frontend/onnx/quantized.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <utility>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr double kEpsilon = 1e-12F; ///< the schema's default

/// SkipLayerNormalization: the sum of input, skip and bias, normalised over the last dimension; and
/// SkipSimplifiedLayerNormalization, by squares and without beta. Computed in float32.
template<bool Simplified>
Result<std::vector<ValueId>> convertSkipNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId skip, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ValueId gamma, b.input(node, 2));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", kEpsilon));
    const std::int64_t rank = b.rank(x);
    if (rank < 2)
        return makeError(Errc::BadFile, say(Msg::InputShapeMustBe, "the input",
                                            fmt::format("[{}]", fmt::join(b.shape(x), ", ")), "[..., hidden]"));
    Composer c(b);
    const auto wide = [&](ValueId value) { return c.cast(value, DType::F32); };
    ValueId sum = c.add(wide(x), wide(skip));
    constexpr std::int64_t kBias = Simplified ? 3 : 4;
    if (node.hasInput(kBias)) {
        LATHE_TRY_ASSIGN(const ValueId bias, b.input(node, kBias));
        sum = c.add(sum, wide(bias));
    }
    if (!c.failed() && c.shape(sum) != b.shape(x))
        return makeError(Errc::BadFile,
                         say(Msg::InputShapeMustBe, "skip", fmt::format("[{}]", fmt::join(b.shape(skip), ", ")),
                             fmt::format("[{}]", fmt::join(b.shape(x), ", "))));
    const Standardised s = Simplified ? standardiseBySquares(c, sum, {rank - 1}, epsilon)
                                      : standardise(c, sum, {rank - 1}, epsilon);
    ValueId y = c.mul(s.y, wide(gamma));
    if (!Simplified && node.hasInput(3)) {
        LATHE_TRY_ASSIGN(const ValueId beta, b.input(node, 3));
        y = c.add(y, wide(beta));
    }
    if (Simplified && node.hasOutput(1))
        return makeError(Errc::Unsupported, say(Msg::NeedsOutput, 1)); // there is no mean
    return c.finish({c.cast(y, b.dtype(x)), s.mean, s.inverse, c.cast(sum, b.dtype(x))});
}

/// What an embedding is made of, as numbers.
struct Embedding
{
    ValueId ids, segmentIds, mask, places; ///< whole numbers; all but the first may be invalid
    ValueId words, positions, segments, gamma, beta; ///< segments may be invalid
};

/// An input that may be absent.
Result<ValueId> optionalInput(Builder& b, const NodeReader& node, std::int64_t index)
{
    return node.hasInput(index) ? b.input(node, index) : Result<ValueId>(ValueId());
}

/// The sum of the embeddings of words, positions and segments, normalised; beside it how many words count.
Result<std::vector<ValueId>> embedded(Builder& b, Composer& c, NodeReader& node, const Embedding& e, DType dtype)
{
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", kEpsilon));
    LATHE_TRY_ASSIGN(const std::int64_t maskType, node.integer("mask_index_type", e.mask.valid() ? 1 : 0));
    const auto shapeOf = [&](ValueId x) { return fmt::format("[{}]", fmt::join(c.shape(x), ", ")); };
    if (b.rank(e.ids) != 2)
        return makeError(Errc::BadFile, say(Msg::InputShapeMustBe, "input_ids", shapeOf(e.ids), "[batch, sequence]"));
    const auto rows = [&](ValueId table, ValueId indices) {
        return c.cast(c.op("take", {table, indices}, {{"axis", std::int64_t{0}}}), DType::F32);
    };
    const std::int64_t batch = b.shape(e.ids)[0], sequence = b.shape(e.ids)[1];
    if (!c.failed() && (c.rank(e.positions) != 2 || (!e.places.valid() && c.extent(e.positions, 0) < sequence)))
        return makeError(Errc::BadFile, say(Msg::InputShapeMustBe, "position_embedding", shapeOf(e.positions),
                                            fmt::format("[{} or more, hidden]", sequence)));
    const ValueId placed = e.places.valid() ? rows(e.positions, e.places)
                                            : c.cast(c.slice(e.positions, 0, 0, sequence), DType::F32);
    ValueId sum = c.add(rows(e.words, e.ids), placed);
    if (e.segmentIds.valid() && e.segments.valid())
        sum = c.add(sum, rows(e.segments, e.segmentIds));
    const Standardised s = standardise(c, sum, {2}, epsilon);
    const ValueId y = c.add(c.mul(s.y, c.cast(e.gamma, DType::F32)), c.cast(e.beta, DType::F32));
    ValueId counts = c.broadcast(c.number(DType::I32, 0), {batch});
    if (e.mask.valid() && maskType != 0)
        counts = c.reduce("sum", c.cast(c.op("equal", {e.mask, c.like(e.mask, 1)}), DType::I32), {1}, false);
    return c.finish({c.cast(y, dtype), counts, c.cast(sum, dtype)});
}

Result<std::vector<ValueId>> convertEmbedNorm(Builder& b, NodeReader& node)
{
    Embedding e;
    for (const auto& [index, slot] :
         {std::pair{0, &e.ids}, {2, &e.words}, {3, &e.positions}, {5, &e.gamma}, {6, &e.beta}}) {
        LATHE_TRY_ASSIGN(*slot, b.input(node, index));
    }
    for (const auto& [index, slot] : {std::pair{1, &e.segmentIds}, {4, &e.segments}, {7, &e.mask}, {8, &e.places}}) {
        LATHE_TRY_ASSIGN(*slot, optionalInput(b, node, index));
    }
    Composer c(b);
    return embedded(b, c, node, e, b.dtype(e.words));
}

/// With tables in eight bits, each with its scale and zero point behind the mask.
Result<std::vector<ValueId>> convertQuantizedEmbedNorm(Builder& b, NodeReader& node)
{
    Embedding e;
    Composer c(b);
    LATHE_TRY_ASSIGN(e.ids, b.input(node, 0));
    LATHE_TRY_ASSIGN(e.segmentIds, optionalInput(b, node, 1));
    LATHE_TRY_ASSIGN(e.mask, optionalInput(b, node, 7));
    std::int64_t scale = 8; // the zero points follow in the same order
    for (const auto& [index, slot] :
         {std::pair{2, &e.words}, {3, &e.positions}, {4, &e.segments}, {5, &e.gamma}, {6, &e.beta}}) {
        if (index != 4 || node.hasInput(index)) {
            LATHE_TRY_ASSIGN(const Quantized table, quantizedInput(b, node, index, scale, scale + 5));
            *slot = dequantized(c, table);
        }
        ++scale;
    }
    return embedded(b, c, node, e, DType::F32);
}

} // namespace

std::span<const ConverterEntry> contribNormConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"EmbedLayerNormalization", convertEmbedNorm},
        {"QEmbedLayerNormalization", convertQuantizedEmbedNorm},
        {"SkipLayerNormalization", convertSkipNorm<false>},
        {"SkipSimplifiedLayerNormalization", convertSkipNorm<true>},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
