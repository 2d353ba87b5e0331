#pragma once

#include "core/graph/operator.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::deploy {

/// An input or output of an exported network: dense and row-major.
struct PortInfo
{
    std::string name;
    std::string layout;
    graph::TensorType type; ///< with the most that each extent can be
    std::vector<std::int32_t> dynamicAxes = {}; ///< of an output: dimensions whose extent depends on data; ascending
};

} // namespace lathe::deploy
