#pragma once

#include "core/schedule/lower.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace lathe::schedule::test {

/// The state that steps, as JSON, make of a DAG. Errors: those of stepsFromJson() and replay().
Result<State> replayed(const compute::DagPtr& dag, const std::string& steps);
LowerOptions launches(); ///< for GPUs

/// Lowers the state, runs it with 1, 2 and 3 parts in the nest interpreter (launches: in theirs) on inputs from `seed`,
/// through the layouts of its parameters, and compares with the DAG interpreter. Empty if all agree, else what is
/// wrong.
/// Something that runs a kernel on its parameters, as ir::LaunchInterpreter::run does; what is wrong, or nothing.
using RunKernel = std::function<std::string(const ir::LoopNest&, std::span<const std::span<std::byte>>)>;
/// With `run` that runs launches in the interpreter's place.
std::string checkKernel(const State& state, std::uint64_t seed, const LowerOptions& options = {},
                        const RunKernel& run = {});

/// conv2d NHWC, 3x3 or as given, with bias and ReLU: data, pad, weight, conv, bias, add, relu.
compute::DagPtr convBiasRelu(std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t filters,
                             std::int64_t kernel, std::int64_t stride, std::int64_t padding);
compute::DagPtr maxPool(std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t kernel,
                        std::int64_t stride, std::int64_t padding);
compute::DagPtr matmul(std::int64_t m, std::int64_t n, std::int64_t k);

} // namespace lathe::schedule::test
