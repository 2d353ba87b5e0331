#pragma once

#include "core/templates/random_order.h"
#include "core/templates/tuner.h"

namespace lathe::templates {

struct RandomOptions
{
    std::optional<IndexRange> range = std::nullopt; ///< nothing: the whole space
    std::uint64_t seed = 0;
};

/// Configurations at random, none twice (autotvm.md 7, Random).
class RandomTuner final : public Tuner
{
public:
    explicit RandomTuner(const ConfigSpace& space, RandomOptions options = {})
        : Tuner(space, options.range)
        , m_random(options.seed)
        , m_order(rangeSize())
    {
    }

private:
    std::optional<std::uint64_t> draw() override
    {
        const std::optional<std::uint64_t> place = m_order.next(m_random);
        return place ? std::optional(rangeFirst() + *place) : std::nullopt;
    }

    Random m_random;
    RandomOrder m_order;
};

} // namespace lathe::templates
