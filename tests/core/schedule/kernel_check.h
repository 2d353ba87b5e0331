#pragma once

#include "core/schedule/lower.h"

#include <string>

namespace lathe::schedule::test {

/// Lowers the state, runs it with 1, 2 and 3 parts in the nest interpreter (launches: in theirs) on inputs from `seed`,
/// through the layouts of its parameters, and compares with the DAG interpreter. Empty if all agree, else what is
/// wrong.
std::string checkKernel(const State& state, std::uint64_t seed, const LowerOptions& options = {});

/// conv2d NHWC, 3x3 or as given, with bias and ReLU: data, pad, weight, conv, bias, add, relu.
compute::DagPtr convBiasRelu(std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t filters,
                             std::int64_t kernel, std::int64_t stride, std::int64_t padding);
compute::DagPtr maxPool(std::int64_t height, std::int64_t width, std::int64_t channels, std::int64_t kernel,
                        std::int64_t stride, std::int64_t padding);
compute::DagPtr matmul(std::int64_t m, std::int64_t n, std::int64_t k);

} // namespace lathe::schedule::test
