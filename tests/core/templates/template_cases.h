#pragma once

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/winograd.h"
#include "core/search/search_task.h"
#include "core/templates/task_template.h"
#include "tests/support/must.h"

#include <string>

namespace lathe::test {

/// A convolution as a network has it; what is behind it, too.
struct ConvCase
{
    compute::ImageLayout layout = compute::ImageLayout::Nchw;
    std::int64_t batch = 1, size = 7, in = 6, out = 12, kernel = 3, stride = 1, padding = 1;
    bool depthwise = false, residual = false, relu = true;
    std::int64_t dilation = 1;
};

inline search::SearchAlternative finished(compute::DagBuilder&& builder, compute::Tensor output, std::size_t weights)
{
    std::vector<compute::Tensor> inputs;
    const compute::DagPtr dag = must(std::move(builder).finish({output}, &inputs));
    search::SearchAlternative alternative{"direct", dag, {}, true};
    for (std::size_t i = 0; i < dag->inputs.size(); ++i)
        alternative.constantInputs.push_back(i == weights);
    return alternative;
}

inline compute::Conv2dParams parametersOf(const ConvCase& c)
{
    compute::Conv2dParams p;
    p.layout = c.layout;
    p.strides = {c.stride, c.stride};
    p.padding = {c.padding, c.padding, c.padding, c.padding};
    p.dilation = {c.dilation, c.dilation};
    return p;
}

/// By winograd's transforms, `m` rows and columns of the image at a time; 0: directly.
inline search::SearchAlternative convOf(const ConvCase& c, std::int64_t m = 0, bool splitTransforms = false)
{
    using namespace compute;
    DagBuilder b;
    const bool nchw = c.layout == ImageLayout::Nchw;
    const auto image = [&](std::int64_t channels, std::int64_t size) {
        return nchw ? std::vector{c.batch, channels, size, size} : std::vector{c.batch, size, size, channels};
    };
    const Tensor data = b.placeholder("data", image(c.in, c.size), DType::F32);
    std::vector<std::int64_t> kernel = nchw ? std::vector{c.out, c.in, c.kernel, c.kernel}
                                            : std::vector{c.kernel, c.kernel, c.in, c.out};
    if (c.depthwise)
        kernel = nchw ? std::vector{c.in, std::int64_t{1}, c.kernel, c.kernel}
                      : std::vector{c.kernel, c.kernel, c.in, std::int64_t{1}};
    if (m > 0)
        kernel = {m + 2, m + 2, c.out, c.in};
    const Tensor weight = b.placeholder("weight", kernel, DType::F32);
    const Conv2dParams p = parametersOf(c);
    Tensor out = m > 0         ? conv2dWinograd(b, data, weight, m, p, NameEra::Nested, splitTransforms)
                 : c.depthwise ? depthwiseConv2d(b, data, weight, p, NameEra::Nested)
                               : conv2d(b, data, weight, p, NameEra::Nested);
    const std::vector<std::int64_t> shape = b.shape(out);
    if (c.residual) {
        const Tensor other = b.placeholder("residual", shape, DType::F32);
        out = b.compute("add", shape, {}, "elemwise",
                        [&](const std::vector<ir::Expr>& a) { return b.at(out, a) + b.at(other, a); });
    }
    if (c.relu)
        out = b.compute("relu", shape, {}, "elemwise",
                        [&](const std::vector<ir::Expr>& a) { return ir::max(b.at(out, a), ir::floatImm(0)); });
    search::SearchAlternative alternative = finished(std::move(b), out, 1);
    if (m > 0)
        alternative.name = "winograd:" + std::to_string(m);
    return alternative;
}

inline search::SearchAlternative denseOf(std::int64_t m, std::int64_t n, std::int64_t k, bool relu)
{
    using namespace compute;
    DagBuilder b;
    const Tensor data = b.placeholder("data", {m, k}, DType::F32);
    const Tensor weight = b.placeholder("weight", {n, k}, DType::F32);
    Tensor out = dense(b, data, weight, NameEra::Nested);
    if (relu)
        out = b.compute("relu", {m, n}, {}, "elemwise",
                        [&](const std::vector<ir::Expr>& a) { return ir::max(b.at(out, a), ir::floatImm(0)); });
    return finished(std::move(b), out, 1);
}

inline search::SearchTask taskOf(search::SearchAlternative alternative, const char* target)
{
    search::SearchTask task;
    task.key = "0123";
    task.name = "task";
    task.flop = 1;
    task.alternatives.push_back(std::move(alternative));
    task.target = must(Target::parse(target));
    task.hardware = defaultHardware(task.target);
    return task;
}

} // namespace lathe::test
