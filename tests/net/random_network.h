#pragma once

#include "core/graph/operator.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::net {

/// A small network of ONNX operators, attributes, shapes and constants that a seed gives, with values for its inputs.
/// Operators with jumps (rounding, comparing, ranking, casts to integers) read numbers alone that are exact in any
/// code.
struct RandomNetwork
{
    std::uint64_t seed = 0;
    std::vector<std::string> nodes, initializers, inputs,
        outputs; ///< messages of a graph (tests/core/frontend/wire_writer.h)
    std::vector<std::string> inputNames, outputNames;
    std::vector<graph::HostTensor> values; ///< of the inputs

    std::string model() const; ///< the bytes of an ONNX file
};

/// All names begin with `prefix`, so that several can be parts of one model.
RandomNetwork randomNetwork(std::uint64_t seed, const std::string& prefix = {});

/// Several as one model: all their inputs, all their outputs.
std::string joinedModel(const std::vector<RandomNetwork>& networks);

/// An initializer with a tensor's values.
std::string initializerOf(const std::string& name, const graph::HostTensor& tensor);

} // namespace lathe::net
