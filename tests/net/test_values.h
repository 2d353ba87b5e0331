#pragma once

#include "core/graph/operator.h"
#include "core/support/random.h"

#include <vector>

namespace lathe::net {

/// What tensors are filled with. All but Smooth are exact in every type, so that an operator with jumps sees the same
/// number whatever type it is computed in.
enum class Values : std::uint8_t
{
    Smooth, ///< between -3 and 3
    Halves, ///< multiples of a half between -4 and 4: ties, equal elements, zeros of both signs
    Wide, ///< random bits, finite: numbers of all sizes, integers over their whole range
    Hostile ///< NaN, infinities, subnormals, zeros of both signs, the ends of the type and what lies beside them
};
inline constexpr Values kAllValues[] = {Values::Smooth, Values::Halves, Values::Wide, Values::Hostile};
const char* toString(Values values);

/// What an operator takes of such values, beyond its types.
struct Domain
{
    bool divisor = false; ///< integers: not 0
    bool moderate =
        false; ///< floats between 2^-10 and 2^10 in size, or not finite: sums that neither overflow nor cancel
    bool finite = false; ///< no NaN, no infinity: weights, which meet padding
    bool exponent = false; ///< integers: 0 to 5
    bool base = false; ///< integers: -9 to 9
};

/// Fills a tensor; bool tensors with false and true.
void fill(graph::HostTensor& tensor, Values values, const Domain& domain, Random& random);
/// Fills a tensor of places, of which there are `extent`; from the back too.
void fillPlaces(graph::HostTensor& tensor, std::int64_t extent, Random& random);

} // namespace lathe::net
