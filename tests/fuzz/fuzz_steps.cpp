#include "core/compute/dag.h"
#include "core/ir/print.h"
#include "core/ir/verify.h"
#include "core/schedule/lower.h"
#include "core/schedule/state.h"
#include "core/support/check.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>

using namespace lathe;
using namespace lathe::schedule;

namespace {

compute::DagPtr must(Result<compute::DagPtr> dag)
{
    LATHE_CHECK(dag.has_value()) << (dag ? "" : dag.error().message);
    return *std::move(dag);
}

compute::DagPtr matmul()
{
    compute::DagBuilder b;
    const auto x = b.placeholder("A", {12, 16}, DType::F32);
    const auto y = b.placeholder("B", {16, 24}, DType::F32);
    const auto z = b.reduce("C", {12, 24}, {"i", "j"}, "", ir::Combiner::Sum, {{"k", 16}},
                            [&](const auto& i, const auto& k) {
                                return b.at(x, {i[0], k[0]}) * b.at(y, {k[0], i[1]});
                            });
    return must(std::move(b).finish({z}));
}

/// pad, convolution over rows, ReLU: what attaches, folds, partitions and prefetches.
compute::DagPtr convolution()
{
    compute::DagBuilder b;
    const auto data = b.placeholder("data", {10, 8}, DType::F32);
    const auto weight = b.placeholder("weight", {3, 8, 16}, DType::F32);
    const auto pad = b.compute("pad", {12, 8}, {"y", "c"}, "", [&](const auto& i) {
        const ir::Expr inside = i[0] >= ir::intImm(1) && i[0] < ir::intImm(11);
        return ir::ifThenElse(inside, b.at(data, {i[0] - ir::intImm(1), i[1]}), ir::floatImm(0));
    });
    const auto conv = b.reduce("conv", {10, 16}, {"y", "f"}, "", ir::Combiner::Sum, {{"r", 3}, {"rc", 8}},
                               [&](const auto& i, const auto& r) {
                                   return b.at(pad, {i[0] + r[0], r[1]}) * b.at(weight, {r[0], r[1], i[1]});
                               });
    const auto relu = b.compute("relu", {10, 16}, {"y", "f"}, "", [&](const auto& i) {
        return ir::max(b.at(conv, {i[0], i[1]}), ir::floatImm(0));
    });
    return must(std::move(b).finish({relu}));
}

} // namespace

/// A byte that picks a compute DAG, then the JSON of a record's steps: refused with a sentence, or a loop nest that
/// verifies.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const compute::DagPtr kDags[] = {matmul(), convolution()};
    if (size == 0)
        return 0;
    const auto json = nlohmann::json::parse(data + 1, data + size, nullptr, false);
    const auto steps = stepsFromJson(json);
    if (!steps)
        return 0;
    const auto again = stepsFromJson(toJson(*steps));
    LATHE_CHECK(again.has_value() && toJson(*again) == toJson(*steps)) << json.dump();
    auto state = State::replay(kDags[data[0] % 2], *steps);
    if (!state)
        return 0;
    (void)state->print();
    if (!state->inferBounds())
        return 0;
    (void)state->print();
    LowerOptions options;
    options.constantInputs = {false, true};
    const auto kernel = lower(*std::move(state), options);
    if (!kernel) {
        LATHE_CHECK(kernel.error().code != Errc::Internal) << kernel.error().message;
        return 0;
    }
    const auto verified = ir::verify(kernel->nest);
    LATHE_CHECK(verified.has_value()) << (verified ? "" : verified.error().message);
    return 0;
}
