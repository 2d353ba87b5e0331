#include "core/frontend/zoo_builder.h"

#include "core/graph/operator.h"
#include "core/graph/rewrite.h"
#include "core/support/check.h"
#include "core/support/element_count.h"

#include <fmt/format.h>

namespace lathe::frontend {

using graph::Attrs;
using graph::ValueId;
using Ints = std::vector<std::int64_t>;

namespace {

/// A large image makes the first dense layer of some networks larger than any memory.
Result<> checkSize(const graph::Graph& graph)
{
    constexpr std::int64_t kMostParameters = std::int64_t{1} << 31;
    for (const graph::Value& value : graph.values) {
        if (!value.producer.valid() && elementCount(value.shape) > kMostParameters)
            return makeError(Errc::InvalidArgument,
                             fmt::format("{}: '{}' would have {} elements; the image is too large", graph.name,
                                         value.name, elementCount(value.shape)));
    }
    return {};
}

} // namespace

ZooBuilder::ZooBuilder(std::string name, const ZooOptions& options)
    : m_options(options)
    , m_nhwc(options.layout == "NHWC")
{
    m_graph.name = std::move(name);
}

std::int64_t ZooBuilder::channels(ValueId x) const
{
    return m_nhwc ? shape(x).back() : shape(x)[1];
}

Ints ZooBuilder::imageShape(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const
{
    return m_nhwc ? Ints{n, h, w, c} : Ints{n, c, h, w};
}

ValueId ZooBuilder::node(const std::string& name, std::string op, std::vector<ValueId> inputs, Attrs attrs,
                         Ints outputShape)
{
    graph::Node n;
    n.name = name;
    n.op = std::move(op);
    n.attrs = std::move(attrs);
    n.inputs = std::move(inputs);
    n.origin = name;
    const ValueId output = m_graph.addValue(name, DType::F32, std::move(outputShape));
    n.outputs.push_back(output);
    m_graph.addNode(std::move(n));
    return output;
}

ValueId ZooBuilder::parameter(const std::string& name, Ints parameterShape)
{
    return m_graph.addValue(name, DType::F32, std::move(parameterShape));
}

std::int64_t ZooBuilder::windowed(const std::string& name, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                                  std::int64_t pad)
{
    if (size + 2 * pad < kernel) {
        if (m_problem.empty())
            m_problem = fmt::format("the image is too small for {}: {} rows and columns are left where {} are needed",
                                    name, size + 2 * pad, kernel);
        return 1; // keeps the remaining sizes positive; finish() reports
    }
    return (size + 2 * pad - kernel) / stride + 1;
}

ValueId ZooBuilder::image(std::int64_t channelCount, std::int64_t size)
{
    const ValueId id = m_graph.addValue("data", DType::F32, imageShape(m_options.batch, channelCount, size, size));
    m_graph.inputs.push_back(id);
    return id;
}

ValueId ZooBuilder::volume(std::int64_t channelCount, std::int64_t depth, std::int64_t size)
{
    const std::int64_t n = m_options.batch;
    const ValueId id = m_graph.addValue("data", DType::F32,
                                        m_nhwc ? Ints{n, depth, size, size, channelCount}
                                               : Ints{n, channelCount, depth, size, size});
    m_graph.inputs.push_back(id);
    return id;
}

ValueId ZooBuilder::vector(std::int64_t length)
{
    const ValueId id = m_graph.addValue("data", DType::F32, {m_options.batch, length});
    m_graph.inputs.push_back(id);
    return id;
}

ValueId ZooBuilder::integers(const std::string& name, std::int64_t length)
{
    const ValueId id = m_graph.addValue(name, DType::I64, {m_options.batch, length});
    m_graph.inputs.push_back(id);
    return id;
}

ValueId ZooBuilder::scalar(const std::string& name, double value)
{
    return graph::addFloats(m_graph, name, {}, {static_cast<float>(value)});
}

ValueId ZooBuilder::op(const std::string& name, std::string_view kind, std::vector<ValueId> inputs, Attrs attrs)
{
    const graph::OpDef* definition = graph::findOperator(kind);
    LATHE_CHECK(definition != nullptr) << "there is no operator " << kind;
    std::vector<graph::TensorType> types;
    std::vector<const graph::ConstData*> constants;
    for (const ValueId input : inputs) {
        const graph::Value& value = m_graph.value(input);
        types.push_back({value.dtype, value.shape});
        constants.push_back(value.constant.get());
    }
    graph::Node asked;
    asked.op = kind;
    asked.attrs = attrs;
    graph::TensorType type = types.front(); // of a refused node, too: its followers go on until finish() reports
    if (auto inferred = definition->inferTypes(asked, types, constants))
        type = inferred->front();
    else if (m_problem.empty())
        m_problem = fmt::format("{}: {}", name, inferred.error().message);
    const ValueId output = node(name, asked.op, std::move(inputs), std::move(attrs), type.shape);
    m_graph.value(output).dtype = type.dtype;
    return output;
}

ValueId ZooBuilder::slice(ValueId x, const std::string& name, std::int64_t axis, std::int64_t begin, std::int64_t end)
{
    return op(name, "strided_slice", {x},
              {{"begin", Ints{begin}}, {"end", Ints{end}}, {"axes", Ints{axis}}, {"strides", Ints{1}}});
}

ValueId ZooBuilder::layerNorm(ValueId x, const std::string& name, double epsilon)
{
    const Attrs last{{"axes", Ints{-1}}, {"keepdims", std::int64_t{1}}};
    const std::int64_t length = shape(x).back();
    const ValueId mean = op(name + "_mean", "mean", {x}, last);
    const ValueId centred = op(name + "_centred", "subtract", {x, mean});
    const ValueId squares = op(name + "_squares", "multiply", {centred, centred});
    const ValueId variance = op(name + "_variance", "mean", {squares}, last);
    const ValueId shifted = op(name + "_shifted", "add", {variance, scalar(name + "_epsilon", epsilon)});
    const ValueId normal = op(name + "_normal", "multiply", {centred, op(name + "_inverse", "rsqrt", {shifted})});
    const ValueId scaled = op(name + "_scaled", "multiply", {normal, parameter(name + "_gamma", {length})});
    return op(name, "add", {scaled, parameter(name + "_beta", {length})});
}

ValueId ZooBuilder::conv(ValueId x, const std::string& name, const std::string& weightName, const ZooConv& c)
{
    const std::int64_t in = channels(x);
    const std::int64_t kh = c.kernel[0];
    const std::int64_t kw = c.kernel[1];
    const std::int64_t out = c.depthwise ? in : c.channels;
    Ints weightShape;
    std::string kernelLayout;
    if (m_nhwc) {
        weightShape = c.depthwise ? Ints{kh, kw, in, 1} : Ints{kh, kw, in, out};
        kernelLayout = c.depthwise ? "HWOI" : "HWIO";
    } else {
        weightShape = c.depthwise ? Ints{in, 1, kh, kw} : Ints{out, in, kh, kw};
        kernelLayout = "OIHW";
    }
    const Attrs attrs{{"strides", Ints{c.stride, c.stride}},
                      {"padding", Ints{c.pad[0], c.pad[1], c.pad[0], c.pad[1]}},
                      {"dilations", Ints{1, 1}},
                      {"groups", c.depthwise ? in : std::int64_t{1}},
                      {"layout", std::string(m_nhwc ? "NHWC" : "NCHW")},
                      {"kernel_layout", kernelLayout}};
    const std::int64_t h = windowed(name, height(x), kh, c.stride, c.pad[0]);
    const std::int64_t w = windowed(name, width(x), kw, c.stride, c.pad[1]);
    return node(name, "conv2d", {x, parameter(weightName, weightShape)}, attrs, imageShape(shape(x)[0], out, h, w));
}

ValueId ZooBuilder::conv3d(ValueId x, const std::string& name, const ZooConv3d& c)
{
    const std::int64_t in = channels(x);
    const auto& [kd, kh, kw] = c.kernel;
    const Ints weightShape = m_nhwc ? Ints{kd, kh, kw, in, c.channels} : Ints{c.channels, in, kd, kh, kw};
    return op(name, "conv3d", {x, parameter(name + "_weight", weightShape)},
              {{"strides", Ints(c.stride.begin(), c.stride.end())},
               {"padding", Ints{c.pad[0], c.pad[1], c.pad[2], c.pad[0], c.pad[1], c.pad[2]}},
               {"dilations", Ints{1, 1, 1}},
               {"groups", std::int64_t{1}},
               {"layout", std::string(m_nhwc ? "NDHWC" : "NCDHW")},
               {"kernel_layout", std::string(m_nhwc ? "DHWIO" : "OIDHW")}});
}

ValueId ZooBuilder::batchNorm(ValueId x, const std::string& name, const ZooNorm& norm)
{
    const std::int64_t axis = norm.ignoreLayout || !m_nhwc ? 1 : static_cast<std::int64_t>(shape(x).size()) - 1;
    const std::int64_t length = shape(x)[static_cast<std::size_t>(axis)];
    std::vector<ValueId> inputs{x};
    for (const char* suffix : {"_gamma", "_beta", "_moving_mean", "_moving_var"})
        inputs.push_back(parameter(name + suffix, {length}));
    return node(
        name, "batch_norm", std::move(inputs),
        {{"axis", axis}, {"epsilon", norm.epsilon}, {"center", std::int64_t{1}}, {"scale", std::int64_t{norm.scale}}},
        shape(x));
}

ValueId ZooBuilder::biasAdd(ValueId x, const std::string& biasName, std::int64_t axis)
{
    const ValueId bias = parameter(biasName, {shape(x)[static_cast<std::size_t>(axis)]});
    return node(biasName + "_add", "bias_add", {x, bias}, {{"axis", axis}}, shape(x));
}

ValueId ZooBuilder::relu(ValueId x, const std::string& name)
{
    return node(name, "relu", {x}, {}, shape(x));
}

ValueId ZooBuilder::clip(ValueId x, const std::string& name, double low, double high)
{
    return node(name, "clip", {x}, {{"min", low}, {"max", high}}, shape(x));
}

ValueId ZooBuilder::add(ValueId a, ValueId b, const std::string& name)
{
    return node(name, "add", {a, b}, {}, shape(a));
}

ValueId ZooBuilder::concat(const std::vector<ValueId>& parts, const std::string& name)
{
    Ints result = shape(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i)
        result[static_cast<std::size_t>(channelAxis())] += channels(parts[i]);
    return node(name, "concatenate", parts, {{"axis", channelAxis()}}, std::move(result));
}

ValueId ZooBuilder::avgPool(ValueId x, const std::string& name, std::int64_t size, std::int64_t stride,
                            std::int64_t pad)
{
    const std::int64_t h = windowed(name, height(x), size, stride, pad);
    const std::int64_t w = windowed(name, width(x), size, stride, pad);
    return node(name, "avg_pool2d", {x},
                {{"pool_size", Ints{size, size}},
                 {"strides", Ints{stride, stride}},
                 {"padding", Ints{pad, pad, pad, pad}},
                 {"layout", std::string(m_nhwc ? "NHWC" : "NCHW")},
                 {"ceil_mode", std::int64_t{0}},
                 {"count_include_pad", std::int64_t{1}}},
                imageShape(shape(x)[0], channels(x), h, w));
}

ValueId ZooBuilder::widen(ValueId x, const std::string& name, std::int64_t channelCount)
{
    const ValueId weight = parameter(name + "_weight", {channels(x), channelCount, 4, 4});
    return node(name, "conv2d_transpose", {x, weight},
                {{"strides", Ints{2, 2}},
                 {"padding", Ints{1, 1, 1, 1}},
                 {"dilations", Ints{1, 1}},
                 {"groups", std::int64_t{1}},
                 {"output_padding", Ints{0, 0}},
                 {"layout", std::string("NCHW")},
                 {"kernel_layout", std::string("IOHW")}},
                imageShape(shape(x)[0], channelCount, 2 * height(x), 2 * width(x)));
}

ValueId ZooBuilder::tanh(ValueId x, const std::string& name)
{
    return node(name, "tanh", {x}, {}, shape(x));
}

ValueId ZooBuilder::reshape(ValueId x, const std::string& name, Ints newShape)
{
    const ValueId output = node(name, "reshape", {x}, {{"newshape", newShape}}, newShape);
    m_graph.value(output).dtype = m_graph.value(x).dtype;
    return output;
}

ValueId ZooBuilder::maxPool(ValueId x, const std::string& name, std::int64_t size, std::int64_t stride,
                            std::int64_t pad)
{
    const std::int64_t h = windowed(name, height(x), size, stride, pad);
    const std::int64_t w = windowed(name, width(x), size, stride, pad);
    return node(name, "max_pool2d", {x},
                {{"pool_size", Ints{size, size}},
                 {"strides", Ints{stride, stride}},
                 {"padding", Ints{pad, pad, pad, pad}},
                 {"layout", std::string(m_nhwc ? "NHWC" : "NCHW")},
                 {"ceil_mode", std::int64_t{0}}},
                imageShape(shape(x)[0], channels(x), h, w));
}

ValueId ZooBuilder::globalAvgPool(ValueId x, const std::string& name)
{
    return node(name, "global_avg_pool2d", {x}, {{"layout", std::string(m_nhwc ? "NHWC" : "NCHW")}},
                imageShape(shape(x)[0], channels(x), 1, 1));
}

ValueId ZooBuilder::globalAvgPool3d(ValueId x, const std::string& name)
{
    return op(name, "global_avg_pool3d", {x}, {{"layout", std::string(m_nhwc ? "NDHWC" : "NCDHW")}});
}

ValueId ZooBuilder::flatten(ValueId x, const std::string& name)
{
    const Ints& s = shape(x);
    return node(name, "batch_flatten", {x}, {}, {s[0], s[0] == 0 ? 0 : elementCount(s) / s[0]});
}

ValueId ZooBuilder::dropout(ValueId x, const std::string& name, double rate)
{
    return node(name, "dropout", {x}, {{"rate", rate}}, shape(x));
}

ValueId ZooBuilder::product(ValueId x, const std::string& name, std::int64_t units)
{
    const ValueId weight = parameter(name + "_weight", {units, shape(x)[1]});
    return node(name, "dense", {x, weight}, {}, {shape(x)[0], units});
}

ValueId ZooBuilder::dense(ValueId x, const std::string& name, std::int64_t units)
{
    return biasAdd(product(x, name, units), name + "_bias", 1);
}

ValueId ZooBuilder::softmax(ValueId x, const std::string& name)
{
    return node(name, "softmax", {x}, {{"axis", std::int64_t{-1}}}, shape(x));
}

Result<graph::Graph> ZooBuilder::finish(const std::vector<ValueId>& outputs) &&
{
    if (!m_problem.empty())
        return makeError(Errc::InvalidArgument, fmt::format("{}: {}", m_graph.name, m_problem));
    m_graph.outputs = outputs;
    // Orders the parameters by their first appearance from the output, which is the order in which they draw their
    // weights.
    LATHE_TRY_ASSIGN(graph::Graph result, graph::compact(m_graph));
    LATHE_TRY(checkSize(result));
    initialiseParameters(result, m_options);
    LATHE_TRY(graph::verify(result));
    return result;
}

} // namespace lathe::frontend
