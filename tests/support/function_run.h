#pragma once

#include "core/graph/node_types.h"
#include "core/graph/operator.h"
#include "core/runtime/functions/functions.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>

namespace lathe {

/// The functions of the runtime by their symbols, as the linker finds them in exported libraries.
inline LathePhase runtimeFunction(const std::string& symbol)
{
    static const std::map<std::string, LathePhase> known = {
        {"lathe_0_top_positions", &lathe_0_top_positions},
        {"lathe_0_cumulative_sum", &lathe_0_cumulative_sum},
        {"lathe_0_scatter_elements_copy", &lathe_0_scatter_elements_copy},
        {"lathe_0_scatter_elements", &lathe_0_scatter_elements},
        {"lathe_0_scatter_nd_copy", &lathe_0_scatter_nd_copy},
        {"lathe_0_scatter_nd", &lathe_0_scatter_nd},
        {"lathe_0_nonzero_count", &lathe_0_nonzero_count},
        {"lathe_0_nonzero", &lathe_0_nonzero},
        {"lathe_0_unique", &lathe_0_unique},
        {"lathe_0_non_max_suppression_select", &lathe_0_non_max_suppression_select},
        {"lathe_0_non_max_suppression", &lathe_0_non_max_suppression},
    };
    const auto found = known.find(symbol);
    return found == known.end() ? nullptr : found->second;
}

/// Runs a node by its function of the runtime, one part behind the other.
inline Result<std::vector<graph::HostTensor>> runFunction(const graph::Node& node,
                                                          const std::vector<graph::HostTensor>& inputs,
                                                          std::uint32_t parts)
{
    std::vector<graph::TensorType> types;
    for (const graph::HostTensor& input : inputs)
        types.push_back(input.type);
    const std::vector<const graph::ConstData*> constants(inputs.size(), nullptr);
    LATHE_TRY_ASSIGN(const auto outputTypes, graph::nodeTypes(node, types, constants));
    LATHE_TRY_ASSIGN(const graph::FunctionCall call, graph::findOperator(node.op)->function(node, types, outputTypes));
    std::vector<graph::HostTensor> outputs;
    std::vector<void*> tensors{const_cast<std::int64_t*>(call.parameters.data())};
    for (const graph::HostTensor& input : inputs)
        tensors.push_back(const_cast<std::byte*>(input.bytes.data()));
    for (const graph::TensorType& type : outputTypes) {
        outputs.push_back(graph::HostTensor::zeros(type));
        std::fill(outputs.back().bytes.begin(), outputs.back().bytes.end(), std::byte{0xA5}); // nothing may stay
    }
    for (graph::HostTensor& output : outputs)
        tensors.push_back(output.bytes.data());
    const auto scratch = [](std::int64_t bytes) {
        const std::size_t size = (static_cast<std::size_t>(bytes) + 64) / 64 * 64;
        return std::unique_ptr<void, decltype(&std::free)>(std::aligned_alloc(64, size), &std::free);
    };
    const auto team = scratch(call.teamScratchBytes), own = scratch(call.partScratchBytes);
    const LatheArgs args{tensors.data(), team.get()};
    for (const std::string& symbol : call.phases) {
        const LathePhase phase = runtimeFunction(symbol);
        if (phase == nullptr)
            return makeError(Errc::Internal, "there is no function " + symbol);
        for (std::uint32_t part = 0; part < parts; ++part)
            if (const std::int32_t code = phase(&args, own.get(), part, parts); code != 0)
                return makeError(Errc::Internal, symbol + " failed with code " + std::to_string(code));
    }
    return outputs;
}

} // namespace lathe
