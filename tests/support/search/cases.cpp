#include "tests/support/search/cases.h"

#include "core/compute/definitions/conv2d.h"
#include "core/compute/definitions/dense.h"
#include "core/compute/definitions/elementwise.h"
#include "core/compute/definitions/winograd.h"

#include <functional>
#include <map>

namespace lathe::test {
namespace {

using compute::DagBuilder;
using compute::NameEra;
using compute::Tensor;
using search::SearchAlternative;

struct Layer
{
    std::int64_t size, in, out, kernel, stride;
};

Result<SearchAlternative> finish(const std::string& name, DagBuilder&& builder, Tensor output)
{
    LATHE_TRY_ASSIGN(const compute::DagPtr dag, std::move(builder).finish({output}));
    // Everything but the data is a weight.
    SearchAlternative alternative{name, dag, std::vector<bool>(dag->inputs.size(), true), name == "direct"};
    alternative.constantInputs[0] = false;
    return alternative;
}

Tensor biasRelu(DagBuilder& b, Tensor x)
{
    const Tensor bias = b.placeholder("bias", {1, 1, 1, b.shape(x).back()}, DType::F32);
    return unary(b, compute::Unary::Relu, binary(b, compute::Binary::Add, x, bias));
}

compute::Conv2dParams parameters(const Layer& l)
{
    compute::Conv2dParams p;
    p.layout = compute::ImageLayout::Nhwc;
    p.strides = {l.stride, l.stride};
    const std::int64_t pad = l.kernel / 2;
    p.padding = {pad, pad, pad, pad};
    return p;
}

Result<std::vector<SearchAlternative>> convolution(const Layer& l)
{
    std::vector<SearchAlternative> all;
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, l.size, l.size, l.in}, DType::F32);
    const Tensor weight = b.placeholder("weight", {l.kernel, l.kernel, l.in, l.out}, DType::F32);
    const Tensor y = biasRelu(b, conv2d(b, data, weight, parameters(l), NameEra::Nested));
    LATHE_TRY_ASSIGN(SearchAlternative direct, finish("direct", std::move(b), y));
    all.push_back(std::move(direct));
    for (const std::int64_t m : {2, 4}) {
        if (!compute::winogradApplies(DType::F32, l.kernel, l.kernel, parameters(l)))
            continue;
        DagBuilder w;
        const Tensor input = w.placeholder("data", {1, l.size, l.size, l.in}, DType::F32);
        const Tensor transformed = w.placeholder("weight", {m + 2, m + 2, l.out, l.in}, DType::F32);
        const Tensor z = biasRelu(w, conv2dWinograd(w, input, transformed, m, parameters(l), NameEra::Nested));
        LATHE_TRY_ASSIGN(SearchAlternative winograd, finish("winograd:" + std::to_string(m), std::move(w), z));
        all.push_back(std::move(winograd));
    }
    return all;
}

Result<std::vector<SearchAlternative>> depthwise(const Layer& l)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, l.size, l.size, l.in}, DType::F32);
    const Tensor weight = b.placeholder("weight", {l.kernel, l.kernel, l.in, 1}, DType::F32);
    const Tensor y = biasRelu(b, depthwiseConv2d(b, data, weight, parameters(l), NameEra::Nested));
    LATHE_TRY_ASSIGN(SearchAlternative direct, finish("direct", std::move(b), y));
    return std::vector{std::move(direct)};
}

Result<std::vector<SearchAlternative>> dense(const Layer& l)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {l.size, l.in}, DType::F32),
                 weight = b.placeholder("weight", {l.out, l.in}, DType::F32);
    const Tensor bias = b.placeholder("bias", {1, l.out}, DType::F32);
    const Tensor y = binary(b, compute::Binary::Add, compute::dense(b, data, weight, NameEra::Nested), bias);
    LATHE_TRY_ASSIGN(SearchAlternative direct, finish("direct", std::move(b), y));
    return std::vector{std::move(direct)};
}

using Maker = Result<std::vector<SearchAlternative>> (*)(const Layer&);
struct Case
{
    std::string name;
    Maker make;
    Layer layer;
};

const std::vector<Case>& launchLayers()
{
    static const std::vector<Case> all = {
        {"dense of one", dense, {1, 512, 1000, 1, 1}},
        {"conv3x3 of 56", convolution, {56, 64, 64, 3, 1}},
        {"conv3x3 /2 of 14", convolution, {14, 256, 512, 3, 2}},
        {"conv3x3 of 7", convolution, {7, 512, 512, 3, 1}},
    };
    return all;
}

const std::vector<Case>& cases()
{
    static const std::vector<Case> all = {
        {"conv3x3", convolution, {28, 128, 128, 3, 1}}, // resnet-18
        {"conv1x1", convolution, {14, 96, 576, 1, 1}}, // mobilenet-v2
        {"conv7x7", convolution, {224, 3, 64, 7, 2}}, // resnet-18's first
        {"depthwise", depthwise, {56, 144, 144, 3, 1}}, // mobilenet-v2
        {"dense", dense, {16, 512, 1024, 1, 1}}, // a batch of 16
    };
    return all;
}

std::vector<std::string> namesOf(const std::vector<Case>& cases)
{
    std::vector<std::string> list;
    for (const Case& c : cases)
        list.push_back(c.name);
    return list;
}

} // namespace

const std::vector<std::string>& searchCaseNames()
{
    static const std::vector<std::string> names = namesOf(cases());
    return names;
}

const std::vector<std::string>& launchCaseNames()
{
    static const std::vector<std::string> names = namesOf(launchLayers());
    return names;
}

Result<search::SearchTask> searchCase(const std::string& name, const std::string& target)
{
    std::string known;
    std::vector<Case> all = cases();
    all.insert(all.end(), launchLayers().begin(), launchLayers().end());
    for (const Case& c : all) {
        known += (known.empty() ? "" : ", ") + c.name;
        if (c.name != name)
            continue;
        search::SearchTask task;
        task.key = task.name = name;
        LATHE_TRY_ASSIGN(task.target, Target::parse(target));
        task.hardware = defaultHardware(task.target);
        LATHE_TRY_ASSIGN(task.alternatives, c.make(c.layer));
        return task;
    }
    return makeError(Errc::NotFound, "case '" + name + "' is not one of " + known);
}

} // namespace lathe::test
