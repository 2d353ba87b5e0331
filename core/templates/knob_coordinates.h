#pragma once

#include "core/templates/config_space.h"
#include "core/templates/knob_digits.h"

#include <vector>

namespace lathe::templates {

/// Where configurations lie, so that those that lie near each other take about as long: what Gaussian processes need
/// of a space (after BaCO, Hellsten et al., ASPLOS 2024, section 4.2, where each kind of knob has its own distance).
///
/// Sizes of a split lie as far apart as their logarithms. Beside them stands what these do not show: the product of the
/// inner ones, how often the innermost can be halved, which is what vectors like, and how much work beyond the edge a
/// split makes. What tells nothing new, as all this of powers of two split in two, is left out. Permutations lie as far
/// apart as the places of their members (Spearman's distance), marks of axes are equal or not, numbers lie by size,
/// texts are equal or not. All within 0 to 1.
///
/// Dimensions that only make sense together are one group, which has one scale.
class KnobCoordinates
{
public:
    explicit KnobCoordinates(const ConfigSpace& space);

    std::size_t dimensions() const { return m_groupOf.size(); }
    std::size_t groups() const { return m_groups; }
    std::size_t groupOf(std::size_t dimension) const { return m_groupOf[dimension]; }
    /// Appends the place of a configuration.
    void append(std::uint64_t index, std::vector<double>& out) const;

    /// One knob, drawn at random, has another choice, near the one that it had: the nearest of a few that are drawn.
    /// The same index where no knob has any.
    std::uint64_t nearby(std::uint64_t index, Random& random) const;

    const KnobDigits& digits() const { return m_digits; }

private:
    struct KnobPlaces
    {
        std::size_t dimensions = 0;
        std::vector<float> places; ///< of each choice
    };
    using Column = std::vector<double>; ///< one dimension of a knob's choices

    void add(KnobPlaces& knob, std::size_t choices, const std::vector<Column>& columns, bool together);
    double distance(const KnobPlaces& knob, std::uint64_t one, std::uint64_t other) const;

    KnobDigits m_digits;
    std::vector<KnobPlaces> m_knobs; ///< those of more than one choice, as m_digits has them
    std::vector<std::size_t> m_groupOf;
    std::size_t m_groups = 0;
};

} // namespace lathe::templates
