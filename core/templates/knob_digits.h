#pragma once

#include "core/support/random.h"
#include "core/templates/config_space.h"

#include <vector>

namespace lathe::templates {

/// The choices of a configuration's knobs, read from and changed in its index, without making the configuration.
class KnobDigits
{
public:
    explicit KnobDigits(const ConfigSpace& space)
    {
        std::uint64_t stride = 1;
        for (const Knob& knob : space.knobs()) {
            if (knob.choices.size() > 1)
                m_knobs.push_back({stride, knob.choices.size()});
            stride *= knob.choices.size();
        }
    }

    /// Knobs that have more than one choice; the others are none here.
    std::size_t count() const { return m_knobs.size(); }
    std::uint64_t choices(std::size_t knob) const { return m_knobs[knob].choices; }
    std::uint64_t digit(std::uint64_t index, std::size_t knob) const
    {
        return index / m_knobs[knob].stride % m_knobs[knob].choices;
    }
    std::uint64_t changed(std::uint64_t index, std::size_t knob, std::uint64_t digit) const
    {
        return index - this->digit(index, knob) * m_knobs[knob].stride + digit * m_knobs[knob].stride;
    }
    /// One knob, drawn at random, has another choice. The same index where no knob has any.
    std::uint64_t neighbour(std::uint64_t index, Random& random) const
    {
        if (m_knobs.empty())
            return index;
        const auto knob = static_cast<std::size_t>(random.below(count()));
        const std::uint64_t other = random.below(choices(knob) - 1); // of those that it does not have
        return changed(index, knob, other < digit(index, knob) ? other : other + 1);
    }

private:
    struct Place
    {
        std::uint64_t stride;
        std::uint64_t choices;
    };
    std::vector<Place> m_knobs;
};

} // namespace lathe::templates
