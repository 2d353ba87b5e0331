// random_networks FIRST COUNT FOLDER: writes the networks of these seeds with what Lathe makes of them, for
// random_networks.py, which compares with ONNX Runtime: SEED.onnx, in whose initializers stand the inputs
// ("value:NAME"), the outputs of the compiled network ("lathe:NAME") and how far other code may be from them
// ("slack:NAME").

#include "core/support/files.h"
#include "tests/core/frontend/wire_writer.h"
#include "tests/net/network_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>

using namespace lathe;
using namespace lathe::net;

namespace {

graph::HostTensor doubles(const std::vector<double>& numbers)
{
    graph::HostTensor tensor{{DType::F64, {static_cast<std::int64_t>(numbers.size())}}, {}};
    tensor.bytes.resize(numbers.size() * sizeof(double));
    if (!numbers.empty())
        std::memcpy(tensor.bytes.data(), numbers.data(), tensor.bytes.size());
    return tensor;
}

} // namespace

int main(int argc, char** argv)
{
    constexpr std::uint64_t kTogether = 100;
    if (argc != 4) {
        std::fprintf(stderr, "random_networks FIRST COUNT FOLDER\n");
        return 2;
    }
    const std::uint64_t first = std::stoull(argv[1]), count = std::stoull(argv[2]);
    const std::filesystem::path folder = argv[3];
    const auto scratch = TempDir::create("random-networks"); // for the libraries
    const auto compiler = deploy::makeBuilderCompiler("cpu", 2, std::chrono::minutes(5));
    if (!scratch || !compiler) {
        std::fprintf(stderr, "%s\n", (scratch ? compiler.error() : scratch.error()).message.c_str());
        return 2;
    }
    int status = 0;
    for (std::uint64_t at = first; at < first + count; at += kTogether) {
        std::vector<RandomNetwork> networks;
        for (std::uint64_t seed = at; seed < std::min(at + kTogether, first + count); ++seed)
            networks.push_back(randomNetwork(seed, fmt::format("n{}", seed)));
        const std::vector<NetworkOutcome> outcomes = outcomesOf(networks, **compiler, scratch->path());
        for (std::size_t n = 0; n < networks.size(); ++n) {
            RandomNetwork& network = networks[n];
            if (!outcomes[n].wrong.empty()) {
                fmt::print("seed {}: {}\n", network.seed, outcomes[n].wrong);
                status = 1;
            }
            for (std::size_t i = 0; i < network.inputNames.size(); ++i)
                network.initializers.push_back(initializerOf("value:" + network.inputNames[i], network.values[i]));
            for (std::size_t i = 0; i < outcomes[n].slack.size(); ++i) {
                network.initializers.push_back(
                    initializerOf("lathe:" + network.outputNames[i], outcomes[n].outputs[i]));
                network.initializers.push_back(
                    initializerOf("slack:" + network.outputNames[i], doubles(outcomes[n].slack[i])));
            }
            if (!writeFileAtomically(folder / fmt::format("{}.onnx", network.seed), network.model()))
                return 2;
        }
    }
    return status;
}
