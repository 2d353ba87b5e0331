#pragma once

#include "core/frontend/zoo.h"

#include <array>
#include <utility>

namespace lathe::frontend {

struct ZooConv
{
    std::int64_t channels = 0; ///< output
    std::array<std::int64_t, 2> kernel{1, 1};
    std::int64_t stride = 1;
    std::array<std::int64_t, 2> pad{0, 0}; ///< height, width; the same on both sides
    bool depthwise = false; ///< `channels` is the input's
};

/// A convolution of volumes; the same on all sides.
struct ZooConv3d
{
    std::int64_t channels = 0; ///< output
    std::array<std::int64_t, 3> kernel{1, 1, 1}; ///< depth, height, width
    std::array<std::int64_t, 3> stride{1, 1, 1};
    std::array<std::int64_t, 3> pad{};
};

struct ZooNorm
{
    double epsilon = 1e-5;
    bool scale = true;
    /// Axis as a batch norm that is not told the layout would take it (axis 1), instead of the channel axis.
    bool ignoreLayout = false;
};

/// Writes a network node by node with the parameter names, layouts and defaults of the reference's test models
/// (model-zoo.md 1). Parameters are only declared here; finish() gives them their contents.
///
/// Sizes that do not work (an image smaller than a kernel) are remembered and reported by finish().
class ZooBuilder
{
public:
    ZooBuilder(std::string name, const ZooOptions& options);

    bool nhwc() const { return m_nhwc; }
    const std::vector<std::int64_t>& shape(graph::ValueId id) const { return m_graph.value(id).shape; }
    std::int64_t channels(graph::ValueId x) const;

    graph::ValueId image(std::int64_t channelCount, std::int64_t size); ///< the graph's input
    graph::ValueId volume(std::int64_t channelCount, std::int64_t depth, std::int64_t size); ///< the graph's input
    graph::ValueId vector(std::int64_t length); ///< the graph's input, of networks that read none
    graph::ValueId integers(const std::string& name,
                            std::int64_t length); ///< an input of the graph: [batch, length], int64
    graph::ValueId conv(graph::ValueId x, const std::string& name, const ZooConv& c)
    {
        return conv(x, name, name + "_weight", c);
    }
    graph::ValueId conv(graph::ValueId x, const std::string& name, const std::string& weightName, const ZooConv& c);
    graph::ValueId conv3d(graph::ValueId x, const std::string& name, const ZooConv3d& c);
    graph::ValueId batchNorm(graph::ValueId x, const std::string& name, const ZooNorm& norm = {});
    graph::ValueId biasAdd(graph::ValueId x, const std::string& biasName, std::int64_t axis);
    graph::ValueId relu(graph::ValueId x, const std::string& name);
    graph::ValueId clip(graph::ValueId x, const std::string& name, double low, double high);
    graph::ValueId add(graph::ValueId a, graph::ValueId b, const std::string& name);
    graph::ValueId concat(graph::ValueId a, graph::ValueId b, const std::string& name) { return concat({a, b}, name); }
    graph::ValueId concat(const std::vector<graph::ValueId>& parts, const std::string& name); ///< along channels
    graph::ValueId maxPool(graph::ValueId x, const std::string& name, std::int64_t size, std::int64_t stride,
                           std::int64_t pad);
    graph::ValueId avgPool(graph::ValueId x, const std::string& name, std::int64_t size, std::int64_t stride,
                           std::int64_t pad); ///< counts padding
    /// Twice the size, by a transposed convolution 4x4 with stride 2 (NCHW alone).
    graph::ValueId widen(graph::ValueId x, const std::string& name, std::int64_t channelCount);
    graph::ValueId tanh(graph::ValueId x, const std::string& name);
    graph::ValueId reshape(graph::ValueId x, const std::string& name, std::vector<std::int64_t> newShape);
    graph::ValueId globalAvgPool(graph::ValueId x, const std::string& name);
    graph::ValueId globalAvgPool3d(graph::ValueId x, const std::string& name);
    graph::ValueId flatten(graph::ValueId x, const std::string& name);
    graph::ValueId dropout(graph::ValueId x, const std::string& name, double rate);
    graph::ValueId dense(graph::ValueId x, const std::string& name,
                         std::int64_t units); ///< name_weight, then + name_bias
    graph::ValueId product(graph::ValueId x, const std::string& name, std::int64_t units); ///< dense without bias
    graph::ValueId softmax(graph::ValueId x, const std::string& name);
    /// Over the last dimension, in primitive arithmetic: name_gamma, then name_beta.
    graph::ValueId layerNorm(graph::ValueId x, const std::string& name, double epsilon);

    /// Any operator with one output, whose type follows from its inputs.
    graph::ValueId op(const std::string& name, std::string_view kind, std::vector<graph::ValueId> inputs,
                      graph::Attrs attrs = {});
    graph::ValueId slice(graph::ValueId x, const std::string& name, std::int64_t axis, std::int64_t begin,
                         std::int64_t end);
    graph::ValueId parameter(const std::string& name, std::vector<std::int64_t> parameterShape);
    graph::ValueId scalar(const std::string& name, double value); ///< a number of a formula, no parameter

    std::int64_t batch() const { return m_options.batch; }
    std::int64_t channelAxis() const { return m_nhwc ? 3 : 1; } ///< of images

    Result<graph::Graph> finish(graph::ValueId output) && { return std::move(*this).finish(std::vector{output}); }
    Result<graph::Graph> finish(const std::vector<graph::ValueId>& outputs) &&;

private:
    graph::ValueId node(const std::string& name, std::string op, std::vector<graph::ValueId> inputs, graph::Attrs attrs,
                        std::vector<std::int64_t> outputShape);
    std::int64_t windowed(const std::string& name, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t pad);
    std::vector<std::int64_t> imageShape(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const;
    std::int64_t height(graph::ValueId x) const { return shape(x)[m_nhwc ? 1 : 2]; }
    std::int64_t width(graph::ValueId x) const { return shape(x)[m_nhwc ? 2 : 3]; }

    graph::Graph m_graph;
    ZooOptions m_options;
    bool m_nhwc = false;
    std::string m_problem;
};

/// Gives the declared parameters (values without producer, contents or place among the inputs) their contents, in the
/// order of graph.values: Xavier for names that end in "weight", constants for bias, gamma, beta, mean and var
/// (model-zoo.md 1.1).
void initialiseParameters(graph::Graph& graph, const ZooOptions& options);

// The families. `name` is canonical.
Result<graph::Graph> buildResnet(const std::string& name, std::int64_t layers, const ZooOptions& options);
Result<graph::Graph> buildResnet3d(const std::string& name, std::int64_t layers, const ZooOptions& options);
Result<graph::Graph> buildResnet18V1(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildMobilenet(const std::string& name, bool fixed, const ZooOptions& options);
Result<graph::Graph> buildMobilenetV2(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildMobilenetV3(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildEfficientnet(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildShufflenet(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildSqueezenet(const std::string& name, bool version11, const ZooOptions& options);
Result<graph::Graph> buildVgg(const std::string& name, std::int64_t layers, const ZooOptions& options);
Result<graph::Graph> buildInception(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildDensenet(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildDcgan(const std::string& name, const ZooOptions& options);
Result<graph::Graph> buildMlp(const std::string& name, const ZooOptions& options);

/// Sizes of a stack of attention layers; at first those of the networks that the zoo offers.
struct TransformerSizes
{
    std::int64_t layers = 12;
    std::int64_t width = 768;
    std::int64_t heads = 12; ///< divides the width
    std::int64_t hidden = 3072;
    std::int64_t vocabulary = 30522; ///< from here on: of text
    std::int64_t positions = 512;
    std::int64_t tokens = 128; ///< at most `positions`
};
Result<graph::Graph> buildVit(const std::string& name, const TransformerSizes& sizes, const ZooOptions& options);
Result<graph::Graph> buildBert(const std::string& name, const TransformerSizes& sizes, const ZooOptions& options);

} // namespace lathe::frontend
