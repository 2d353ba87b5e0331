// Conversion between channels first and channels last: NCHW and NHWC of images, NCDHW and NDHWC of volumes.
//
// The graph is rebuilt node by node. Every value of the old graph has one or several representations in the new one, each
// with its dimensions permuted in some way: representation r of value v is transpose(v, r.permutation). Convolutions ask
// for their data in the wanted layout and give their result in it; operators that can work in any order of dimensions
// adopt what their first image operand has, with their axes renamed; all others get the order that they were written for.
// Where a representation is missing, a transpose is inserted once and remembered. A transpose of the old graph only says
// that its result has the representations of its operand under other names, so transposes that meet cancel. Constants are
// permuted at once.

#include "core/graph/passes.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe::graph {
namespace {

using Ints = std::vector<std::int64_t>;

Ints identity(std::size_t rank)
{
    Ints axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

Ints inverse(const Ints& axes)
{
    Ints result(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i)
        result[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
    return result;
}

/// transpose(transpose(x, first), second) is transpose(x, composed).
Ints composed(const Ints& first, const Ints& second)
{
    Ints result;
    for (const std::int64_t axis : second)
        result.push_back(first[static_cast<std::size_t>(axis)]);
    return result;
}

Ints permuted(const Ints& shape, const Ints& axes)
{
    return composed(shape, axes);
}

/// True if only dimensions of extent 1 change places: the elements keep their order.
bool keepsOrder(const Ints& shape, const Ints& axes)
{
    std::int64_t last = -1;
    for (const std::int64_t axis : axes) {
        if (shape[static_cast<std::size_t>(axis)] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}

bool isOneOf(std::string_view op, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), op) != names.end();
}

bool isPool(std::string_view op)
{
    return isOneOf(op, {"max_pool2d", "avg_pool2d", "global_avg_pool2d", "global_max_pool2d", "max_pool3d", "avg_pool3d", "global_avg_pool3d", "global_max_pool3d"});
}

/// "NCHW" as it is spelled for tensors of a rank: "NCDHW" for volumes.
std::string layoutOfRank(std::string_view layout, std::size_t rank)
{
    std::string result(layout);
    if (rank == 5)
        result.insert(result.find('H'), "D");
    return result;
}

/// Operators whose operands broadcast together, position by position.
bool isPointwise(std::string_view op)
{
    return isOneOf(op, {"add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "mod", "prelu", "where", "equal", "not_equal",
                        "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not",
                        "relu", "clip", "sigmoid", "tanh", "exp", "log", "sqrt", "rsqrt", "erf", "negative", "abs", "floor", "ceil", "round",
                        "leaky_relu", "elu", "selu", "celu", "hard_sigmoid", "hard_swish", "silu", "gelu", "softplus", "softsign", "mish",
                        "thresholded_relu", "reciprocal", "sign", "sin", "cos", "cast", "identity", "dropout"});
}

bool isReduction(std::string_view op)
{
    return isOneOf(op, {"mean", "sum", "max", "min", "prod"});
}

struct Representation
{
    Ints permutation;
    ValueId value; ///< of the new graph
};

class Converter
{
public:
    Converter(const Graph& from, std::string_view layout)
        : m_from(from)
        , m_layout(layout)
        , m_reps(from.values.size())
    {
        m_to.name = from.name;
    }

    Result<Graph> run()
    {
        for (const ValueId input : m_from.inputs) {
            const Value& value = m_from.value(input);
            const ValueId copy = m_to.addValue(value.name, value.dtype, value.shape);
            m_to.inputs.push_back(copy);
            add(input, identity(value.shape.size()), copy);
        }
        for (const Node& node : m_from.nodes)
            convert(node);
        for (const ValueId output : m_from.outputs)
            m_to.outputs.push_back(plain(output));
        return compact(m_to);
    }

private:
    std::vector<Representation>& reps(ValueId id) { return m_reps[static_cast<std::size_t>(id.value)]; }
    const Value& old(ValueId id) const { return m_from.value(id); }
    std::size_t rank(ValueId id) const { return old(id).shape.size(); }

    void add(ValueId id, Ints permutation, ValueId value)
    {
        for (const Representation& r : reps(id)) {
            if (r.permutation == permutation)
                return;
        }
        reps(id).push_back({std::move(permutation), value});
    }

    ValueId plain(ValueId id) { return get(id, identity(rank(id))); }

    ValueId get(ValueId id, const Ints& permutation)
    {
        const Value& value = old(id);
        for (const Representation& r : reps(id)) {
            if (r.permutation == permutation)
                return r.value;
        }
        ValueId result;
        if (value.constant) {
            const Ints shape = permuted(value.shape, permutation);
            const auto contents = keepsOrder(value.shape, permutation) ? value.constant : permuteConst(*value.constant, value.dtype, value.shape, permutation);
            result = m_to.addConstant(value.name, value.dtype, shape, contents);
        } else {
            const Representation first = reps(id).front();
            const Ints step = composed(inverse(first.permutation), permutation);
            const Ints shape = permuted(value.shape, permutation);
            const Ints firstShape = m_to.value(first.value).shape;
            if (keepsOrder(firstShape, step))
                result = append(m_to, value.name + "_reshaped", "reshape", {first.value}, {{"newshape", shape}}, value.dtype, shape);
            else
                result = append(m_to, value.name + "_transposed", "transpose", {first.value}, {{"axes", step}}, value.dtype, shape);
        }
        add(id, permutation, result);
        return result;
    }

    /// The order in which the value was computed.
    Ints preferred(ValueId id)
    {
        return reps(id).empty() ? identity(rank(id)) : reps(id).front().permutation;
    }

    /// Emits the node with new inputs and attributes; its outputs get `permutation`.
    void emit(const Node& node, std::vector<ValueId> inputs, Attrs attrs, const Ints& permutation)
    {
        Node copy = node;
        copy.name = uniqueNodeName(m_to, node.name);
        copy.inputs = std::move(inputs);
        copy.attrs = std::move(attrs);
        for (ValueId& output : copy.outputs) {
            const ValueId original = output;
            const Value& value = old(original);
            const bool fits = permutation.size() == value.shape.size();
            output = m_to.addValue(value.name, value.dtype, fits ? permuted(value.shape, permutation) : value.shape);
            add(original, fits ? permutation : identity(value.shape.size()), output);
        }
        m_to.addNode(std::move(copy));
    }

    void emitPlain(const Node& node)
    {
        std::vector<ValueId> inputs;
        for (const ValueId input : node.inputs)
            inputs.push_back(input.valid() ? plain(input) : ValueId());
        Ints order = node.outputs.empty() ? Ints{} : identity(rank(node.outputs.front()));
        emit(node, std::move(inputs), node.attrs, order);
    }

    void convert(const Node& node)
    {
        if (node.op == "conv2d" || node.op == "conv3d")
            convertConvolution(node);
        else if (node.op == "transpose")
            renameTranspose(node);
        else if (isPool(node.op))
            convertPool(node);
        else if (isPointwise(node.op))
            convertPointwise(node);
        else if (isOneOf(node.op, {"bias_add", "batch_norm", "softmax", "log_softmax", "concatenate", "split"}))
            convertAlongAxis(node);
        else if (node.op == "pad")
            convertPad(node);
        else if (node.op == "strided_slice")
            convertSlice(node);
        else if (isReduction(node.op))
            convertReduction(node);
        else if (isOneOf(node.op, {"batch_flatten", "reshape", "squeeze"}))
            convertReshape(node);
        else
            emitPlain(node);
    }

    /// Order of the wanted layout for a value that was written in `layout`.
    Ints wanted(std::string_view layout) const
    {
        const std::string target = layoutOfRank(m_layout, layout.size());
        Ints order;
        for (const char axis : target)
            order.push_back(static_cast<std::int64_t>(layout.find(axis)));
        return order;
    }

    std::string layoutOf(const Node& node) const { return attrString(node, "layout", layoutOfRank("NCHW", rank(node.inputs[0]))); }

    void convertConvolution(const Node& node)
    {
        const std::string layout = layoutOf(node);
        const std::string target = layoutOfRank(m_layout, layout.size());
        const std::string taps = layout.size() == 5 ? "DHW" : "HW";
        const std::string kernel = attrString(node, "kernel_layout", layout.ends_with('C') ? taps + "IO" : "OI" + taps);
        const bool constantWeight = old(node.inputs[1]).constant != nullptr;
        if (layout == target || !constantWeight) {
            const Ints same = identity(layout.size());
            emit(node, {get(node.inputs[0], same), plain(node.inputs[1])}, node.attrs, same);
            return;
        }
        const std::int64_t groups = attrInt(node, "groups", 1);
        const Ints& weight = old(node.inputs[1]).shape;
        const bool depthwise = groups > 1 && weight[kernel.find('O')] == groups && weight[kernel.find('I')] == 1;
        const std::string newKernel = m_layout == "NCHW" ? "OI" + taps : depthwise && taps == "HW" ? "HWOI" : taps + "IO";
        Ints weightOrder;
        for (const char axis : newKernel)
            weightOrder.push_back(static_cast<std::int64_t>(kernel.find(axis)));
        Attrs attrs = node.attrs;
        attrs["layout"] = target;
        attrs["kernel_layout"] = newKernel;
        const Ints order = wanted(layout);
        emit(node, {get(node.inputs[0], order), get(node.inputs[1], weightOrder)}, std::move(attrs), order);
    }

    void renameTranspose(const Node& node)
    {
        const ValueId in = node.inputs[0];
        const ValueId out = node.outputs[0];
        Ints reversed = identity(rank(in));
        std::reverse(reversed.begin(), reversed.end());
        Ints axes = attrInts(node, "axes", reversed);
        for (std::int64_t& axis : axes)
            axis = axis < 0 ? axis + static_cast<std::int64_t>(rank(in)) : axis;
        if (reps(in).empty())
            plain(in); // a constant
        // Copied: add() must not grow what is walked.
        const std::vector<Representation> known = reps(in);
        for (const Representation& r : known)
            add(out, composed(inverse(axes), r.permutation), r.value);
    }

    void convertPool(const Node& node)
    {
        const std::string layout = layoutOf(node);
        Ints order = preferred(node.inputs[0]);
        Attrs attrs = node.attrs;
        if (order == wanted(layout))
            attrs["layout"] = layoutOfRank(m_layout, layout.size());
        else
            order = identity(layout.size());
        emit(node, {get(node.inputs[0], order)}, std::move(attrs), order);
    }

    /// The order that an operator of several operands adopts: that of the first operand of the result's rank that was computed in another than its own.
    Ints adopted(const Node& node)
    {
        const std::size_t full = rank(node.outputs[0]);
        for (const ValueId input : node.inputs) {
            if (!old(input).constant && rank(input) == full && preferred(input) != identity(full))
                return preferred(input);
        }
        return identity(full);
    }

    void convertPointwise(const Node& node)
    {
        const Ints order = adopted(node);
        std::vector<ValueId> inputs;
        for (const ValueId input : node.inputs)
            inputs.push_back(operand(input, order));
        emit(node, std::move(inputs), node.attrs, order);
    }

    /// An operand of a broadcast, whose missing leading dimensions count as ones.
    ValueId operand(ValueId id, const Ints& order)
    {
        const Value& value = old(id);
        const std::size_t full = order.size();
        if (value.shape.size() == full)
            return get(id, order);
        if (value.shape.empty() || order == identity(full))
            return plain(id);
        const Ints wide = padRank(value.shape, full);
        const Ints shape = permuted(wide, order);
        if (value.constant) {
            const auto contents = keepsOrder(wide, order) ? value.constant : permuteConst(*value.constant, value.dtype, wide, order);
            return m_to.addConstant(value.name, value.dtype, shape, contents);
        }
        const ValueId expanded = append(m_to, value.name + "_expanded", "reshape", {plain(id)}, {{"newshape", wide}}, value.dtype, wide);
        if (keepsOrder(wide, order))
            return append(m_to, value.name + "_reshaped", "reshape", {expanded}, {{"newshape", shape}}, value.dtype, shape);
        return append(m_to, value.name + "_transposed", "transpose", {expanded}, {{"axes", order}}, value.dtype, shape);
    }

    std::int64_t renamedAxis(std::int64_t axis, const Ints& order) const
    {
        const auto size = static_cast<std::int64_t>(order.size());
        return inverse(order)[static_cast<std::size_t>(axis < 0 ? axis + size : axis)];
    }

    void convertAlongAxis(const Node& node)
    {
        const Ints order = node.op == "concatenate" ? adopted(node) : preferred(node.inputs[0]);
        const std::int64_t fallback = isOneOf(node.op, {"bias_add", "batch_norm"}) ? 1 : isOneOf(node.op, {"softmax", "log_softmax"}) ? -1 : 0;
        Attrs attrs = node.attrs;
        attrs["axis"] = renamedAxis(attrInt(node, "axis", fallback), order);
        std::vector<ValueId> inputs;
        for (std::size_t i = 0; i < node.inputs.size(); ++i)
            inputs.push_back(i == 0 || node.op == "concatenate" ? get(node.inputs[i], order) : plain(node.inputs[i]));
        emit(node, std::move(inputs), std::move(attrs), order);
    }

    void convertPad(const Node& node)
    {
        const Ints order = preferred(node.inputs[0]);
        const Ints width = attrInts(node, "pad_width");
        Ints renamed;
        for (const std::int64_t axis : order) {
            renamed.push_back(width[static_cast<std::size_t>(2 * axis)]);
            renamed.push_back(width[static_cast<std::size_t>(2 * axis + 1)]);
        }
        Attrs attrs = node.attrs;
        attrs["pad_width"] = renamed;
        emit(node, {get(node.inputs[0], order)}, std::move(attrs), order);
    }

    void convertSlice(const Node& node)
    {
        const Ints order = preferred(node.inputs[0]);
        Ints axes = attrInts(node, "axes", identity(attrInts(node, "begin").size()));
        for (std::int64_t& axis : axes)
            axis = renamedAxis(axis, order);
        Attrs attrs = node.attrs;
        attrs["axes"] = axes;
        emit(node, {get(node.inputs[0], order)}, std::move(attrs), order);
    }

    void convertReduction(const Node& node)
    {
        const Ints order = preferred(node.inputs[0]);
        Ints axes = attrInts(node, "axes");
        std::vector<bool> reduced(order.size(), axes.empty());
        for (std::int64_t& axis : axes) {
            reduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(order.size()) : axis)] = true;
            axis = renamedAxis(axis, order);
        }
        std::sort(axes.begin(), axes.end());
        Attrs attrs = node.attrs;
        attrs["axes"] = axes;
        if (attrInt(node, "keepdims", 0) != 0) {
            emit(node, {get(node.inputs[0], order)}, std::move(attrs), order);
            return;
        }
        // The dimensions that stay, in the order in which they come out, numbered among those that stay.
        Ints place(order.size(), -1);
        std::int64_t kept = 0;
        for (std::size_t d = 0; d < order.size(); ++d) {
            if (!reduced[d])
                place[d] = kept++;
        }
        Ints result;
        for (const std::int64_t axis : order) {
            if (!reduced[static_cast<std::size_t>(axis)])
                result.push_back(place[static_cast<std::size_t>(axis)]);
        }
        emit(node, {get(node.inputs[0], order)}, std::move(attrs), result);
    }

    /// What only counts elements in order can read any representation that keeps them in order: no copy behind a global pool.
    void convertReshape(const Node& node)
    {
        const ValueId in = node.inputs[0];
        const Ints order = preferred(in);
        if (order == identity(order.size()) || !keepsOrder(old(in).shape, order)) {
            emitPlain(node);
            return;
        }
        const Ints shape = old(node.outputs[0]).shape;
        Node copy = node;
        if (node.op != "batch_flatten" || order[0] != 0)
            copy.op = "reshape";
        Attrs attrs = copy.op == "reshape" ? Attrs{{"newshape", shape}} : node.attrs;
        emit(copy, {get(in, order)}, std::move(attrs), identity(shape.size()));
    }

    const Graph& m_from;
    std::string m_layout;
    Graph m_to;
    std::vector<std::vector<Representation>> m_reps; ///< by value of the old graph; the first is how it was computed
};

} // namespace

Result<Graph> convertLayout(Graph graph, std::string_view layout)
{
    if (layout != "NCHW" && layout != "NHWC")
        return makeError(Errc::InvalidArgument, fmt::format("'{}' is no layout; NCHW and NHWC are", layout));
    LATHE_TRY_ASSIGN(Graph converted, Converter(graph, layout).run());
    return inferTypes(std::move(converted));
}

} // namespace lathe::graph
