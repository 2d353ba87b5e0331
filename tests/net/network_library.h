#pragma once

#include "core/deploy/compiler.h"
#include "tests/net/random_network.h"

#include <filesystem>
#include <vector>

namespace lathe::net {

/// Several networks as one library with default schedules, compiled by lathe-builder and run once in this process.
/// @return the outputs of each network, in its order. Errors: those of any step between the bytes and the results.
Result<std::vector<std::vector<graph::HostTensor>>> runAsLibrary(const std::vector<RandomNetwork>& networks,
                                                                 deploy::Compiler& compiler,
                                                                 const std::filesystem::path& folder);

/// What came of a network.
struct NetworkOutcome
{
    std::string wrong; ///< empty: all agree
    std::vector<graph::HostTensor> outputs;
    std::vector<std::vector<double>> slack; ///< as Expected::slack
};

/// Runs them together, or one by one where that fails, and compares each with its evaluation.
std::vector<NetworkOutcome> outcomesOf(const std::vector<RandomNetwork>& networks, deploy::Compiler& compiler,
                                       const std::filesystem::path& folder);

} // namespace lathe::net
