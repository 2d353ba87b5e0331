// Conversion between channels first and channels last: NCHW and NHWC of images, NCDHW and NDHWC of volumes.
//
// The graph is rebuilt node by node. Every value of the old graph has one or several representations in the new one,
// each with its dimensions permuted in some way: representation r of value v is transpose(v, r.permutation).
// Convolutions ask for their data in the wanted layout and give their result in it; operators that can work in any
// order of dimensions adopt what their first image operand has, with their axes renamed; all others get the order that
// they were written for. Which is which says each operator's LayoutRule. Where a representation is missing, a transpose
// is inserted once and remembered. A transpose of the old graph only says that its result has the representations of
// its operand under other names, so transposes that meet cancel. Constants are permuted at once.

#include "core/graph/node_types.h"
#include "core/graph/operator.h"
#include "core/graph/passes.h"
#include "core/graph/rewrite.h"
#include "core/support/message.h"

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

/// "NCHW" as it is spelled for tensors of a rank: "NCDHW" for volumes.
std::string layoutOfRank(std::string_view layout, std::size_t rank)
{
    std::string result(layout);
    if (rank == 5)
        result.insert(result.find('H'), "D");
    return result;
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
        for (const OutputExtent& extent : m_from.outputExtents)
            m_to.outputExtents.push_back({extent.output, extent.axis, plain(extent.count)});
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
            const auto contents = keepsOrder(value.shape, permutation)
                                      ? value.constant
                                      : permuteConst(*value.constant, value.dtype, value.shape, permutation);
            result = m_to.addConstant(value.name, value.dtype, shape, contents,
                                      permutation == identity(value.shape.size()) ? value.provenance
                                                                                  : derivedFrom(value, "layout"));
        } else {
            const Representation first = reps(id).front();
            const Ints step = composed(inverse(first.permutation), permutation);
            const Ints shape = permuted(value.shape, permutation);
            const Ints firstShape = m_to.value(first.value).shape;
            if (keepsOrder(firstShape, step))
                result = append(m_to, value.name + "_reshaped", "reshape", {first.value}, {{"newshape", shape}},
                                value.dtype, shape);
            else
                result = append(m_to, value.name + "_transposed", "transpose", {first.value}, {{"axes", step}},
                                value.dtype, shape);
        }
        add(id, permutation, result);
        return result;
    }

    /// The order in which the value was computed.
    Ints preferred(ValueId id) { return reps(id).empty() ? identity(rank(id)) : reps(id).front().permutation; }

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
        switch (traitsOf(node).layout) {
        case LayoutRule::Fixed: return emitPlain(node);
        case LayoutRule::Elementwise: return convertElementwise(node);
        case LayoutRule::AlongAxis: return convertAlongAxis(node);
        case LayoutRule::Join: return convertJoin(node);
        case LayoutRule::Pad: return convertPad(node);
        case LayoutRule::Slice: return convertSlice(node);
        case LayoutRule::Reduction: return convertReduction(node);
        case LayoutRule::Reshape: return convertReshape(node);
        case LayoutRule::Transpose: return renameTranspose(node);
        case LayoutRule::Image: return convertImage(node);
        case LayoutRule::Convolution: return convertConvolution(node);
        }
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

    std::string layoutOf(const Node& node) const
    {
        return attrString(node, "layout", layoutOfRank("NCHW", rank(node.inputs[0])));
    }

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
        const std::string newKernel = m_layout == "NCHW"          ? "OI" + taps
                                      : depthwise && taps == "HW" ? "HWOI"
                                                                  : taps + "IO";
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
        const Ints axes = permutationOf(node, rank(in));
        if (reps(in).empty())
            plain(in); // a constant
        // Copied: add() must not grow what is walked.
        const std::vector<Representation> known = reps(in);
        for (const Representation& r : known)
            add(out, composed(inverse(axes), r.permutation), r.value);
    }

    void convertImage(const Node& node)
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

    /// The order that an operator of several operands adopts: that of the first operand of the result's rank that was
    /// computed in another than its own.
    Ints adopted(const Node& node)
    {
        const std::size_t full = rank(node.outputs[0]);
        for (const ValueId input : node.inputs) {
            if (!old(input).constant && rank(input) == full && preferred(input) != identity(full))
                return preferred(input);
        }
        return identity(full);
    }

    void convertElementwise(const Node& node)
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
            const auto contents = keepsOrder(wide, order) ? value.constant
                                                          : permuteConst(*value.constant, value.dtype, wide, order);
            return m_to.addConstant(value.name, value.dtype, shape, contents, derivedFrom(value, "layout"));
        }
        const ValueId expanded = append(m_to, value.name + "_expanded", "reshape", {plain(id)}, {{"newshape", wide}},
                                        value.dtype, wide);
        if (keepsOrder(wide, order))
            return append(m_to, value.name + "_reshaped", "reshape", {expanded}, {{"newshape", shape}}, value.dtype,
                          shape);
        return append(m_to, value.name + "_transposed", "transpose", {expanded}, {{"axes", order}}, value.dtype, shape);
    }

    std::int64_t renamedAxis(std::int64_t axis, const Ints& order) const
    {
        const auto size = static_cast<std::int64_t>(order.size());
        return inverse(order)[static_cast<std::size_t>(axis < 0 ? axis + size : axis)];
    }

    Attrs withRenamedAxis(const Node& node, const Ints& order) const
    {
        Attrs attrs = node.attrs;
        attrs["axis"] = renamedAxis(attrInt(node, "axis", traitsOf(node).axis), order);
        return attrs;
    }

    void convertAlongAxis(const Node& node)
    {
        const Ints order = preferred(node.inputs[0]);
        std::vector<ValueId> inputs{get(node.inputs[0], order)};
        for (std::size_t i = 1; i < node.inputs.size(); ++i)
            inputs.push_back(plain(node.inputs[i]));
        emit(node, std::move(inputs), withRenamedAxis(node, order), order);
    }

    void convertJoin(const Node& node)
    {
        const Ints order = adopted(node);
        std::vector<ValueId> inputs;
        for (const ValueId input : node.inputs)
            inputs.push_back(get(input, order));
        emit(node, std::move(inputs), withRenamedAxis(node, order), order);
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

    /// What only counts elements in order can read any representation that keeps them in order: no copy behind a global
    /// pool.
    void convertReshape(const Node& node)
    {
        const ValueId in = node.inputs[0];
        const Ints order = preferred(in);
        if (order == identity(order.size()) || !keepsOrder(old(in).shape, order)) {
            emitPlain(node);
            return;
        }
        const Value& result = old(node.outputs[0]);
        const ValueId operand = get(in, order);
        const TensorType type{m_to.value(operand).dtype, m_to.value(operand).shape};
        const ConstData* const noConstant = nullptr;
        Node copy = node;
        // What it does without being told of dimensions by attributes, it may still do.
        const auto same = node.attrs.empty() ? nodeTypes(node, std::span(&type, 1), std::span(&noConstant, 1))
                                             : std::vector<TensorType>();
        if (!same || same->empty() || same->front().shape != result.shape) {
            copy.op = "reshape";
            copy.attrs = {{"newshape", result.shape}};
        }
        emit(copy, {operand}, copy.attrs, identity(result.shape.size()));
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
        return makeError(Errc::InvalidArgument, say(Msg::NoLayout, layout));
    LATHE_TRY_ASSIGN(Graph converted, Converter(graph, layout).run());
    return inferTypes(std::move(converted));
}

} // namespace lathe::graph
