// Folding of scales into weights.
//
// A batch norm leaves y = x * s + t, with one s for each channel. Where x comes from a convolution (or a dense layer),
// s can be multiplied into the weights that make each channel: the backward direction. Where y goes into convolutions,
// s can be multiplied into the weights that read each channel: the forward direction. Either way the multiplication is
// gone.
//
// Between the scale and the weights there may be elementwise work. An added constant is multiplied by s on the way
// backward and divided by s on the way forward. relu(x * s) = relu(x) * s needs s > 0. Backward, everything on the way
// must have one consumer, since others would see scaled values; forward, all consumers must be able to take the scale.
// A scale that does not lie along the channel axis stays.

#include "core/graph/operator.h"
#include "core/graph/operators/element.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/check.h"

#include <algorithm>
#include <optional>
#include <span>

namespace lathe::graph {
namespace {

/// What a scale must be like to travel from a value to weights.
struct Carrier
{
    std::size_t axis = 0; ///< of the value, which has full rank
    bool positive = false; ///< a relu is on the way
    bool nonZero = false; ///< something is divided by it
};

/// A scale is carried over this many nodes at most; also what bounds the recursion on a hostile graph.
constexpr int kLongestWay = 256;

struct Weights
{
    std::size_t dataAxis = 0; ///< channel axis of data and result
    std::size_t weightAxis = 0; ///< of the channels on the side that was asked for
};

/// The range of float16 is so small that what a scale makes of constants may overflow or vanish.
bool takesScales(DType dtype)
{
    return isFloat(dtype) && dtype != DType::F16;
}

class ScaleFolder
{
public:
    explicit ScaleFolder(Graph& graph)
        : m_graph(graph)
    {
    }

    bool backward()
    {
        return sweep([this](ValueId x, const Scale& s) { return foldBackward(x, s); });
    }
    bool forward()
    {
        return sweep([this](ValueId, const Scale& s) { return foldForward(s); });
    }

private:
    struct Scale
    {
        ValueId output; ///< of the multiplication
        std::vector<double> values;
        std::vector<std::int64_t> shape;
    };

    template<typename F>
    bool sweep(const F& fold)
    {
        bool changed = false;
        refresh();
        for (std::size_t i = 0; i < m_graph.nodes.size(); ++i) {
            const Node& node = m_graph.nodes[i];
            if (traitsOf(node).scale != ScaleRule::Product || !takesScales(m_graph.value(node.outputs[0]).dtype))
                continue;
            const bool right = isConst(node.inputs[1]);
            const ValueId x = node.inputs[right ? 0 : 1];
            const ValueId s = node.inputs[right ? 1 : 0];
            auto values = constNumbers(m_graph.value(s));
            if (!values || isConst(x) || m_graph.value(x).shape != m_graph.value(node.outputs[0]).shape)
                continue;
            const Scale scale{node.outputs[0], std::move(*values), m_graph.value(s).shape};
            if (!fold(x, scale))
                continue;
            replaceUses(m_graph, scale.output, x);
            // The multiplication is dead now; it must not count as a reader of x.
            m_graph.nodes[i].inputs.clear();
            m_graph.nodes[i].op = "dead";
            refresh();
            changed = true;
        }
        return changed;
    }

    void refresh()
    {
        m_uses = useCounts(m_graph);
        m_consumers = m_graph.consumers();
        m_isOutput.assign(m_graph.values.size(), false);
        for (const ValueId output : m_graph.results())
            m_isOutput[index(output)] = true;
    }

    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.value); }
    bool isConst(ValueId id) const { return m_graph.value(id).constant != nullptr; }
    std::size_t rank(ValueId id) const { return m_graph.value(id).shape.size(); }

    bool fits(const Scale& scale, const Carrier& carrier, ValueId value) const
    {
        const std::int64_t extent = m_graph.value(value).shape[carrier.axis];
        if (!broadcastsAlong(scale.shape, rank(value), carrier.axis, extent))
            return false;
        const auto any = [&](auto bad) { return std::any_of(scale.values.begin(), scale.values.end(), bad); };
        if (carrier.positive && any([](double s) { return !(s > 0); }))
            return false;
        return !carrier.nonZero || !any([](double s) { return s == 0; });
    }

    bool broadcasts(ValueId constant, ValueId full, std::size_t axis) const
    {
        const Value& value = m_graph.value(constant);
        return isConstOf(constant, m_graph.value(full).dtype)
               && broadcastsAlong(value.shape, rank(full), axis, m_graph.value(full).shape[axis]);
    }

    /// Where a node could take a scale of its result's (or data's) channels into its weights; none if it cannot. All
    /// are of one type, so that weights are not rounded to one of fewer digits than the scale had.
    std::optional<Weights> weightsOf(const Node& node, bool ofResult) const
    {
        const auto& weights = traitsOf(node).weights;
        if (!weights || !isConstOf(node.inputs[1], m_graph.value(node.outputs[0]).dtype))
            return std::nullopt;
        const auto axes = weights(node, m_graph.value(node.inputs[0]).shape, m_graph.value(node.inputs[1]).shape);
        return axes ? std::optional(Weights{axes->channel, ofResult ? axes->out : axes->in}) : std::nullopt;
    }

    bool isConstOf(ValueId id, DType dtype) const { return isConst(id) && m_graph.value(id).dtype == dtype; }

    std::size_t biasAxis(const Node& node) const
    {
        const std::int64_t axis = attrInt(node, "axis", traitsOf(node).axis);
        return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank(node.inputs[0])) : axis);
    }
    bool biasIsConst(const Node& node) const { return isConstOf(node.inputs[1], m_graph.value(node.outputs[0]).dtype); }

    static ScaleRule ruleOf(const Node& node) { return traitsOf(node).scale; }

    // Backward: towards the producers.

    std::optional<Carrier> backwardCarrier(ValueId value, int depth = 0) const
    {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid() || m_uses[index(value)] != 1 || depth > kLongestWay)
            return std::nullopt;
        const Node& node = m_graph.node(producer);
        if (const auto weights = weightsOf(node, true))
            return Carrier{weights->dataAxis};
        if (ruleOf(node) == ScaleRule::Positive) {
            auto carrier = backwardCarrier(node.inputs[0], depth + 1);
            if (carrier)
                carrier->positive = true;
            return carrier;
        }
        if (ruleOf(node) == ScaleRule::Bias) {
            const auto carrier = backwardCarrier(node.inputs[0], depth + 1);
            return carrier && carrier->axis == biasAxis(node) && biasIsConst(node) ? carrier : std::nullopt;
        }
        if (ruleOf(node) != ScaleRule::Sum)
            return std::nullopt;
        const auto left = backwardCarrier(node.inputs[0], depth + 1);
        const auto right = backwardCarrier(node.inputs[1], depth + 1);
        const auto full = [&](int side) {
            return m_graph.value(node.inputs[static_cast<std::size_t>(side)]).shape == m_graph.value(value).shape;
        };
        if (left && right) {
            if (!full(0) || !full(1) || left->axis != right->axis)
                return std::nullopt;
            return Carrier{left->axis, left->positive || right->positive};
        }
        if (left && full(0) && broadcasts(node.inputs[1], value, left->axis))
            return left;
        if (right && full(1) && broadcasts(node.inputs[0], value, right->axis))
            return right;
        return std::nullopt;
    }

    bool foldBackward(ValueId x, const Scale& scale)
    {
        const auto carrier = backwardCarrier(x);
        if (!carrier || !fits(scale, *carrier, x))
            return false;
        applyBackward(x, scale.values);
        return true;
    }

    void applyBackward(ValueId value, const std::vector<double>& scale)
    {
        Node& node = m_graph.node(m_graph.value(value).producer);
        if (const auto weights = weightsOf(node, true)) {
            scaleInput(node, 1, weights->weightAxis, scale, false);
        } else if (ruleOf(node) == ScaleRule::Positive) {
            applyBackward(node.inputs[0], scale);
        } else if (ruleOf(node) == ScaleRule::Bias) {
            scaleInput(node, 1, 0, scale, false);
            applyBackward(node.inputs[0], scale);
        } else {
            for (std::size_t side = 0; side < 2; ++side) {
                // Both may not be constant: constant folding has run. Appending a constant may move the nodes.
                Node& sum = m_graph.node(m_graph.value(value).producer);
                if (isConst(sum.inputs[side]))
                    scaleFlat(sum, side, scale, false);
                else
                    applyBackward(sum.inputs[side], scale);
            }
        }
    }

    // Forward: towards the consumers.

    std::optional<Carrier> forwardCarrier(ValueId value, int depth = 0) const
    {
        if (m_isOutput[index(value)] || m_consumers[index(value)].empty() || depth > kLongestWay)
            return std::nullopt;
        std::optional<Carrier> all;
        for (const NodeId id : m_consumers[index(value)]) {
            const auto one = consumerCarrier(m_graph.node(id), value, depth);
            if (!one || (all && all->axis != one->axis))
                return std::nullopt;
            if (all)
                all = Carrier{one->axis, all->positive || one->positive, all->nonZero || one->nonZero};
            else
                all = one;
        }
        return all;
    }

    std::optional<Carrier> consumerCarrier(const Node& node, ValueId value, int depth) const
    {
        if (std::count(node.inputs.begin(), node.inputs.end(), value) != 1)
            return std::nullopt;
        if (const auto weights = weightsOf(node, false))
            return node.inputs[0] == value ? std::optional(Carrier{weights->dataAxis}) : std::nullopt;
        if (ruleOf(node) == ScaleRule::Positive) {
            auto carrier = forwardCarrier(node.outputs[0], depth + 1);
            if (carrier)
                carrier->positive = true;
            return carrier;
        }
        std::optional<Carrier> carrier;
        if (ruleOf(node) == ScaleRule::Bias && node.inputs[0] == value && biasIsConst(node)) {
            carrier = forwardCarrier(node.outputs[0], depth + 1);
            if (carrier && carrier->axis != biasAxis(node))
                return std::nullopt;
        } else if (ruleOf(node) == ScaleRule::Sum
                   && m_graph.value(value).shape == m_graph.value(node.outputs[0]).shape) {
            carrier = forwardCarrier(node.outputs[0], depth + 1);
            const ValueId other = node.inputs[node.inputs[0] == value ? 1 : 0];
            if (carrier && !broadcasts(other, value, carrier->axis))
                return std::nullopt;
        }
        if (carrier)
            carrier->nonZero = true;
        return carrier;
    }

    bool foldForward(const Scale& scale)
    {
        const auto carrier = forwardCarrier(scale.output);
        if (!carrier || !fits(scale, *carrier, scale.output))
            return false;
        applyForward(scale.output, scale.values);
        return true;
    }

    void applyForward(ValueId value, const std::vector<double>& scale)
    {
        for (const NodeId id : m_consumers[index(value)]) {
            Node& node = m_graph.node(id);
            if (const auto weights = weightsOf(node, false)) {
                scaleInput(node, 1, weights->weightAxis, scale, false);
                continue;
            }
            if (ruleOf(node) == ScaleRule::Bias)
                scaleInput(node, 1, 0, scale, true);
            else if (ruleOf(node) == ScaleRule::Sum)
                scaleFlat(node, node.inputs[0] == value ? 1 : 0, scale, true);
            applyForward(m_graph.node(id).outputs[0], scale);
        }
    }

    /// Replaces a constant input by one that is scaled along an axis. The old one may have other readers.
    void scaleInput(Node& node, std::size_t input, std::size_t axis, const std::vector<double>& scale, bool divide)
    {
        const Value old = m_graph.value(node.inputs[input]);
        std::size_t inner = 1;
        for (std::size_t d = axis + 1; d < old.shape.size(); ++d)
            inner *= static_cast<std::size_t>(old.shape[d]);
        const auto scaled = [source = old.constant, dtype = old.dtype, inner, scale,
                             divide]() -> Result<std::vector<std::byte>> {
            LATHE_TRY_ASSIGN(const ConstBytes held, contentsOf(*source));
            std::vector<std::byte> contents(held.bytes.begin(), held.bytes.end());
            scaleRows(contents, dtype, inner, scale, divide);
            return contents;
        };
        if (old.constant->inFile() && old.constant->bytes >= kLargeConstant) {
            node.inputs[input] = m_graph.addConstant(old.name, old.dtype, old.shape,
                                                     makeConstLater(old.constant->bytes, old.constant->steps, scaled),
                                                     derivedFrom(old, "scale"));
            return;
        }
        auto contents = scaled();
        LATHE_CHECK(contents) << "constant " << old.name << " was read before";
        node.inputs[input] = m_graph.addConstant(old.name, old.dtype, old.shape, ownedConst(*std::move(contents)),
                                                 derivedFrom(old, "scale"));
    }

    /// `inner`: elements behind the scaled axis. Each result is rounded once.
    static void scaleRows(std::span<std::byte> contents, DType dtype, std::size_t inner,
                          const std::vector<double>& scale, bool divide)
    {
        if (dtype == DType::F32) // by far the most frequent one, and large
            return scaleRowsOf(std::span(reinterpret_cast<float*>(contents.data()), contents.size() / sizeof(float)),
                               inner, scale, divide);
        const std::size_t count = contents.size() / static_cast<std::size_t>(sizeOf(dtype));
        std::vector<double> numbers = operators::readFloats(contents.data(), dtype, count);
        scaleRowsOf(std::span(numbers), inner, scale, divide);
        for (std::size_t i = 0; i < count; ++i)
            operators::writeFloat(contents.data(), dtype, static_cast<std::int64_t>(i), numbers[i]);
    }

    template<typename T>
    static void scaleRowsOf(std::span<T> contents, std::size_t inner, const std::vector<double>& scale, bool divide)
    {
        const std::size_t step = inner * scale.size();
        for (std::size_t base = 0; base < contents.size(); base += step) {
            for (std::size_t c = 0; c < scale.size(); ++c) {
                T* row = contents.data() + base + c * inner;
                const T factor = static_cast<T>(scale[c]);
                for (std::size_t i = 0; i < inner; ++i)
                    row[i] = divide ? row[i] / factor : row[i] * factor;
            }
        }
    }

    /// A constant that has one element for each channel and ones elsewhere.
    void scaleFlat(Node& node, std::size_t input, const std::vector<double>& scale, bool divide)
    {
        scaleInput(node, input, m_graph.value(node.inputs[input]).shape.size(), scale, divide);
    }

    Graph& m_graph;
    std::vector<std::int32_t> m_uses;
    std::vector<std::vector<NodeId>> m_consumers;
    std::vector<bool> m_isOutput;
};

} // namespace

Result<Graph> foldScaleAxis(Graph graph)
{
    ScaleFolder folder(graph);
    // Folding one scale can open the way for the next (two in a row).
    while (folder.backward()) {
    }
    while (folder.forward()) {
    }
    return compact(graph);
}

} // namespace lathe::graph
