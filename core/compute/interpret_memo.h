#pragma once

#include "core/compute/interpret_program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace lathe::compute {

/// What is known of an operation that is not computed whole: values that were asked for once are kept. Outputs that lie
/// near each other ask for the same ones: all points of a tile of winograd's for one transformed image.
class Memo
{
public:
    /// Beyond this nothing is kept: an address space of half a gigabyte, of which only what is used is memory.
    static constexpr std::size_t kMostElements = std::size_t{1} << 26;

    void enable(std::size_t elements)
    {
        if (elements == 0 || elements > kMostElements)
            return;
        // Zeroed pages come from the system when they are touched, which a vector would do at once.
        m_values.reset(static_cast<std::int64_t*>(std::calloc(elements, sizeof(std::int64_t))));
        m_known.reset(static_cast<std::uint8_t*>(std::calloc(elements, 1)));
        if (!m_values || !m_known) {
            m_values.reset();
            m_known.reset();
        }
    }
    bool enabled() const { return m_known != nullptr; }

    /// Gives each lane that is active its value; the elements that are not known yet are computed first, each once, by
    /// compute(lanes of which elements, how many of them, where their values go).
    template<typename Compute>
    void read(const std::int64_t* elements, const bool* active, std::size_t lanes, LaneBlock& out, Compute&& compute)
    {
        std::array<std::size_t, kLanes> missing;
        std::size_t count = 0;
        for (std::size_t l = 0; l < lanes; ++l)
            if (active[l] && m_known[static_cast<std::size_t>(elements[l])] == 0) {
                m_known[static_cast<std::size_t>(elements[l])] = 1;
                missing[count++] = l;
            }
        if (count > 0) {
            LaneBlock computed;
            compute(missing.data(), count, computed);
            for (std::size_t k = 0; k < count; ++k)
                m_values[static_cast<std::size_t>(elements[missing[k]])] = computed.i[k];
        }
        for (std::size_t l = 0; l < lanes; ++l)
            out.i[l] = active[l] ? m_values[static_cast<std::size_t>(elements[l])] : 0;
    }

private:
    struct Free
    {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::int64_t[], Free> m_values; ///< bits of the values, whole numbers or doubles
    std::unique_ptr<std::uint8_t[], Free> m_known;
};

} // namespace lathe::compute
