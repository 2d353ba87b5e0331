#pragma once

#include "core/templates/knob_coordinates.h"

#include <span>
#include <vector>

namespace lathe::templates {

/// How alike times of two configurations are: Matern's kernel 5/2 of their distance, where each group of dimensions is
/// measured by its own length, plus what is each configuration's own.
struct KernelScales
{
    std::vector<double> lengths; ///< of each group
    double own = 0.05; ///< variance that no distance explains, as a share of that which it does; noise is part of it
};

/// Points in the coordinates of knobs, and what is known at them.
struct Observations
{
    std::vector<double> places; ///< row-major, `dimensions` each
    std::vector<double> values; ///< one of each
    std::size_t count() const { return values.size(); }
};

/// The scales that make the values most probable, and are not improbable themselves, by some steps uphill from `start`:
/// each goes as far as the last one's success allows (Rprop, Riedmiller and Braun 1993). Costs count^3 a step.
KernelScales fitScales(const KnobCoordinates& coordinates, const Observations& observations, KernelScales start,
                       int steps);

/// What values are to be expected at candidates, from values at other places (Rasmussen and Williams 2006, algorithm
/// 2.1, with a factor that grows by a row for each place). Candidates come in packs of kPack; each costs count^2 / 2
/// multiplications, and each pick as many more as there are candidates times count.
class Expectations
{
public:
    static constexpr std::size_t kPack = 8; ///< as many numbers as a line of a cache has

    Expectations(const KnobCoordinates& coordinates, const Observations& observations, const KernelScales& scales);

    /// Places of candidates are `dimensions` numbers each. Returns the number of the first by which it is asked for;
    /// those behind it follow.
    std::size_t addCandidates(std::span<const double> places, std::size_t count);

    double mean(std::size_t candidate) const;
    /// Of what a configuration really is: with the part of its own that is not noise.
    double deviation(std::size_t candidate) const;

    /// As if this one had been measured, and its value been the mean: others near it are better known from then on.
    void assume(std::size_t candidate);

private:
    /// kPack candidates, side by side.
    struct Pack
    {
        std::vector<double> places; ///< scaled; dimension by dimension
        std::vector<double> rows; ///< of the solution of the factor and the kernel, kPack each
        double means[kPack] = {};
        double explained[kPack] = {}; ///< variance
    };

    void scale(std::span<const double> place, std::vector<double>& out) const;
    void addRow(Pack& pack, std::size_t row) const;

    std::size_t m_dimensions;
    std::vector<double> m_inverse; ///< of the length, by dimension
    double m_own;
    double m_middle = 0; ///< of the values
    double m_variance = 1;
    std::size_t m_known = 0; ///< observations, without those that are assumed
    std::vector<double> m_places; ///< of observations and assumed ones, scaled
    std::vector<std::vector<double>> m_factor; ///< lower triangle, by rows
    std::vector<double> m_solution; ///< of the factor and the values
    std::vector<Pack> m_packs;
};

} // namespace lathe::templates
