#pragma once

#include "core/deploy/library_host.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::deploy {

/// One tensor against its reference.
struct TensorComparison
{
    std::string name;
    double maxRelError = 0; ///< max |y - r| / max |r|; infinite where only one of the two is a number
    std::int64_t worst = -1; ///< row-major index of the largest difference; -1: none
    double value = 0, reference = 0; ///< there
};

/// Errors: InvalidArgument if types differ.
Result<TensorComparison> compareTensors(std::string name, const graph::HostTensor& tensor,
                                        const graph::HostTensor& reference);

struct VerifyReport
{
    double maxRelError = 0; ///< over outputs, and over what goes into a softmax that gives an output
    std::vector<TensorComparison> outputs;
    std::vector<std::string> notCompared; ///< inputs of a final softmax that the library does not show
    std::string
        firstDifferent; ///< name of the first tensor beyond the tolerance, in the order of execution; empty: none
    std::string text; ///< one sentence for people
    bool passed = false;
};

struct VerifyOptions
{
    double tolerance = 1e-4;
    std::uint64_t seed = 1; ///< of the inputs, if none are given
    std::vector<graph::HostTensor> inputs; ///< in the order of the reference graph, or empty
    std::vector<graph::HostTensor> expected; ///< outputs from elsewhere, in order; empty: the reference executor's
};

/// graph::interpret, wherever it runs: outputs of a network on these inputs.
using Evaluate = std::function<Result<std::vector<graph::HostTensor>>(const graph::Graph& network,
                                                                      const std::vector<graph::HostTensor>& inputs)>;

/// Runs the library and the reference executor on the same inputs.
/// @param reference  the network as imported.
/// @param executed   the network as partitioned, to find the first tensor inside that differs; null: outputs only.
/// Errors: InvalidArgument if library and network have other inputs or outputs; those of library and executor. A wrong
/// result is no error: passed is false.
Result<VerifyReport> verifyLibrary(LibraryHost& library, const Evaluate& evaluate, const graph::Graph& reference,
                                   const graph::Graph* executed, const VerifyOptions& options);

/// That with the reference computed in a lathe-builder, as programs do it. A stop ends it, with Cancelled.
/// @param seconds  what the reference executor may take each time.
Result<VerifyReport> verifyByBuilder(LibraryHost& library, const graph::Graph& reference, const graph::Graph* executed,
                                     const VerifyOptions& options, double seconds, std::stop_token stop = {});

} // namespace lathe::deploy
