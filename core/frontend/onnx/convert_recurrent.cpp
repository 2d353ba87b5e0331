// Recurrent layers, unrolled: lengths of sequences are known. The products with the inputs of all steps are one.

#include "core/frontend/onnx/composer.h"
#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::int64_t kMaxSteps = 1024; ///< beyond, the unrolled network is out of proportion

/// One direction of a layer: weights as [gates * hidden, width].
struct Direction
{
    bool backward = false;
    ValueId inputs; ///< [steps, batch, gates * hidden], products and input bias
    ValueId recurrent; ///< [gates * hidden, hidden]
    ValueId bias; ///< [1, gates * hidden], of the recurrent product; may be invalid
    ValueId peephole; ///< [3 * hidden]; may be invalid
    ValueId hidden, cell; ///< [batch, hidden], at the start
    std::vector<std::string> functions;
};

struct Layer
{
    std::int64_t steps = 0, batch = 0, hidden = 0;
    bool batchFirst = false;
    ValueId lengths; ///< [batch, 1] I64: steps of each sequence; invalid: all
    double clip = 0;
    std::vector<Direction> directions;
};

ValueId activate(Composer& c, const std::string& name, ValueId x)
{
    if (name == "Sigmoid")
        return c.op("sigmoid", {x});
    if (name == "Tanh")
        return c.op("tanh", {x});
    if (name == "Relu")
        return c.op("relu", {x});
    return c.unsupported(say(Msg::NeedsAttributeValue, "activations", name.substr(0, 40)));
}

Result<Layer> layerOf(Builder& b, Composer& c, NodeReader& node, std::int64_t gates,
                      const std::vector<std::string>& defaults)
{
    Layer layer;
    LATHE_TRY_ASSIGN(ValueId x, b.input(node, 0));
    LATHE_TRY_ASSIGN(const ValueId w, b.input(node, 1));
    LATHE_TRY_ASSIGN(const ValueId r, b.input(node, 2));
    LATHE_TRY_ASSIGN(const std::string direction, node.text("direction", "forward"));
    LATHE_TRY_ASSIGN(const std::int64_t layout, node.integer("layout", 0));
    LATHE_TRY_ASSIGN(layer.clip, node.number("clip", 0));
    LATHE_TRY_ASSIGN(const std::vector<std::string> functions, node.texts("activations"));
    layer.batchFirst = layout != 0;
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
        return makeError(Errc::BadFile, say(Msg::AttributeIs, "direction", direction.substr(0, 40)));
    if (c.rank(x) != 3 || c.rank(w) != 3 || c.rank(r) != 3 || b.shape(w)[1] % gates != 0)
        return makeError(Errc::BadFile, say(Msg::WeightsUnder3));
    if (layer.batchFirst)
        x = c.transpose(x, {1, 0, 2});
    layer.steps = c.extent(x, 0);
    layer.batch = c.extent(x, 1);
    layer.hidden = b.shape(w)[1] / gates;
    LATHE_TRY_ASSIGN(const std::int64_t said, node.integer("hidden_size", layer.hidden));
    const std::int64_t count = direction == "bidirectional" ? 2 : 1;
    const std::int64_t width = gates * layer.hidden;
    if (said != layer.hidden || b.shape(w)[0] != count || b.shape(r) != Ints{count, width, layer.hidden}
        || b.shape(w)[2] != c.extent(x, 2))
        return makeError(Errc::BadFile, say(Msg::WeightsUnfit));
    if (layer.steps > kMaxSteps)
        return makeError(Errc::Unsupported, say(Msg::NeedsSequenceOf, layer.steps));
    if (node.hasInput(4)) {
        LATHE_TRY_ASSIGN(const ValueId given, b.input(node, 4));
        if (b.shape(given) != Ints{layer.batch} || !isInteger(b.dtype(given)))
            return makeError(Errc::BadFile, say(Msg::SequenceLensUnfit, layer.batch));
        bool full = b.isConstant(given);
        if (full) {
            LATHE_TRY_ASSIGN(const Ints lengths, b.constantInts(node, 4, "sequence_lens"));
            full = std::ranges::all_of(lengths, [&](std::int64_t length) { return length == layer.steps; });
            if (std::ranges::any_of(lengths, [&](std::int64_t l) { return l < 0 || l > layer.steps; }))
                return makeError(Errc::BadFile, say(Msg::SequenceLensUnfit, layer.batch));
        }
        if (!full)
            layer.lengths = c.reshape(c.cast(given, DType::I64), {layer.batch, 1});
    }
    const std::size_t perDirection = defaults.size();
    if (!functions.empty() && functions.size() != perDirection * static_cast<std::size_t>(count))
        return makeError(Errc::BadFile, say(Msg::ActivationsLength));
    const auto optional = [&](std::int64_t index, std::int64_t d, Ints shape) -> Result<ValueId> {
        if (!node.hasInput(index))
            return ValueId();
        LATHE_TRY_ASSIGN(const ValueId given, b.input(node, index));
        return c.reshape(c.slice(given, 0, d, d + 1), std::move(shape));
    };
    for (std::int64_t d = 0; d < count; ++d) {
        Direction one;
        one.backward = direction == "reverse" || d == 1;
        const ValueId weight = c.reshape(c.slice(w, 0, d, d + 1), {width, c.extent(x, 2)});
        one.recurrent = c.reshape(c.slice(r, 0, d, d + 1), {width, layer.hidden});
        one.inputs = c.op("dense", {c.reshape(x, {layer.steps * layer.batch, c.extent(x, 2)}), weight});
        LATHE_TRY_ASSIGN(const ValueId bias, optional(3, d, {1, 2 * width}));
        if (bias.valid()) {
            one.inputs = c.add(one.inputs, c.slice(bias, 1, 0, width));
            one.bias = c.slice(bias, 1, width, 2 * width);
        }
        one.inputs = c.reshape(one.inputs, {layer.steps, layer.batch, width});
        for (const auto& [index, slot] : {std::pair{5, &one.hidden}, {6, &one.cell}}) {
            const bool takes = index == 5 || node.op() == "LSTM";
            if (takes && node.hasInput(index)) {
                LATHE_TRY_ASSIGN(ValueId state, b.input(node, index));
                if (layer.batchFirst)
                    state = c.transpose(state, {1, 0, 2});
                *slot = c.reshape(c.slice(state, 0, d, d + 1), {layer.batch, layer.hidden});
            } else {
                const std::vector<double> zeros(static_cast<std::size_t>(layer.batch * layer.hidden), 0.0);
                LATHE_TRY(b.charge(layer.batch * layer.hidden * 8));
                *slot = b.constant(c.dtype(x), {layer.batch, layer.hidden}, zeros);
            }
        }
        if (node.op() == "LSTM") {
            LATHE_TRY_ASSIGN(one.peephole, optional(7, d, {3 * layer.hidden}));
        }
        const auto first = static_cast<std::ptrdiff_t>(perDirection) * d;
        one.functions = functions.empty()
                            ? defaults
                            : std::vector(functions.begin() + first,
                                          functions.begin() + first + static_cast<std::ptrdiff_t>(perDirection));
        layer.directions.push_back(std::move(one));
    }
    return layer;
}

/// Gate number g of [batch, gates * hidden].
ValueId gate(Composer& c, ValueId all, std::int64_t g, std::int64_t hidden)
{
    return c.slice(all, 1, g * hidden, (g + 1) * hidden);
}

ValueId clipped(Composer& c, const Layer& layer, ValueId x)
{
    return layer.clip > 0 ? c.op("clip", {x}, {{"min", -layer.clip}, {"max", layer.clip}}) : x;
}

/// What one step makes of its input products and the direction's state, which it replaces.
using Step = std::function<void(Composer&, const Layer&, Direction&, ValueId products)>;

/// Y [steps, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden]; batch first if the layout says so.
std::vector<ValueId> unroll(Composer& c, Layer& layer, const Step& step, bool hasCell)
{
    std::vector<ValueId> all, lastHidden, lastCell;
    std::vector<std::vector<ValueId>> outputs;
    for (Direction& d : layer.directions) {
        std::vector<ValueId> steps(static_cast<std::size_t>(layer.steps));
        for (std::int64_t i = 0; i < layer.steps; ++i) {
            const std::int64_t t = d.backward ? layer.steps - 1 - i : i;
            const ValueId products = c.reshape(c.slice(d.inputs, 0, t, t + 1), {layer.batch, c.extent(d.inputs, 2)});
            const ValueId hidden = d.hidden, cell = d.cell;
            step(c, layer, d, products);
            ValueId output = d.hidden;
            if (layer.lengths.valid()) {
                // Behind its end a sequence gives 0 and keeps its state; backward it so begins at its own last step.
                const ValueId runs = c.op("less", {c.like(layer.lengths, static_cast<double>(t)), layer.lengths});
                output = c.where(runs, d.hidden, c.like(d.hidden, 0));
                d.hidden = c.where(runs, d.hidden, hidden);
                if (hasCell)
                    d.cell = c.where(runs, d.cell, cell);
            }
            steps[static_cast<std::size_t>(t)] = c.reshape(output, {1, 1, layer.batch, layer.hidden});
        }
        outputs.push_back(std::move(steps));
        lastHidden.push_back(c.reshape(d.hidden, {1, layer.batch, layer.hidden}));
        lastCell.push_back(c.reshape(d.cell, {1, layer.batch, layer.hidden}));
    }
    std::vector<ValueId> sequences;
    for (const std::vector<ValueId>& steps : outputs)
        sequences.push_back(c.concat(steps, 0));
    std::vector<ValueId> results{c.concat(sequences, 1), c.concat(lastHidden, 0)};
    if (hasCell)
        results.push_back(c.concat(lastCell, 0));
    if (layer.batchFirst) {
        results[0] = c.transpose(results[0], {2, 0, 1, 3});
        for (std::size_t i = 1; i < results.size(); ++i)
            results[i] = c.transpose(results[i], {1, 0, 2});
    }
    return results;
}

ValueId recurrentProducts(Composer& c, const Direction& d, ValueId state)
{
    const ValueId product = c.op("dense", {state, d.recurrent});
    return d.bias.valid() ? c.add(product, d.bias) : product;
}

Result<std::vector<ValueId>> convertRnn(Builder& b, NodeReader& node)
{
    Composer c(b);
    LATHE_TRY_ASSIGN(Layer layer, layerOf(b, c, node, 1, {"Tanh"}));
    const auto step = [](Composer& w, const Layer& l, Direction& d, ValueId products) {
        d.hidden = activate(w, d.functions[0], clipped(w, l, w.add(products, recurrentProducts(w, d, d.hidden))));
    };
    return c.finish(unroll(c, layer, step, false));
}

Result<std::vector<ValueId>> convertGru(Builder& b, NodeReader& node)
{
    Composer c(b);
    LATHE_TRY_ASSIGN(const std::int64_t linear, node.integer("linear_before_reset", 0));
    LATHE_TRY_ASSIGN(Layer layer, layerOf(b, c, node, 3, {"Sigmoid", "Tanh"}));
    const auto step = [linear](Composer& w, const Layer& l, Direction& d, ValueId products) {
        const std::int64_t h = l.hidden;
        const ValueId old = recurrentProducts(w, d, d.hidden);
        const auto squashed = [&](std::int64_t g) {
            return activate(w, d.functions[0], clipped(w, l, w.add(gate(w, products, g, h), gate(w, old, g, h))));
        };
        const ValueId update = squashed(0), reset = squashed(1);
        ValueId seen;
        if (linear != 0) {
            seen = w.mul(reset, gate(w, old, 2, h));
        } else {
            seen = w.op("dense", {w.mul(reset, d.hidden), w.slice(d.recurrent, 0, 2 * h, 3 * h)});
            if (d.bias.valid())
                seen = w.add(seen, gate(w, d.bias, 2, h));
        }
        const ValueId fresh = activate(w, d.functions[1], clipped(w, l, w.add(gate(w, products, 2, h), seen)));
        d.hidden = w.add(fresh, w.mul(update, w.sub(d.hidden, fresh)));
    };
    return c.finish(unroll(c, layer, step, false));
}

Result<std::vector<ValueId>> convertLstm(Builder& b, NodeReader& node)
{
    Composer c(b);
    LATHE_TRY_ASSIGN(const std::int64_t coupled, node.integer("input_forget", 0));
    if (coupled != 0)
        return makeError(Errc::Unsupported, say(Msg::NeedsAttributeNumber, "input_forget", 1));
    LATHE_TRY_ASSIGN(Layer layer, layerOf(b, c, node, 4, {"Sigmoid", "Tanh", "Tanh"}));
    const auto step = [](Composer& w, const Layer& l, Direction& d, ValueId products) {
        const std::int64_t h = l.hidden;
        const ValueId sums = w.add(products, recurrentProducts(w, d, d.hidden));
        const auto peep = [&](ValueId x, std::int64_t part, ValueId cell) {
            return d.peephole.valid() ? w.add(x, w.mul(w.slice(d.peephole, 0, part * h, (part + 1) * h), cell)) : x;
        };
        const auto squashed = [&](ValueId x) { return activate(w, d.functions[0], clipped(w, l, x)); };
        const ValueId input = squashed(peep(gate(w, sums, 0, h), 0, d.cell));
        const ValueId forget = squashed(peep(gate(w, sums, 2, h), 2, d.cell));
        const ValueId fresh = activate(w, d.functions[1], clipped(w, l, gate(w, sums, 3, h)));
        d.cell = w.add(w.mul(forget, d.cell), w.mul(input, fresh));
        const ValueId output = squashed(peep(gate(w, sums, 1, h), 1, d.cell));
        d.hidden = w.mul(output, activate(w, d.functions[2], d.cell));
    };
    return c.finish(unroll(c, layer, step, true));
}

} // namespace

std::span<const ConverterEntry> recurrentConverters()
{
    static constexpr ConverterEntry kTable[] = {{"GRU", convertGru}, {"LSTM", convertLstm}, {"RNN", convertRnn}};
    return kTable;
}

} // namespace lathe::frontend::onnx_detail
