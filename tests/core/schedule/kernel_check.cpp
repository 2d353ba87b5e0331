#include "kernel_check.h"

#include "core/compute/interpret.h"
#include "core/ir/interpret.h"
#include "core/ir/interpret_launches.h"
#include "core/ir/scalar.h"
#include "core/ir/scratch.h"
#include "core/support/random.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

namespace lathe::schedule::test {

using compute::DagBuilder;
using compute::Tensor;
using ir::Expr;
using Exprs = std::vector<Expr>;

namespace {

std::vector<std::byte> randomTensor(const ArgSpec& spec, Random& random)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(spec.map.logicalCount() * sizeOf(spec.dtype)));
    for (std::int64_t i = 0; i < spec.map.logicalCount(); ++i) {
        const auto v = static_cast<std::int64_t>(random.below(9)) - 4;
        ir::storeScalar(bytes.data() + i * sizeOf(spec.dtype), spec.dtype,
                        {static_cast<double>(v) * 0.25, v < 0 ? -v : v});
    }
    return bytes;
}

} // namespace

std::string checkKernel(const State& state, std::uint64_t seed, const LowerOptions& options, const RunKernel& run)
{
    const auto lowered = lower(state, options);
    if (!lowered)
        return "lower: " + lowered.error().message;
    const bool isLaunched = options.form == KernelForm::Launches;
    const auto phases = isLaunched ? Result<ir::NestInterpreter>(Error{}) : ir::NestInterpreter::compile(lowered->nest);
    const auto launches = isLaunched ? ir::LaunchInterpreter::compile(lowered->nest)
                                     : Result<ir::LaunchInterpreter>(Error{});
    if (isLaunched ? !launches : !phases)
        return "compile: " + (isLaunched ? launches.error() : phases.error()).message;
    const auto reference = compute::Interpreter::compile(state.baseDag());
    if (!reference)
        return "reference: " + reference.error().message;

    Random random(seed);
    std::vector<std::vector<std::byte>> logical;
    std::vector<std::span<const std::byte>> inputs;
    for (const ArgSpec& spec : lowered->parameters)
        if (spec.role != ArgRole::Output)
            logical.push_back(randomTensor(spec, random));
    inputs.assign(logical.begin(), logical.end());
    const auto expected = reference->run(inputs);
    if (!expected)
        return "reference: " + expected.error().message;

    for (const std::uint32_t parts : {1u, 2u, 3u}) {
        if (isLaunched && parts > 1)
            break;
        std::vector<std::vector<std::byte>> physical;
        for (std::size_t p = 0; p < lowered->parameters.size(); ++p) {
            const ArgSpec& spec = lowered->parameters[p];
            const auto bytes = static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype));
            physical.emplace_back(bytes, std::byte{0});
            if (spec.role == ArgRole::Output)
                continue;
            const IndexMap plain = IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank);
            transformLayout(plain, logical[p].data(), spec.map, physical[p].data(), spec.dtype);
        }
        const std::vector<std::span<std::byte>> arguments(physical.begin(), physical.end());
        if (run) {
            if (const std::string wrong = run(lowered->nest, arguments); !wrong.empty())
                return wrong;
        } else if (const auto ran = isLaunched ? launches->run(arguments) : phases->run(arguments, parts); !ran)
            return fmt::format("{} parts: {}\n{}", parts, ran.error().message, ir::print(lowered->nest));
        for (std::size_t p = logical.size(); p < physical.size(); ++p) {
            const ArgSpec& spec = lowered->parameters[p];
            std::vector<std::byte> result(static_cast<std::size_t>(spec.map.logicalCount() * sizeOf(spec.dtype)));
            const IndexMap plain = IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank);
            transformLayout(spec.map, physical[p].data(), plain, result.data(), spec.dtype);
            for (std::int64_t i = 0; i < spec.map.logicalCount(); ++i) {
                const auto value = [&](const std::vector<std::byte>& bytes) {
                    const ir::Scalar s = ir::loadScalar(bytes.data() + i * sizeOf(spec.dtype), spec.dtype);
                    return isFloat(spec.dtype) ? s.f : static_cast<double>(s.i);
                };
                const double got = value(result);
                const double want = value((*expected)[p - logical.size()]);
                if (!(std::fabs(got - want) <= 1e-4 * std::max(1.0, std::fabs(want)))
                    && !(std::isnan(got) && std::isnan(want)))
                    return fmt::format("{} parts: {} at {} is {} instead of {}\n{}", parts, spec.name, i, got, want,
                                       ir::print(lowered->nest));
            }
        }
    }
    return {};
}

compute::DagPtr convBiasRelu(std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t filters,
                             std::int64_t kernel, std::int64_t stride, std::int64_t padding)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, height, width, channels}, DType::F32);
    const auto imm = [](std::int64_t v) { return ir::intImm(v); };
    const Tensor pad = b.compute(
        "pad", {1, height + 2 * padding, width + 2 * padding, channels}, {"i0", "i1", "i2", "i3"}, "",
        [&](const Exprs& i) {
            const Expr inside = i[1] >= imm(padding) && i[1] < imm(height + padding) && i[2] >= imm(padding)
                                && i[2] < imm(width + padding);
            const Expr value = b.at(data, {i[0], i[1] - imm(padding), i[2] - imm(padding), i[3]});
            return padding > 0 ? ir::ifThenElse(inside, value, ir::floatImm(0)) : value;
        });
    const Tensor weight = b.placeholder("weight", {kernel, kernel, channels, filters}, DType::F32);
    const std::int64_t outHeight = (height + 2 * padding - kernel) / stride + 1;
    const std::int64_t outWidth = (width + 2 * padding - kernel) / stride + 1;
    const Tensor conv = b.reduce(
        "conv", {1, outHeight, outWidth, filters}, {"nn", "yy", "xx", "ff"}, "", ir::Combiner::Sum,
        {{"ry", kernel}, {"rx", kernel}, {"rc", channels}}, [&](const Exprs& i, const Exprs& r) {
            return b.at(pad, {i[0], i[1] * imm(stride) + r[0], i[2] * imm(stride) + r[1], r[2]})
                   * b.at(weight, {r[0], r[1], r[2], i[3]});
        });
    const Tensor bias = b.placeholder("bias", {1, 1, 1, filters}, DType::F32);
    const Tensor add = b.compute("add", b.shape(conv), {"ax0", "ax1", "ax2", "ax3"}, "", [&](const Exprs& i) {
        return b.at(conv, i) + b.at(bias, {i[0], 0, 0, i[3]});
    });
    const Tensor relu = b.compute("relu", b.shape(add), {"ax0", "ax1", "ax2", "ax3"}, "",
                                  [&](const Exprs& i) { return ir::max(b.at(add, i), ir::floatImm(0)); });
    return *std::move(b).finish({relu});
}

Result<State> replayed(const compute::DagPtr& dag, const std::string& steps)
{
    LATHE_TRY_ASSIGN(const std::vector<Step> parsed, stepsFromJson(nlohmann::json::parse(steps, nullptr, false)));
    return State::replay(dag, parsed);
}

LowerOptions launches()
{
    LowerOptions options;
    options.form = KernelForm::Launches;
    return options;
}

compute::DagPtr matmul(std::int64_t m, std::int64_t n, std::int64_t k)
{
    DagBuilder b;
    const Tensor a = b.placeholder("A", {m, k}, DType::F32);
    const Tensor w = b.placeholder("B", {k, n}, DType::F32);
    const Tensor c = b.reduce("C", {m, n}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", k}},
                              [&](const Exprs& i, const Exprs& r) {
                                  return b.at(a, {i[0], r[0]}) * b.at(w, {r[0], i[1]});
                              });
    return *std::move(b).finish({c});
}

compute::DagPtr maxPool(std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t kernel,
                        std::int64_t stride, std::int64_t padding)
{
    DagBuilder b;
    const Tensor data = b.placeholder("data", {1, height, width, channels}, DType::F32);
    const auto imm = [](std::int64_t v) { return ir::intImm(v); };
    const Tensor pad = b.compute("pad", {1, height + 2 * padding, width + 2 * padding, channels},
                                 {"ax0", "ax1", "ax2", "ax3"}, "", [&](const Exprs& i) {
                                     const Expr inside = i[1] >= imm(padding) && i[1] < imm(height + padding)
                                                         && i[2] >= imm(padding) && i[2] < imm(width + padding);
                                     return ir::ifThenElse(
                                         inside, b.at(data, {i[0], i[1] - imm(padding), i[2] - imm(padding), i[3]}),
                                         ir::floatImm(-3.4028234663852886e38));
                                 });
    const Tensor pool = b.reduce(
        "pool",
        {1, (height + 2 * padding - kernel) / stride + 1, (width + 2 * padding - kernel) / stride + 1, channels},
        {"ax0", "ax1", "ax2", "ax3"}, "", ir::Combiner::Max, {{"dh", kernel}, {"dw", kernel}},
        [&](const Exprs& i, const Exprs& r) {
            return b.at(pad, {i[0], i[1] * imm(stride) + r[0], i[2] * imm(stride) + r[1], i[3]});
        });
    return *std::move(b).finish({pool});
}

} // namespace lathe::schedule::test
