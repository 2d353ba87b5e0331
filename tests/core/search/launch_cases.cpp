#include "tests/core/search/launch_cases.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "core/compute/definitions/winograd.h"
#include "tests/core/search/lathe_tasks.h"

#include <QtGlobal>

#include <algorithm>

namespace lathe::test {

using compute::DagBuilder;
using compute::ImageLayout;
using compute::NameEra;
using compute::Tensor;
using search::SearchAlternative;

namespace {

SearchAlternative denseOf(std::int64_t m, std::int64_t k, std::int64_t n, DType dtype = DType::F32)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {m, k}, dtype), weight = b.placeholder("weight", {n, k}, dtype);
    Tensor y = compute::dense(b, data, weight, NameEra::Nested);
    y = binary(b, compute::Binary::Add, y, b.placeholder("bias", {1, n}, dtype));
    return finish("direct", std::move(b), unary(b, compute::Unary::Relu, y));
}

/// No input is constant, nothing follows.
SearchAlternative product(std::vector<std::int64_t> a, std::vector<std::int64_t> c, bool transposeB)
{
    DagBuilder b;
    compute::MatmulParams p;
    p.transposeB = transposeB;
    const Tensor x = b.placeholder("a", std::move(a), DType::F32), y = b.placeholder("b", std::move(c), DType::F32);
    SearchAlternative made = finish("direct", std::move(b), matmul(b, x, y, p, NameEra::Nested));
    made.constantInputs.assign(made.constantInputs.size(), false);
    return made;
}

struct Image
{
    ImageLayout layout = ImageLayout::Nchw;
    std::int64_t height = 8, width = 8, in = 4, out = 8, kernel = 3, stride = 1, padding = 1, dilation = 1, groups = 1;
    bool epilogue = true;
    DType dtype = DType::F32;
};

SearchAlternative convolution(const Image& i)
{
    DagBuilder b;
    compute::Conv2dParams p;
    p.layout = i.layout;
    p.strides = {i.stride, i.stride};
    p.padding = {i.padding, i.padding, i.padding, i.padding};
    p.dilation = {i.dilation, i.dilation};
    p.groups = i.groups;
    const bool isLast = i.layout == ImageLayout::Nhwc;
    const std::int64_t each = i.in / i.groups;
    using Shape = std::vector<std::int64_t>;
    const Tensor data = b.placeholder(
        "data", isLast ? Shape{1, i.height, i.width, i.in} : Shape{1, i.in, i.height, i.width}, i.dtype);
    const Tensor weight = b.placeholder(
        "weight", isLast ? Shape{i.kernel, i.kernel, each, i.out} : Shape{i.out, each, i.kernel, i.kernel}, i.dtype);
    Tensor y = conv2d(b, data, weight, p, NameEra::Nested);
    if (i.epilogue) {
        const Shape bias = isLast ? Shape{1, 1, 1, i.out} : Shape{1, i.out, 1, 1};
        y = binary(b, compute::Binary::Add, y, b.placeholder("bias", bias, i.dtype));
        y = unary(b, compute::Unary::Relu, y);
    }
    return finish("direct", std::move(b), y);
}

SearchAlternative depthwise(ImageLayout layout, std::int64_t size, std::int64_t channels, std::int64_t stride)
{
    DagBuilder b;
    compute::Conv2dParams p;
    p.layout = layout;
    p.strides = {stride, stride};
    p.padding = {1, 1, 1, 1};
    const bool isLast = layout == ImageLayout::Nhwc;
    using Shape = std::vector<std::int64_t>;
    const Tensor data = b.placeholder("data", isLast ? Shape{1, size, size, channels} : Shape{1, channels, size, size},
                                      DType::F32);
    const Tensor weight = b.placeholder("weight", isLast ? Shape{3, 3, channels, 1} : Shape{channels, 1, 3, 3},
                                        DType::F32);
    Tensor y = depthwiseConv2d(b, data, weight, p, NameEra::Nested);
    return finish("direct", std::move(b), unary(b, compute::Unary::Relu, y));
}

SearchAlternative pooled(ImageLayout layout, compute::PoolKind kind, std::int64_t size, std::int64_t channels)
{
    DagBuilder b;
    compute::Pool2dParams p;
    p.layout = layout;
    p.kernel = {3, 3};
    p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    using Shape = std::vector<std::int64_t>;
    const bool isLast = layout == ImageLayout::Nhwc;
    const Tensor data = b.placeholder("data", isLast ? Shape{1, size, size, channels} : Shape{1, channels, size, size},
                                      DType::F32);
    return finish("direct", std::move(b), pool2d(b, data, kind, p));
}

SearchAlternative globallyPooled(ImageLayout layout, std::int64_t channels)
{
    DagBuilder b;
    using Shape = std::vector<std::int64_t>;
    const bool isLast = layout == ImageLayout::Nhwc;
    const Tensor data = b.placeholder("data", isLast ? Shape{1, 7, 7, channels} : Shape{1, channels, 7, 7}, DType::F32);
    return finish("direct", std::move(b), compute::globalPool<2>(b, data, compute::PoolKind::Average, layout));
}

SearchAlternative softmaxOn(std::vector<std::int64_t> shape)
{
    DagBuilder b;
    return finish("direct", std::move(b), softmax(b, b.placeholder("data", std::move(shape), DType::F32), -1));
}

SearchAlternative reduced(compute::Reduction op, std::vector<std::int64_t> shape, std::vector<std::int64_t> axes,
                          bool keepsAxes = true)
{
    DagBuilder b;
    return finish("direct", std::move(b),
                  reduction(b, op, b.placeholder("data", std::move(shape), DType::F32), std::move(axes), keepsAxes));
}

SearchAlternative position(std::int64_t rows, std::int64_t n)
{
    DagBuilder b;
    return finish("direct", std::move(b),
                  argReduction(b, true, b.placeholder("data", {rows, n}, DType::F32), 1, false));
}

SearchAlternative elementwise(std::vector<std::int64_t> shape, DType dtype = DType::F32)
{
    DagBuilder b;
    const Tensor x = b.placeholder("x", shape, dtype), y = b.placeholder("y", shape, dtype);
    return finish("direct", std::move(b), unary(b, compute::Unary::Relu, binary(b, compute::Binary::Multiply, x, y)));
}

SearchAlternative joined()
{
    DagBuilder b;
    const std::vector<Tensor> parts = {b.placeholder("x", {1, 5, 6, 8}, DType::F32),
                                       b.placeholder("y", {1, 5, 6, 4}, DType::F32)};
    return finish("direct", std::move(b), unary(b, compute::Unary::Relu, compute::concatenate(b, parts, 3)));
}

std::vector<LaunchCase> makeCases()
{
    constexpr ImageLayout kFirst = ImageLayout::Nchw, kLast = ImageLayout::Nhwc;
    return {
        {"dense", [] { return denseOf(32, 48, 64); }},
        {"dense of one sample", [] { return denseOf(1, 128, 40); }},
        {"dense of primes", [] { return denseOf(13, 37, 29); }},
        {"dense of one step", [] { return denseOf(8, 1, 16); }},
        {"dense to one", [] { return denseOf(1, 64, 1); }},
        {"dense in halves", [] { return denseOf(8, 32, 24, DType::F16); }},
        {"product",
         [] {
             return product({24, 40}, {40, 32}, false);
         }},
        {"product by a transposed one",
         [] {
             return product({24, 40}, {32, 40}, true);
         }},
        {"batched product",
         [] {
             return product({3, 16, 20}, {3, 20, 12}, false);
         }},
        {"batched product by a transposed one",
         [] {
             return product({2, 10, 32}, {2, 14, 32}, true);
         }},
        {"3x3 NCHW", [] { return convolution({}); }},
        {"3x3 NHWC", [] { return convolution({.layout = kLast, .in = 8, .out = 16}); }},
        {"3x3 /2 NCHW", [] { return convolution({.height = 9, .width = 7, .stride = 2}); }},
        {"3x3 /2 NHWC", [] { return convolution({.layout = kLast, .height = 11, .in = 4, .out = 12, .stride = 2}); }},
        {"7x7 of 3 channels",
         [] {
             return convolution(
                 {.layout = kLast, .height = 14, .width = 14, .in = 3, .kernel = 7, .stride = 2, .padding = 3});
         }},
        {"1x1 NHWC, nothing after",
         [] {
             return convolution({.layout = kLast,
                                 .height = 7,
                                 .width = 7,
                                 .in = 64,
                                 .out = 24,
                                 .kernel = 1,
                                 .padding = 0,
                                 .epilogue = false});
         }},
        {"1x1 NCHW",
         [] { return convolution({.height = 7, .width = 7, .in = 32, .out = 20, .kernel = 1, .padding = 0}); }},
        {"3x3 dilated", [] { return convolution({.layout = kLast, .padding = 2, .dilation = 2}); }},
        {"3x3 in groups NCHW", [] { return convolution({.in = 8, .out = 12, .groups = 4}); }},
        {"3x3 in groups NHWC", [] { return convolution({.layout = kLast, .in = 8, .out = 8, .groups = 2}); }},
        {"3x3 of primes", [] { return convolution({.layout = kLast, .height = 5, .width = 13, .in = 7, .out = 11}); }},
        {"3x3 of many channels",
         [] { return convolution({.layout = kLast, .height = 4, .width = 4, .in = 64, .out = 16}); }},
        {"depthwise NCHW", [] { return depthwise(kFirst, 9, 6, 1); }},
        {"depthwise NHWC", [] { return depthwise(kLast, 9, 8, 2); }},
        {"max pool NHWC", [] { return pooled(kLast, compute::PoolKind::Max, 13, 6); }},
        {"average pool NCHW", [] { return pooled(kFirst, compute::PoolKind::Average, 12, 5); }},
        {"global pool NHWC", [] { return globallyPooled(kLast, 24); }},
        {"global pool NCHW", [] { return globallyPooled(kFirst, 10); }},
        {"softmax",
         [] {
             return softmaxOn({3, 100});
         }},
        {"softmax of short rows",
         [] {
             return softmaxOn({40, 9});
         }},
        {"layer norm", [] { return layerNorm(5, 96); }},
        {"sum of rows",
         [] {
             return reduced(compute::Reduction::Sum, {6, 200}, {1});
         }},
        {"sum to a number without axes",
         [] {
             return reduced(compute::Reduction::Sum, {3, 50}, {0, 1}, false);
         }},
        {"maximum of all", [] { return reduced(compute::Reduction::Max, {300}, {0}); }},
        {"mean of columns",
         [] {
             return reduced(compute::Reduction::Mean, {64, 20}, {0});
         }},
        {"position", [] { return position(4, 90); }},
        {"elements",
         [] {
             return elementwise({3, 5, 16});
         }},
        {"elements of odd sizes",
         [] {
             return elementwise({7, 13});
         }},
        {"halves",
         [] {
             return elementwise({4, 64}, DType::F16);
         }},
        {"one element", [] { return elementwise({1}); }},
        {"concatenation", joined},
        {"transposition", [] { return transposition(12, 20); }},
        {"winograd of 2", [] { return winograd(6, 8, 2); }},
        {"winograd of 4, transforms in one pass", [] { return winograd(8, 4, 4, false); }},
    };
}

} // namespace

const std::vector<LaunchCase>& launchCases()
{
    static const std::vector<LaunchCase> cases = makeCases();
    return cases;
}

SearchAlternative launchCase(const std::string& name)
{
    const auto found = std::find_if(launchCases().begin(), launchCases().end(),
                                    [&name](const LaunchCase& c) { return c.name == name; });
    if (found == launchCases().end())
        qFatal("there is no case '%s'", name.c_str());
    return found->make();
}

search::Genome drawnGenome(const search::PartedSketch& sketch, Random& random)
{
    search::Genome genome(sketch.parameters().size());
    for (std::size_t part = 0; part < sketch.partCount(); ++part) {
        const auto [first, count] = sketch.genesOf(part);
        if (!sketch.draw(part, random, std::span(genome).subspan(first, count)))
            return {};
    }
    return genome;
}

} // namespace lathe::test
