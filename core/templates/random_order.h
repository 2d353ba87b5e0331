#pragma once

#include "core/support/random.h"

#include <optional>
#include <unordered_map>

namespace lathe::templates {

/// The numbers from 0 to size - 1, each once, in random order, drawn one at a time: Fisher and Yates' shuffle of an
/// array that is never there. Only the places whose content is no longer their own number are kept in a map, so that a
/// draw costs constant time and memory for any size (autotvm.md 7, Random).
class RandomOrder
{
public:
    explicit RandomOrder(std::uint64_t size)
        : m_left(size)
    {
    }

    /// Nothing: all were drawn.
    std::optional<std::uint64_t> next(Random& random)
    {
        if (m_left == 0)
            return std::nullopt;
        const std::uint64_t place = random.below(m_left--);
        const std::uint64_t drawn = at(place);
        const std::uint64_t last = at(m_left);
        m_moved.erase(m_left); // nobody looks there again
        if (place != m_left)
            m_moved[place] = last;
        return drawn;
    }

private:
    std::uint64_t at(std::uint64_t place) const
    {
        const auto found = m_moved.find(place);
        return found == m_moved.end() ? place : found->second;
    }

    std::uint64_t m_left;
    std::unordered_map<std::uint64_t, std::uint64_t> m_moved;
};

} // namespace lathe::templates
