#pragma once

#include "core/templates/tuner.h"

namespace lathe::templates {

struct GridOptions
{
    std::optional<IndexRange> range = std::nullopt; ///< nothing: the whole space
};

/// All configurations in the order of their indices (autotvm.md 7, GridSearch).
class GridTuner final : public Tuner
{
public:
    explicit GridTuner(const ConfigSpace& space, GridOptions options = {})
        : Tuner(space, options.range)
    {
    }

private:
    std::optional<std::uint64_t> draw() override
    {
        return m_drawn < rangeSize() ? std::optional(rangeFirst() + m_drawn++) : std::nullopt;
    }

    std::uint64_t m_drawn = 0;
};

} // namespace lathe::templates
