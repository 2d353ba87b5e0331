#pragma once

#include "core/deploy/compare_tensors.h"
#include "core/deploy/library_host.h"
#include "core/deploy/test_inputs.h"
#include "core/graph/graph.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::deploy {

/// A run on inputs of one kind.
struct KindReport
{
    std::string inputs = {}; ///< a word of toString(InputKind), or "given"
    double maxRelError = 0; ///< over outputs, and over what goes into a softmax that gives an output
    std::vector<TensorComparison> outputs = {}; ///< then those that go into such a softmax
    /// "'boxes' was [3, 4] of at most [90, 4]", for each output whose size depends on data.
    std::vector<std::string> sizes = {};
    std::string refused = {}; ///< why the reference executor does not take such values; empty: it does
    bool passed = false; ///< every tensor agrees with its reference
};

struct VerifyReport
{
    double maxRelError = 0; ///< the largest of all kinds
    std::vector<KindReport> kinds; ///< in the order in which they were asked for
    std::vector<TensorComparison> outputs; ///< of the first kind
    std::vector<std::string> notCompared; ///< inputs of a final softmax that the library does not show
    /// Outputs that rounding alone changes by more than the tolerance, so that a comparison tells no more than that.
    std::vector<std::string> illConditioned;
    std::string
        firstDifferent; ///< name of the first tensor beyond the tolerance, in the order of execution; empty: none
    std::string text; ///< one sentence for people
    bool passed = false;
    /// What the reference executor says to the first kind of inputs, if it does not take them: nothing was compared.
    std::optional<Error> refused;
};

struct VerifyOptions
{
    std::optional<double> tolerance; ///< of floats, relative; nothing: usualTolerance() of each type
    std::uint64_t seed = 1; ///< of the inputs that are not given
    std::vector<InputKind> kinds = {InputKind::Normal}; ///< not if all inputs are given
    std::vector<std::optional<graph::HostTensor>> inputs; ///< given, in the order of the reference graph; or empty
    std::vector<graph::HostTensor> expected; ///< outputs from elsewhere, in order; empty: the reference executor's
    /// The reference is computed without rounding too where the error is within a sixteenth of the tolerance, so that
    /// no network passes by luck; else only where an output is beyond it.
    bool closely = false;
    bool notANumberSpreads = false; ///< some kernels may be winograd's: a NaN is in a whole tile then
};

/// graph::interpret, wherever it runs: outputs of a network on these inputs.
using Evaluate = std::function<Result<std::vector<graph::HostTensor>>(const graph::Graph& network,
                                                                      const std::vector<graph::HostTensor>& inputs)>;

/// Runs the library and the reference executor on the same inputs, of each kind in turn, and compares every output
/// element by element (compareTensors).
/// @param reference  the network as imported.
/// @param executed   the network as partitioned, to find the first tensor inside that differs; null: outputs only.
/// Errors: InvalidArgument if library and network have other inputs or outputs, or other types; those of library and
/// executor. A wrong result is no error, nor are inputs that the reference executor refuses: passed is false.
Result<VerifyReport> verifyLibrary(LibraryHost& library, const Evaluate& evaluate, const graph::Graph& reference,
                                   const graph::Graph* executed, const VerifyOptions& options);

/// That with the reference computed in a lathe-builder, as programs do it. A stop ends it, with Cancelled.
/// @param seconds  what the reference executor may take each time.
Result<VerifyReport> verifyByBuilder(LibraryHost& library, const graph::Graph& reference, const graph::Graph* executed,
                                     const VerifyOptions& options, double seconds, std::stop_token stop = {});

} // namespace lathe::deploy
