// com.microsoft: normalisations joined with the sums before them.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/shared_converters.h"
#include "core/support/message.h"

#include <fmt/format.h>

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

/// The sum of the embeddings of words, positions and segments, normalised; beside it how many words count.
Result<std::vector<ValueId>> convertEmbedNorm(Builder& b, NodeReader& node)
{
    LATHE_TRY_ASSIGN(const ValueId ids, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId words, b.input(node, 2));
    LATHE_TRY_ASSIGN(const ValueId positions, b.input(node, 3));
    LATHE_TRY_ASSIGN(const ValueId gamma, b.input(node, 5));
    LATHE_TRY_ASSIGN(const ValueId beta, b.input(node, 6));
    LATHE_TRY_ASSIGN(const double epsilon, node.number("epsilon", kEpsilon));
    LATHE_TRY_ASSIGN(const std::int64_t maskType, node.integer("mask_index_type", node.hasInput(7) ? 1 : 0));
    if (b.rank(ids) != 2)
        return makeError(Errc::BadFile, say(Msg::InputShapeMustBe, "input_ids",
                                            fmt::format("[{}]", fmt::join(b.shape(ids), ", ")), "[batch, sequence]"));
    Composer c(b);
    const auto rows = [&](ValueId table, ValueId indices) {
        return c.op("take", {table, indices}, {{"axis", std::int64_t{0}}});
    };
    const std::int64_t batch = b.shape(ids)[0], sequence = b.shape(ids)[1];
    ValueId placed;
    if (node.hasInput(8)) {
        LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 8));
        placed = rows(positions, given);
    } else {
        if (b.rank(positions) != 2 || b.shape(positions)[0] < sequence)
            return makeError(Errc::BadFile, say(Msg::InputShapeMustBe, "position_embedding",
                                                fmt::format("[{}]", fmt::join(b.shape(positions), ", ")),
                                                fmt::format("[{} or more, hidden]", sequence)));
        placed = c.slice(positions, 0, 0, sequence);
    }
    ValueId sum = c.add(c.cast(rows(words, ids), DType::F32), c.cast(placed, DType::F32));
    if (node.hasInput(1) && node.hasInput(4)) {
        LATHE_TRY_ASSIGN(const ValueId segments, b.input(node, 1));
        LATHE_TRY_ASSIGN(const ValueId table, b.input(node, 4));
        sum = c.add(sum, c.cast(rows(table, segments), DType::F32));
    }
    const DType dtype = b.dtype(words);
    const Standardised s = standardise(c, sum, {2}, epsilon);
    const ValueId y = c.add(c.mul(s.y, c.cast(gamma, DType::F32)), c.cast(beta, DType::F32));
    ValueId counts = c.broadcast(b.scalar(DType::I32, 0), {batch});
    if (node.hasInput(7) && maskType != 0) {
        LATHE_TRY_ASSIGN(const ValueId mask, b.input(node, 7));
        const ValueId counted = c.cast(c.op("equal", {mask, c.like(mask, 1)}), DType::I32);
        counts = c.reduce("sum", counted, {1}, false);
    }
    return c.finish({c.cast(y, dtype), counts, c.cast(sum, dtype)});
}

} // namespace

std::span<const ConverterEntry> contribNormConverters()
{
    static constexpr ConverterEntry kTable[] = {
        {"EmbedLayerNormalization", convertEmbedNorm},
        {"SkipLayerNormalization", convertSkipNorm<false>},
        {"SkipSimplifiedLayerNormalization", convertSkipNorm<true>},
    };
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
