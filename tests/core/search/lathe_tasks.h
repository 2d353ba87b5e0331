#pragma once

#include "core/compute/dag.h"
#include "core/search/policy.h"

#include <cstdint>
#include <vector>

namespace lathe::test {

/// Tasks of one operator, for what is tested of Lathe's own schedules. All inputs but the first are weights.
search::SearchAlternative finish(const char* name, compute::DagBuilder&& builder, compute::Tensor output);

compute::Tensor addBiasRelu(compute::DagBuilder& b, compute::Tensor x); ///< on a bias of the last axis

/// NHWC, batch 1.
search::SearchAlternative conv(std::int64_t size, std::int64_t in, std::int64_t out, std::int64_t kernel,
                               std::int64_t stride, bool epilogue = true);
search::SearchAlternative winograd(std::int64_t size, std::int64_t channels, std::int64_t m, bool split = true);
search::SearchAlternative dense(std::int64_t in, std::int64_t out);
search::SearchAlternative depthwise(std::int64_t size, std::int64_t channels, std::int64_t stride);
search::SearchAlternative maxPool();
search::SearchAlternative globalPool();
search::SearchAlternative softmaxOf(std::int64_t n);
search::SearchAlternative softmaxOfRows(std::int64_t rows, std::int64_t n);
search::SearchAlternative layerNorm(std::int64_t rows, std::int64_t n);
search::SearchAlternative transposition(std::int64_t n, std::int64_t m);

search::SearchTask task(std::vector<search::SearchAlternative> alternatives,
                        const char* target = "cpu -mcpu=emeraldrapids -threads=2");
/// Of a policy that has some; else the test ends.
std::vector<Candidate> proposals(search::Policy& policy, std::uint64_t round, std::int32_t count, Executor& executor);

} // namespace lathe::test
