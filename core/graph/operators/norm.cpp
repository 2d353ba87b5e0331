// Biases, batch normalisation and softmax: functions along one axis.

#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/softmax.h"
#include "core/graph/operators/element.h"
#include "core/graph/operators/families.h"
#include "core/graph/operators/rules.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <cmath>

namespace lathe::graph::operators {
namespace {

/// A tensor as [outer, extent of the axis, inner].
struct Along
{
    std::int64_t outer = 1, extent = 1, inner = 1;
};

Result<Along> along(const Node& node, const TensorType& data, std::int64_t fallback)
{
    LATHE_TRY_ASSIGN(const std::int64_t given, intAttr(node, "axis", fallback));
    LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(given, data.shape.size()));
    Along result;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(data.shape.size()); ++i)
        (i < axis ? result.outer
                  : (i == axis ? result.extent : result.inner)) *= data.shape[static_cast<std::size_t>(i)];
    return result;
}

Result<Types> inferPerChannel(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needSameType(inputs));
    if (inputs[0].dtype == DType::Bool)
        return brokenRule("data must be numbers");
    LATHE_TRY_ASSIGN(const Along split, along(node, inputs[0], 1));
    if (node.op == "batch_norm") {
        LATHE_TRY(needFloat(inputs[0]));
        LATHE_TRY(floatAttr(node, "epsilon", 1e-5));
        LATHE_TRY(boolAttr(node, "center", true));
        LATHE_TRY(boolAttr(node, "scale", true));
    }
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i].shape != Shape{split.extent}) {
            return brokenRule(
                fmt::format("input {} must have one value for each of the {} entries of the axis, its shape is {}", i,
                            split.extent, shapeText(inputs[i].shape)));
        }
    }
    return Types{inputs[0]};
}

Result<> evaluateBiasAdd(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Along split, along(node, inputs[0]->type, 1));
    if (!isFloat(inputs[0]->type.dtype)) {
        std::vector<std::int64_t> values = readInts(*inputs[0]);
        const std::vector<std::int64_t> bias = readInts(*inputs[1]);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto c = static_cast<std::size_t>(static_cast<std::int64_t>(i) / split.inner % split.extent);
            values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i])
                                                  + static_cast<std::uint64_t>(bias[c])); // wraps
        }
        writeInts(outputs[0], values);
        return {};
    }
    std::vector<double> values = readFloats(*inputs[0]);
    const std::vector<double> bias = readFloats(*inputs[1]);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += bias[static_cast<std::size_t>(static_cast<std::int64_t>(i) / split.inner % split.extent)];
    writeFloats(outputs[0], values);
    return {};
}

Result<> evaluateBatchNorm(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Along split, along(node, inputs[0]->type, 1));
    LATHE_TRY_ASSIGN(const double epsilon, floatAttr(node, "epsilon", 1e-5));
    LATHE_TRY_ASSIGN(const bool center, boolAttr(node, "center", true));
    LATHE_TRY_ASSIGN(const bool scale, boolAttr(node, "scale", true));
    std::vector<double> values = readFloats(*inputs[0]);
    const std::vector<double> gamma = readFloats(*inputs[1]), beta = readFloats(*inputs[2]);
    const std::vector<double> mean = readFloats(*inputs[3]), variance = readFloats(*inputs[4]);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto c = static_cast<std::size_t>(static_cast<std::int64_t>(i) / split.inner % split.extent);
        values[i] = (values[i] - mean[c]) / std::sqrt(variance[c] + epsilon) * (scale ? gamma[c] : 1.0)
                    + (center ? beta[c] : 0.0);
    }
    writeFloats(outputs[0], values);
    return {};
}

Result<Types> inferSoftmax(const Node& node, InputTypes inputs, Constants)
{
    LATHE_TRY(needFloat(inputs[0]));
    LATHE_TRY_ASSIGN(const Along split, along(node, inputs[0], -1));
    if (split.extent < 1)
        return brokenRule("the axis must not be empty");
    return Types{inputs[0]};
}

template<bool Log>
Result<> evaluateSoftmax(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Along split, along(node, inputs[0]->type, -1));
    std::vector<double> values = readFloats(*inputs[0]);
    for (std::int64_t o = 0; o < split.outer; ++o) {
        for (std::int64_t i = 0; i < split.inner; ++i) {
            double* const first = values.data() + o * split.extent * split.inner + i;
            double largest = first[0];
            for (std::int64_t k = 1; k < split.extent; ++k)
                largest = std::max(largest, first[k * split.inner]);
            double sum = 0;
            for (std::int64_t k = 0; k < split.extent; ++k)
                sum += std::exp(first[k * split.inner] - largest);
            for (std::int64_t k = 0; k < split.extent; ++k) {
                double& value = first[k * split.inner];
                value = Log ? value - largest - std::log(sum) : std::exp(value - largest) / sum;
            }
        }
    }
    writeFloats(outputs[0], values);
    return {};
}

using Tensors = std::span<const compute::Tensor>;

Result<compute::Tensor> computeBiasAdd(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::int64_t given, intAttr(node, "axis", 1));
    LATHE_TRY_ASSIGN(const std::int64_t axis, normalAxis(given, context.builder.shape(inputs[0]).size()));
    return compute::biasAdd(context.builder, inputs[0], inputs[1], axis);
}

template<bool Log>
Result<compute::Tensor> computeSoftmax(const Node& node, Tensors inputs, ComputeContext& context)
{
    LATHE_TRY_ASSIGN(const std::int64_t axis, intAttr(node, "axis", -1));
    return Log ? compute::logSoftmax(context.builder, inputs[0], axis)
               : compute::softmax(context.builder, inputs[0], axis);
}

std::size_t perChannelAxis(const Node& node, std::size_t rank)
{
    const std::int64_t axis = attrInt(node, "axis", 1);
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

/// A bias is added as a tensor of full rank: passes read every broadcast by position.
void biasToAdd(Graph& graph, NodeId id)
{
    const Node node = graph.node(id);
    const Shape shape = graph.value(node.inputs[0]).shape;
    Shape full(shape.size(), 1);
    const std::size_t axis = perChannelAxis(node, shape.size());
    full[axis] = shape[axis];
    const ValueId bias = reshaped(graph, node.inputs[1], full, node.name + "_bias", node.origin);
    Node& sum = graph.node(id);
    sum.op = "add";
    sum.attrs.clear();
    sum.inputs[1] = bias;
}

/// Batch norm of one tensor in inference: x * scale + shift. The arithmetic on the parameters is left to constant
/// folding.
class BatchNorm
{
public:
    BatchNorm(Graph& graph, const Node& node)
        : m_graph(graph)
        , m_node(node)
        , m_data(graph.value(node.inputs[0]))
    {
        // Half floats have too few digits to add a small number to a variance.
        m_dtype = m_data.dtype == DType::F16 || m_data.dtype == DType::BF16 ? DType::F32 : m_data.dtype;
    }

    ValueId rewrite()
    {
        const ValueId gamma = parameter(1, "gamma"), beta = parameter(2, "beta");
        const ValueId mean = parameter(3, "mean"), variance = parameter(4, "variance");
        m_length = m_graph.value(variance).shape;
        const double epsilon = attrFloat(m_node, "epsilon", 1e-5);
        const ValueId small = addNumbers(m_graph, m_node.name + "_epsilon", m_dtype, {}, std::span(&epsilon, 1));
        ValueId scale = step("rsqrt", {step("add", {variance, small}, "var_eps")}, "rsqrt");
        if (attrInt(m_node, "scale", 1) != 0)
            scale = step("multiply", {gamma, scale}, "scale");
        ValueId shift = step("multiply", {step("negative", {mean}, "neg_mean"), scale}, "neg_mean_scaled");
        if (attrInt(m_node, "center", 1) != 0)
            shift = step("add", {shift, beta}, "shift");
        const ValueId scaled = wide("multiply", m_node.inputs[0], along(scale, "scale_full"), "mul");
        return wide("add", scaled, along(shift, "shift_full"), "add");
    }

private:
    ValueId parameter(std::size_t input, const char* suffix)
    {
        const ValueId id = m_node.inputs[input];
        if (m_data.dtype == m_dtype)
            return id;
        return append(m_graph, m_node.name + "_" + suffix, "cast", {id}, {{"dtype", std::string(toString(m_dtype))}},
                      m_dtype, m_graph.value(id).shape, m_node.origin);
    }
    ValueId step(const char* op, std::vector<ValueId> inputs, const char* suffix)
    {
        return append(m_graph, m_node.name + "_" + suffix, op, std::move(inputs), {}, m_dtype, m_length, m_node.origin);
    }
    ValueId wide(const char* op, ValueId a, ValueId b, const char* suffix)
    {
        return append(m_graph, m_node.name + "_" + suffix, op, {a, b}, {}, m_data.dtype, m_data.shape, m_node.origin);
    }
    /// A vector as a tensor of full rank that broadcasts along the normalised axis.
    ValueId along(ValueId vector, const char* suffix)
    {
        Shape full(m_data.shape.size(), 1);
        full[perChannelAxis(m_node, m_data.shape.size())] = m_length[0];
        const ValueId result = append(m_graph, m_node.name + "_" + suffix, "reshape", {vector}, {{"newshape", full}},
                                      m_dtype, full, m_node.origin);
        if (m_data.dtype == m_dtype)
            return result;
        return append(m_graph, m_node.name + "_" + suffix + "_cast", "cast", {result},
                      {{"dtype", std::string(toString(m_data.dtype))}}, m_data.dtype, full, m_node.origin);
    }

    Graph& m_graph;
    const Node m_node; ///< a copy: the graph's nodes and values move when some are appended
    const Value m_data;
    DType m_dtype = DType::F32; ///< of the arithmetic on the parameters
    Shape m_length;
};

ValueId batchNormToArithmetic(Graph& graph, NodeId id)
{
    return BatchNorm(graph, graph.node(id)).rewrite();
}

} // namespace

std::span<const OpDef> normOperators()
{
    const OpTraits softmaxTraits{.layout = LayoutRule::AlongAxis,
                                 .cost = Cost::Reduction,
                                 .axis = -1,
                                 .sums = true,
                                 .hidesDifferences = true,
                                 .nnName = true};
    static const std::vector<OpDef> table = {
        {"bias_add",
         Pattern::Broadcast,
         2,
         2,
         inferPerChannel,
         computeBiasAdd,
         evaluateBiasAdd,
         {.layout = LayoutRule::AlongAxis,
          .scale = ScaleRule::Bias,
          .axis = 1,
          .nnName = true,
          .canonicalize = biasToAdd}},
        // Batch norms become arithmetic before tasks are cut, so they need no definition.
        {"batch_norm",
         Pattern::OutElementwiseFusable,
         5,
         5,
         inferPerChannel,
         nullptr,
         evaluateBatchNorm,
         {.layout = LayoutRule::AlongAxis,
          .cost = Cost::Elementwise,
          .axis = 1,
          .sums = true,
          .nnName = true,
          .simplify = batchNormToArithmetic}},
        {"softmax", Pattern::OutElementwiseFusable, 1, 1, inferSoftmax, computeSoftmax<false>, evaluateSoftmax<false>,
         softmaxTraits},
        {"log_softmax", Pattern::OutElementwiseFusable, 1, 1, inferSoftmax, computeSoftmax<true>, evaluateSoftmax<true>,
         softmaxTraits},
    };
    return table;
}

} // namespace lathe::graph::operators
