#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <vector>

namespace lathe::frontend {

struct ResnetVariant
{
    std::vector<std::int64_t> units; ///< by stage
    std::vector<std::int64_t> widths; ///< stem, then by stage
    bool bottleneck = false;
};

/// The reference picks stages and widths by the image's height (model-zoo.md 2.1).
Result<ResnetVariant> resnetVariant(std::int64_t layers, std::int64_t height);

} // namespace lathe::frontend
