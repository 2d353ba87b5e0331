#pragma once

#include "core/graph/operator.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lathe::deploy {

/// What counts as equal.
struct Likeness
{
    double tolerance = 1e-4; ///< of floats, relative to what an element is held against
    /// Each float is held against itself: what made it adds nothing up, so that its error grows with itself. Else
    /// against the largest of its sample (that has the same index along the first dimension).
    bool elementwise = false;
    bool signedZeros = false; ///< 0 and -0 differ
    bool onlyNotANumber = false; ///< NaN at the same places is all that counts
    bool notANumberSpreads = false; ///< NaN may be at more places
};

/// What it takes to be equal by default: max |y - r| of a type, as trials have it (core/target/backend_traits.h).
double usualTolerance(DType dtype);

/// One tensor against its reference.
struct TensorComparison
{
    std::string name;
    double maxRelError = 0; ///< max |y - r| / max |r|; infinite where only one of the two is a number
    std::int64_t worst = -1; ///< row-major index of the largest difference; -1: none
    double value = 0, reference = 0; ///< there

    std::int64_t beyond = 0; ///< elements that differ by more than may be: integers by anything
    std::int64_t first = -1; ///< of these
    double firstValue = 0, firstReference = 0, allowed = 0; ///< there; what |y - r| might be
    /// What rounding each tensor to its type changes: max |r - d| / what r is held against, of a reference r that
    /// rounds and one that does not; NaN: not known.
    double rounding = std::numeric_limits<double>::quiet_NaN();
    /// Rounding changes more than the tolerance allows: the comparison tells no more than that.
    bool illConditioned = false;

    bool agrees() const { return beyond == 0; }
};

/// @param unrounded  the reference in double precision (graph::inDoubles), or null. With it floats may differ by 16
///                   times what rounding changes beside what the tolerance allows: its largest change of all, or its
///                   largest share of what an element is held against, whichever is less; and integers where they come
///                   from floats, as often and as far.
/// Errors: InvalidArgument if types differ.
Result<TensorComparison> compareTensors(std::string name, const graph::HostTensor& tensor,
                                        const graph::HostTensor& reference, const Likeness& likeness = {},
                                        const graph::HostTensor* unrounded = nullptr);

/// For each output of a network: whether nothing on the way to it adds up, and whether the sign of its zeros follows
/// from the inputs.
struct OutputNature
{
    bool elementwise = false, signsZeros = false;
};
std::vector<OutputNature> naturesOf(const graph::Graph& network, const std::vector<graph::ValueId>& values);

} // namespace lathe::deploy
