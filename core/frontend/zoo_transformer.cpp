// Stacks of attention layers, over the patches of an image and over the tokens of a text. What passes between the
// layers is a matrix with one row for each patch or token of the batch; attention alone takes it apart.

#include "core/frontend/zoo_builder.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace lathe::frontend {

using graph::ValueId;

namespace {

using Ints = std::vector<std::int64_t>;
using Projections = std::array<ValueId, 3>; ///< queries, keys, values

class Layers
{
public:
    Layers(ZooBuilder& builder, const TransformerSizes& sizes, std::int64_t length)
        : m_b(builder)
        , m_sizes(sizes)
        , m_length(length)
    {
    }

    /// By one product, as the vision transformer is usually written.
    Projections packed(ValueId x, const std::string& name)
    {
        const std::int64_t width = m_sizes.width;
        const ValueId all = m_b.dense(x, name + "_qkv", 3 * width);
        const ValueId query = m_b.slice(all, name + "_query", 1, 0, width);
        const ValueId key = m_b.slice(all, name + "_key", 1, width, 2 * width);
        return {query, key, m_b.slice(all, name + "_value", 1, 2 * width, 3 * width)};
    }

    /// By three products, as the text encoder is.
    Projections apart(ValueId x, const std::string& name)
    {
        const ValueId query = m_b.dense(x, name + "_query", m_sizes.width);
        const ValueId key = m_b.dense(x, name + "_key", m_sizes.width);
        return {query, key, m_b.dense(x, name + "_value", m_sizes.width)};
    }

    /// `bias` is added to the scores of all queries; it may be absent.
    ValueId attention(const Projections& projections, const std::string& name, ValueId bias)
    {
        const auto size = static_cast<double>(m_sizes.width / m_sizes.heads);
        const ValueId query = heads(projections[0], name + "_queries", {0, 2, 1, 3});
        const ValueId key = heads(projections[1], name + "_keys", {0, 2, 3, 1});
        const ValueId value = heads(projections[2], name + "_values", {0, 2, 1, 3});
        ValueId scores = m_b.op(name + "_products", "matmul", {query, key});
        scores = m_b.op(name + "_scores", "multiply", {scores, m_b.scalar(name + "_root", 1 / std::sqrt(size))});
        if (bias.valid())
            scores = m_b.op(name + "_masked", "add", {scores, bias});
        ValueId y = m_b.op(name + "_mixed", "matmul", {m_b.softmax(scores, name + "_weights"), value});
        y = m_b.op(name + "_turned", "transpose", {y}, {{"axes", Ints{0, 2, 1, 3}}});
        y = m_b.reshape(y, name + "_rows", {m_b.batch() * m_length, m_sizes.width});
        return m_b.dense(y, name + "_out", m_sizes.width);
    }

    ValueId perceptron(ValueId x, const std::string& name)
    {
        x = m_b.op(name + "_gelu", "gelu", {m_b.dense(x, name + "_1", m_sizes.hidden)});
        return m_b.dense(x, name + "_2", m_sizes.width);
    }

private:
    /// Rows as [batch, row, head, element], its dimensions then in the order of `axes`.
    ValueId heads(ValueId x, const std::string& name, const Ints& axes)
    {
        x = m_b.reshape(x, name + "_split", {m_b.batch(), m_length, m_sizes.heads, m_sizes.width / m_sizes.heads});
        return m_b.op(name, "transpose", {x}, {{"axes", axes}});
    }

    ZooBuilder& m_b;
    TransformerSizes m_sizes;
    std::int64_t m_length = 0; ///< rows of one sample
};

/// Of [batch, rows, width] each sample's first row.
ValueId firstRows(ZooBuilder& b, ValueId x, const std::string& name)
{
    const std::int64_t width = b.shape(x).back();
    return b.reshape(b.slice(x, name + "_slice", 1, 0, 1), name, {b.batch(), width});
}

} // namespace

/// Patches of 16x16, norms before attention and perceptron, logits of the class token at the end.
Result<graph::Graph> buildVit(const std::string& name, const TransformerSizes& sizes, const ZooOptions& options)
{
    constexpr std::int64_t kPatch = 16, kLargest = 2048;
    constexpr double kEpsilon = 1e-6;
    const std::int64_t size = options.imageSize ? options.imageSize : 224;
    if (size % kPatch != 0 || size > kLargest)
        return makeError(Errc::InvalidArgument,
                         fmt::format("{} reads images whose size is a multiple of {} and at most {}; {} is not", name,
                                     kPatch, kLargest, size));
    const std::int64_t patches = (size / kPatch) * (size / kPatch), length = patches + 1;
    ZooBuilder b(name, options);
    ValueId x = b.image(3, size);
    x = b.conv(x, "patch", {.channels = sizes.width, .kernel = {kPatch, kPatch}, .stride = kPatch});
    x = b.biasAdd(x, "patch_bias", b.channelAxis());
    if (b.nhwc()) {
        x = b.reshape(x, "patch_rows", {b.batch(), patches, sizes.width});
    } else {
        x = b.reshape(x, "patch_columns", {b.batch(), sizes.width, patches});
        x = b.op("patch_rows", "transpose", {x}, {{"axes", Ints{0, 2, 1}}});
    }
    const ValueId token = b.parameter("class_token_weight", {1, 1, sizes.width});
    const ValueId tokens = b.op("class_tokens", "broadcast_to", {token}, {{"shape", Ints{b.batch(), 1, sizes.width}}});
    x = b.op("rows", "concatenate", {tokens, x}, {{"axis", std::int64_t{1}}});
    x = b.op("placed", "add", {x, b.parameter("position_embedding_weight", {length, sizes.width})});
    x = b.reshape(x, "embedded", {b.batch() * length, sizes.width});
    Layers layers(b, sizes, length);
    for (std::int64_t i = 1; i <= sizes.layers; ++i) {
        const std::string layer = fmt::format("layer{}_", i), attention = layer + "attention";
        const Projections projections = layers.packed(b.layerNorm(x, layer + "norm1", kEpsilon), attention);
        x = b.add(layers.attention(projections, attention, ValueId()), x, layer + "add1");
        x = b.add(layers.perceptron(b.layerNorm(x, layer + "norm2", kEpsilon), layer + "mlp"), x, layer + "add2");
    }
    x = b.layerNorm(x, "norm", kEpsilon);
    x = firstRows(b, b.reshape(x, "sequence", {b.batch(), length, sizes.width}), "class_token");
    return std::move(b).finish(b.dense(x, "head", options.classes ? options.classes : 1000));
}

/// Norms after attention and perceptron. Inputs: ids of the tokens, and a mask that is 0 where a token is not to be
/// looked at. All tokens are of the first segment. Outputs: the last layer's rows, and the pooled first one.
Result<graph::Graph> buildBert(const std::string& name, const TransformerSizes& sizes, const ZooOptions& options)
{
    if (options.imageSize != 0 || options.classes != 0)
        return makeError(Errc::InvalidArgument,
                         fmt::format("{} reads tokens and has neither an image size nor classes", name));
    constexpr double kEpsilon = 1e-12, kHidden = -10000;
    ZooBuilder b(name, options);
    const ValueId ids = b.integers("input_ids", sizes.tokens);
    const ValueId mask = b.integers("attention_mask", sizes.tokens);
    const ValueId words = b.parameter("word_embedding_weight", {sizes.vocabulary, sizes.width});
    ValueId x = b.op("words", "take", {words, ids}, {{"axis", std::int64_t{0}}});
    x = b.op("typed", "add",
             {x, b.slice(b.parameter("segment_embedding_weight", {2, sizes.width}), "segment", 0, 0, 1)});
    const ValueId places = b.parameter("position_embedding_weight", {sizes.positions, sizes.width});
    x = b.op("placed", "add", {x, b.slice(places, "places", 0, 0, sizes.tokens)});
    x = b.layerNorm(b.reshape(x, "rows", {b.batch() * sizes.tokens, sizes.width}), "embedding_norm", kEpsilon);

    const ValueId seen = b.reshape(b.op("seen", "cast", {mask}, {{"dtype", std::string("bool")}}), "seen_keys",
                                   {b.batch(), 1, 1, sizes.tokens});
    const ValueId bias = b.op("mask_bias", "where",
                              {seen, b.scalar("mask_shown", 0), b.scalar("mask_hidden", kHidden)});
    Layers layers(b, sizes, sizes.tokens);
    for (std::int64_t i = 1; i <= sizes.layers; ++i) {
        const std::string layer = fmt::format("layer{}_", i), attention = layer + "attention";
        const ValueId y = layers.attention(layers.apart(x, attention), attention, bias);
        x = b.layerNorm(b.add(y, x, layer + "add1"), layer + "norm1", kEpsilon);
        x = b.layerNorm(b.add(layers.perceptron(x, layer + "mlp"), x, layer + "add2"), layer + "norm2", kEpsilon);
    }
    x = b.reshape(x, "last_hidden_state", {b.batch(), sizes.tokens, sizes.width});
    const ValueId pooled = b.tanh(b.dense(firstRows(b, x, "first_token"), "pooler", sizes.width), "pooler_output");
    return std::move(b).finish(std::vector{x, pooled});
}

} // namespace lathe::frontend
