#pragma once

#include "core/templates/config_space.h"

#include <map>

namespace lathe::templates {

/// How many configurations of a space its constraints refuse.
struct InvalidShare
{
    std::uint64_t checked = 0; ///< configurations that were looked at
    std::uint64_t invalid = 0; ///< of these
    bool exact = false; ///< all were looked at
    std::map<std::string, std::uint64_t> byConstraint; ///< of the invalid ones, by the name of the first that refuses

    double share() const { return checked == 0 ? 0 : static_cast<double>(invalid) / static_cast<double>(checked); }
};

/// Of all configurations if they are no more than `most`, else of `most` drawn at random, the same for equal seeds.
InvalidShare invalidShare(const ConfigSpace& space, std::uint64_t most = 10'000, std::uint64_t seed = 0);

/// A space as a person reads it: its size, then a line for each knob with what it chooses among, of many choices the
/// first four and the last:
///
///     980 configurations
///     tile_ic: split of 64, 7 choices: [-1, 1]; [-1, 2]; [-1, 4]; [-1, 8]; ...; [-1, 64]
///     unroll_kw: option, 2 choices: true; false
std::string describe(const ConfigSpace& space);

std::string_view toString(KnobKind kind); ///< "split"

} // namespace lathe::templates
