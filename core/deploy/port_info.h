#pragma once

#include "core/graph/operator.h"

#include <string>

namespace lathe::deploy {

/// An input or output of an exported network: dense and row-major.
struct PortInfo
{
    std::string name;
    std::string layout;
    graph::TensorType type;
};

} // namespace lathe::deploy
