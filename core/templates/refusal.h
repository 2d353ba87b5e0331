#pragma once

#include "core/templates/config_space.h"

namespace lathe::templates {

/// Whether a constraint of the space refuses a configuration, given by its index. Costs nothing where there are none.
inline bool isRefused(const ConfigSpace& space, std::uint64_t index)
{
    if (space.constraints().empty())
        return false;
    const Result<Config> config = space.at(index);
    return !config || space.refusal(*config).has_value();
}

} // namespace lathe::templates
