#pragma once

#include "core/graph/value_range.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::graph {

/// What becomes of a node when the dimensions of its operands are put in another order (convertLayout). "In any order"
/// means that the result then comes in the same one.
enum class LayoutRule : std::uint8_t
{
    Fixed, ///< works only in the order that it was written for; always right, and costs copies at the borders
    Elementwise, ///< operands of one shape, or that broadcast into it, in any order: all in the same
    AlongAxis, ///< the first operand in any order, of which attribute "axis" names a dimension; the others as they are
    Join, ///< all operands in any order, all in the same; attribute "axis" names a dimension
    Pad, ///< the operand in any order; attribute "pad_width": before and after, for each dimension in turn
    Slice, ///< the operand in any order; attribute "axes" names the dimensions that "begin" and "end" are of
    Reduction, ///< the operand in any order; attribute "axes": those that it reduces, empty: all; "keepdims"
    Reshape, ///< the operand in any order that keeps its elements in row-major order; the result as it is
    Transpose, ///< attribute "axes": which dimension of the operand each of the result's is; missing: the reverse
    Image, ///< images or volumes in the order that attribute "layout" names: NCHW (the default), NHWC, NCDHW or NDHWC
    Convolution ///< as Image, and asks for the wanted order; attribute "kernel_layout" orders the second operand
};

/// What a kernel of the operator alone spends its time on.
enum class Cost : std::uint8_t
{
    ByPattern, ///< what the operator's pattern says: see costOf()
    Free, ///< nothing: the result holds the elements of the only operand, in their order, of the same type
    Movement, ///< elements go elsewhere
    Elementwise, ///< an operation or a few for each element of the result
    Reduction, ///< each element that is read goes into one of the result, or into a few
    Product ///< each element that is read goes into many of the result: arithmetic outweighs memory
};

/// How a scale by channel, that is a multiplication by a constant, gets past a node on its way into weights
/// (foldScaleAxis).
enum class ScaleRule : std::uint8_t
{
    Stops, ///< it does not
    Product, ///< the node is such a multiplication where one operand is constant
    Sum, ///< f(a, b) s = f(a s, b s) for two operands that broadcast
    Bias, ///< as Sum; the second operand is a vector along attribute "axis" of the first
    Positive ///< f(x s) = f(x) s for s > 0
};

/// What a node does to the order in which others run.
enum class Control : std::uint8_t
{
    None,
    If, ///< runs one of its two bodies: operators/control.cpp
    Loop, ///< runs its body again and again: likewise
    BranchBegin, ///< the four of the flat form: flatten.h
    BranchEnd,
    LoopBegin,
    LoopEnd
};

/// Whether the value of a node of constants may be left until somebody looks at it: only where that cannot fail.
enum class LateFolding : std::uint8_t
{
    Never,
    OfFloats, ///< integers can fail: a division by zero
    Always
};

/// Which dimensions of an operand that holds weights are the channels.
struct WeightAxes
{
    std::size_t channel = 0; ///< of the data and of the result
    /// Of the weight: channels of the data and of the result; equal where each has a filter of its own.
    std::size_t in = 0, out = 0;
};

/// What passes, the partition and the naming of tasks need to know of an operator. Each default is right for an
/// operator of which nothing is known.
struct OpTraits
{
    LayoutRule layout = LayoutRule::Fixed;
    Cost cost = Cost::ByPattern;
    Control control = Control::None;
    ScaleRule scale = ScaleRule::Stops;
    std::int64_t axis = 0; ///< what a missing attribute "axis" stands for
    bool sums = false; ///< adds or multiplies many elements up: half floats would lose digits on the way
    bool slices = false; ///< the result is a part of the first operand
    /// The reference hands it its operands as one value: nothing joins it in fusion before the last phase.
    bool takesTuple = false;
    /// Zeros around the data may as well be in attribute "padding": before each spatial dimension, then behind each.
    bool takesPadding = false;
    /// (x op a) op b = x op (a op b), and x op a = a op x: constants go to the right, and chains of them become one.
    bool mergesConstants = false;
    std::optional<double> neutral = {}; ///< x op neutral = x
    bool identityIfSameType = false; ///< may be dropped where the result has the operand's type and shape
    LateFolding lateFolding = LateFolding::Never;
    bool foldsLarge = false; ///< if its operands are constants, the result is stored however large it is
    /// Differences in the operand hardly show in the result: the verification of a network's outputs looks at both.
    bool hidesDifferences = false;

    /// Names: "conv2d 3x3/2 64->128 @28" for a node that others are fused with; null: the operator and the first
    /// operand's shape.
    std::function<std::string(const Graph&, const Node&)> label = {};
    /// Behind the name of the node that it is fused with; null: the operator.
    std::function<std::string(const Graph&, const Node&)> suffix = {};
    bool countsBatch = true; ///< the first dimension of the result counts samples
    bool nnName = false; ///< the reference's name for it begins with "nn_"

    /// The second operand is the weight if this is set; nothing: no scale by channel can go into that of this node.
    /// Shapes are those of the operands.
    std::function<std::optional<WeightAxes>(const Node&, std::span<const std::int64_t> data,
                                            std::span<const std::int64_t> weight)>
        weights = {};
    /// The second operand's values are places in the first: how many there are, where it picks along several dimensions
    /// the fewest. Null: they are none. Shapes are those of the operands.
    std::function<std::int64_t(const Node&, std::span<const std::int64_t> data, std::span<const std::int64_t> places)>
        picksFrom = {};
    /// What it wants of operand `question.operand`, if anything is asked of its results or it asks by itself. Null:
    /// what is asked of the results is asked of the operands if the node only moves elements, else nothing is known.
    /// Places that `picksFrom` tells of need not be repeated.
    std::function<Demand(const DemandQuestion& question)> demands = {};
    /// Whether the sign of a result that is zero follows from the operands, in any schedule (core/compute/README.md).
    bool signsZeros = false;
    /// Amounts of zeros that the node puts before and behind each dimension in turn, if that is all that it does.
    std::function<std::optional<std::vector<std::int64_t>>(const Node&)> zeroPadding = {};
    /// The algorithms that compete, "direct" first; null: that alone. ComputeContext::algorithm is one of them.
    std::function<std::vector<std::string>(const Graph&, const Node&)> algorithms = {};
    /// In inference: appends what computes the same more simply, and returns what takes the place of the node's only
    /// result: the result itself if nothing does. Null: nothing does.
    std::function<ValueId(Graph&, NodeId)> simplify = {};
    /// Turns the node into the form that the passes behind know best, by editing it or by redirecting uses of its
    /// results.
    std::function<void(Graph&, NodeId)> canonicalize = {};
};

/// Those of the node's operator; the defaults where it is unknown.
const OpTraits& traitsOf(const Node& node);

/// OpTraits::cost; by pattern: elementwise and broadcast work is Elementwise, injective Movement, reductions (and
/// opaque nodes) Reduction, kernels that take elementwise work Product.
Cost costOf(const Node& node);

} // namespace lathe::graph
