#include "tests/core/search/lathe_tasks.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/pool.h"
#include "core/compute/definitions/reduction.h"
#include "core/compute/definitions/softmax.h"
#include "core/compute/definitions/transform.h"
#include "core/compute/definitions/winograd.h"

#include <QtGlobal>

namespace lathe::test {

using namespace search;
using compute::DagBuilder;
using compute::NameEra;
using compute::Tensor;

SearchAlternative finish(const char* name, DagBuilder&& builder, Tensor output)
{
    auto dag = std::move(builder).finish({output});
    SearchAlternative alternative{name, dag ? *dag : nullptr, {}, true};
    if (!alternative.dag)
        qFatal("%s", dag.error().message.c_str());
    // Everything but the first input is a weight here.
    alternative.constantInputs.assign(alternative.dag->inputs.size(), true);
    alternative.constantInputs[0] = false;
    return alternative;
}

Tensor addBiasRelu(DagBuilder& b, Tensor x)
{
    const Tensor bias = b.placeholder("bias", {1, 1, 1, b.shape(x).back()}, DType::F32);
    return unary(b, compute::Unary::Relu, binary(b, compute::Binary::Add, x, bias));
}

SearchAlternative conv(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                       bool epilogue)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, size, size, in}, DType::F32);
    const Tensor weight = b.placeholder("weight", {kernel, kernel, in, out}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.strides = {stride, stride};
    const std::int64_t pad = kernel / 2;
    p.padding = {pad, pad, pad, pad};
    Tensor y = conv2d(b, data, weight, p, NameEra::Nested);
    if (epilogue)
        y = addBiasRelu(b, y);
    return finish("direct", std::move(b), y);
}

SearchAlternative winograd(std::int64_t size, std::int64_t channels, std::int64_t m, bool split)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, size, size, channels}, DType::F32);
    const Tensor weight = b.placeholder("weight", {m + 2, m + 2, channels, channels}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.padding = {1, 1, 1, 1};
    const Tensor y = addBiasRelu(b, conv2dWinograd(b, data, weight, m, p, NameEra::Nested, split));
    return finish(m == 2 ? "winograd:2" : "winograd:4", std::move(b), y);
}

SearchAlternative dense(std::int64_t in, std::int64_t out)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, in}, DType::F32),
                 weight = b.placeholder("weight", {out, in}, DType::F32);
    const Tensor bias = b.placeholder("bias", {1, out}, DType::F32);
    const Tensor y = binary(b, compute::Binary::Add, compute::dense(b, data, weight, NameEra::Nested), bias);
    return finish("direct", std::move(b), y);
}

SearchAlternative depthwise(std::int64_t size, std::int64_t channels, std::int64_t stride)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, size, size, channels}, DType::F32);
    const Tensor weight = b.placeholder("weight", {3, 3, channels, 1}, DType::F32);
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.strides = {stride, stride};
    p.padding = {1, 1, 1, 1};
    const Tensor y = addBiasRelu(b, depthwiseConv2d(b, data, weight, p, NameEra::Nested));
    return finish("direct", std::move(b), y);
}

SearchAlternative maxPool()
{
    DagBuilder b;
    compute::Pool2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.kernel = {3, 3};
    p.strides = {2, 2};
    p.padding = {1, 1, 1, 1};
    const Tensor y = pool2d(b, b.placeholder("data", {1, 112, 112, 64}, DType::F32), compute::PoolKind::Max, p);
    return finish("direct", std::move(b), y);
}

SearchAlternative globalPool()
{
    DagBuilder b;
    const Tensor y = compute::globalPool<2>(b, b.placeholder("data", {1, 7, 7, 512}, DType::F32),
                                            compute::PoolKind::Average, compute::ImageLayout::Nhwc);
    return finish("direct", std::move(b), y);
}

SearchAlternative softmaxOf(std::int64_t n)
{
    DagBuilder b;
    const Tensor y = softmax(b, b.placeholder("data", {1, n}, DType::F32), -1);
    return finish("direct", std::move(b), y);
}

SearchAlternative softmaxOfRows(std::int64_t rows, std::int64_t n)
{
    DagBuilder b;
    const Tensor y = softmax(b, b.placeholder("data", {2, rows, n}, DType::F32), -1);
    return finish("direct", std::move(b), y);
}

/// (x - mean) / sqrt(variance + eps) * scale, as importers write it.
SearchAlternative layerNorm(std::int64_t rows, std::int64_t n)
{
    using compute::Binary;
    DagBuilder b;
    const Tensor x = b.placeholder("data", {rows, n}, DType::F32);
    const Tensor difference = binary(b, Binary::Subtract, x, reduction(b, compute::Reduction::Mean, x, {1}, true));
    const Tensor variance = reduction(b, compute::Reduction::Mean, binary(b, Binary::Multiply, difference, difference),
                                      {1}, true);
    const Tensor inverse = unary(b, compute::Unary::Rsqrt, binaryScalar(b, Binary::Add, variance, 1e-6));
    const Tensor y = binary(b, Binary::Multiply, binary(b, Binary::Multiply, difference, inverse),
                            b.placeholder("scale", {1, n}, DType::F32));
    return finish("direct", std::move(b), y);
}

/// [n, m] read as [m, n].
SearchAlternative transposition(std::int64_t n, std::int64_t m)
{
    DagBuilder b;
    const Tensor y = unary(b, compute::Unary::Relu, transpose(b, b.placeholder("data", {m, n}, DType::F32), {1, 0}));
    return finish("direct", std::move(b), y);
}

SearchTask task(std::vector<SearchAlternative> alternatives, const char* target)
{
    SearchTask t;
    t.key = t.name = "task";
    t.alternatives = std::move(alternatives);
    t.target = *Target::parse(target);
    t.hardware = defaultHardware(t.target);
    return t;
}
std::vector<Candidate> proposals(Policy& policy, std::uint64_t round, std::int32_t count, Executor& executor)
{
    auto candidates = policy.propose(round, count, executor);
    if (!candidates)
        qFatal("%s", candidates.error().message.c_str());
    return *std::move(candidates);
}

} // namespace lathe::test
