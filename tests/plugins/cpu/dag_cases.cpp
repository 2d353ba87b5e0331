#include "tests/plugins/cpu/dag_cases.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/conv3d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "core/compute/definitions/winograd.h"
#include "core/support/check.h"

#include <functional>

namespace lathe::test {

using namespace compute;

namespace {

DagPtr dagOf(const std::function<Tensor(DagBuilder&)>& build)
{
    DagBuilder b;
    const Tensor out = build(b);
    Result<DagPtr> dag = std::move(b).finish({out});
    LATHE_CHECK(dag.has_value()) << dag.error().message;
    return *dag;
}

Tensor biasRelu(DagBuilder& b, Tensor x, std::int64_t channelDim)
{
    std::vector<std::int64_t> shape(b.shape(x).size(), 1);
    shape[static_cast<std::size_t>(channelDim)] = b.shape(x)[static_cast<std::size_t>(channelDim)];
    return unary(b, Unary::Relu, binary(b, Binary::Add, x, b.placeholder("bias", shape, DType::F32)));
}

DagPtr conv(ImageLayout layout, std::int64_t size, std::int64_t ci, std::int64_t co, std::int64_t k,
            std::int64_t stride, std::int64_t pad, bool depthwise = false)
{
    return dagOf([=](DagBuilder& b) {
        const bool nhwc = layout == ImageLayout::Nhwc;
        using Shape = std::vector<std::int64_t>;
        const Tensor data = b.placeholder("data", nhwc ? Shape{1, size, size, ci} : Shape{1, ci, size, size},
                                          DType::F32);
        const Shape weightShape = depthwise ? (nhwc ? Shape{k, k, ci, 1} : Shape{ci, 1, k, k})
                                            : (nhwc ? Shape{k, k, ci, co} : Shape{co, ci, k, k});
        const Tensor weight = b.placeholder("weight", weightShape, DType::F32);
        Conv2dParams p;
        p.layout = layout;
        p.strides = {stride, stride};
        p.padding = {pad, pad, pad, pad};
        const Tensor y = depthwise ? depthwiseConv2d(b, data, weight, p, NameEra::Nested)
                                   : conv2d(b, data, weight, p, NameEra::Nested);
        return biasRelu(b, y, nhwc ? 3 : 1);
    });
}

DagPtr conv3d(ImageLayout layout)
{
    return dagOf([=](DagBuilder& b) {
        const bool last = layout == ImageLayout::Nhwc;
        using Shape = std::vector<std::int64_t>;
        const Tensor data = b.placeholder("data", last ? Shape{1, 4, 7, 10, 8} : Shape{1, 8, 4, 7, 10}, DType::F32);
        const Tensor weight = b.placeholder("weight", last ? Shape{3, 3, 3, 8, 24} : Shape{24, 8, 3, 3, 3}, DType::F32);
        Conv3dParams p;
        p.layout = layout;
        p.padding = {1, 1, 1, 1, 1, 1};
        return biasRelu(b, conv3d(b, data, weight, p, NameEra::Nested), last ? 4 : 1);
    });
}

DagPtr ofImage(const std::function<Tensor(DagBuilder&, Tensor)>& f)
{
    return dagOf([&](DagBuilder& b) { return f(b, b.placeholder("x", {1, 12, 13, 20}, DType::F32)); });
}

DagPtr pool(PoolKind kind)
{
    return ofImage([kind](DagBuilder& b, Tensor x) {
        Pool2dParams p;
        p.layout = ImageLayout::Nhwc;
        p.kernel = {3, 3};
        p.strides = {2, 2};
        p.padding = {1, 1, 1, 1};
        return pool2d(b, x, kind, p);
    });
}

} // namespace

DagPtr convLayer(const ConvLayer& l)
{
    return conv(ImageLayout::Nhwc, l.size, l.channels, l.filters, l.kernel, l.stride, (l.kernel - 1) / 2, l.depthwise);
}

std::vector<DagCase> dagCases()
{
    std::vector<DagCase> cases;
    const auto addCase = [&](const char* name, DagPtr dag) { cases.push_back({name, std::move(dag)}); };
    addCase("convolution 3x3 NHWC", conv(ImageLayout::Nhwc, 14, 16, 32, 3, 1, 1));
    addCase("convolution 3x3 NCHW", conv(ImageLayout::Nchw, 14, 16, 32, 3, 1, 1));
    addCase("convolution 3x3 of stride 2", conv(ImageLayout::Nhwc, 15, 8, 24, 3, 2, 1));
    addCase("convolution 7x7 of stride 2 NCHW", conv(ImageLayout::Nchw, 28, 3, 32, 7, 2, 3));
    addCase("convolution 1x1", conv(ImageLayout::Nchw, 7, 32, 64, 1, 1, 0));
    addCase("convolution of odd sizes", conv(ImageLayout::Nhwc, 9, 5, 19, 3, 1, 1));
    addCase("convolution 3x3x3 NDHWC", conv3d(ImageLayout::Nhwc));
    addCase("convolution 3x3x3 NCDHW", conv3d(ImageLayout::Nchw));
    addCase("depthwise NHWC", conv(ImageLayout::Nhwc, 14, 32, 32, 3, 1, 1, true));
    addCase("depthwise NCHW of stride 2", conv(ImageLayout::Nchw, 14, 8, 8, 3, 2, 1, true));
    addCase("dense", dagOf([](DagBuilder& b) {
                return biasRelu(b,
                                dense(b, b.placeholder("x", {3, 70}, DType::F32),
                                      b.placeholder("w", {45, 70}, DType::F32), NameEra::Nested),
                                1);
            }));
    addCase("batched product", dagOf([](DagBuilder& b) {
                return matmul(b, b.placeholder("x", {2, 9, 16}, DType::F32),
                              b.placeholder("y", {2, 16, 33}, DType::F32), {}, NameEra::Nested);
            }));
    addCase("maximum pooling", pool(PoolKind::Max));
    addCase("average pooling", pool(PoolKind::Average));
    addCase("global pooling", ofImage([](DagBuilder& b, Tensor x) {
                return compute::globalPool<2>(b, x, PoolKind::Average, ImageLayout::Nhwc);
            }));
    addCase("softmax", dagOf([](DagBuilder& b) { return softmax(b, b.placeholder("x", {5, 37}, DType::F32), 1); }));
    addCase("transposition", ofImage([](DagBuilder& b, Tensor x) { return transpose(b, x, {0, 3, 1, 2}); }));
    addCase("reshape", ofImage([](DagBuilder& b, Tensor x) { return reshape(b, x, {12, 260}); }));
    addCase("padding", ofImage([](DagBuilder& b, Tensor x) {
                return pad(b, x, {0, 1, 2, 0}, {0, 2, 1, 3}, PadMode::Constant, 0.5);
            }));
    addCase("concatenation", dagOf([](DagBuilder& b) {
                const std::vector<Tensor> parts{b.placeholder("x", {2, 7, 9}, DType::F32),
                                                b.placeholder("y", {2, 5, 9}, DType::F32)};
                return concatenate(b, parts, 1);
            }));
    for (const auto& [name, op] :
         {std::pair{"gelu", Unary::Gelu}, {"sigmoid", Unary::Sigmoid}, {"tanh", Unary::Tanh}, {"mish", Unary::Mish}})
        addCase(name, ofImage([op = op](DagBuilder& b, Tensor x) { return unary(b, op, x); }));
    addCase("layer norm", dagOf([](DagBuilder& b) {
                return layerNorm(b, b.placeholder("x", {6, 40}, DType::F32), b.placeholder("g", {40}, DType::F32),
                                 b.placeholder("b", {40}, DType::F32), 1, 1e-5);
            }));
    return cases;
}

std::vector<DagCase> smallDagCases()
{
    return {
        {"product", dagOf([](DagBuilder& b) {
             return matmul(b, b.placeholder("x", {7, 6}, DType::F32), b.placeholder("y", {6, 10}, DType::F32), {},
                           NameEra::Nested);
         })},
        {"padded convolution", conv(ImageLayout::Nhwc, 7, 3, 5, 3, 1, 1)},
        {"strided convolution", conv(ImageLayout::Nchw, 9, 2, 4, 3, 2, 1)},
        {"depthwise convolution", conv(ImageLayout::Nhwc, 6, 9, 9, 3, 1, 1, true)},
        {"softmax", dagOf([](DagBuilder& b) {
             return softmax(b, b.placeholder("x", {3, 11}, DType::F32), 1);
         })},
        {"transposition", dagOf([](DagBuilder& b) {
             return unary(b, Unary::Sigmoid, transpose(b, b.placeholder("x", {4, 9, 5}, DType::F32), {2, 0, 1}));
         })},
    };
}

} // namespace lathe::test
