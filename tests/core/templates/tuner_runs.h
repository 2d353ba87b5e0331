#pragma once

#include "core/templates/tuner.h"
#include "tests/core/templates/number_spaces.h"
#include "tests/support/must.h"

#include <QtGlobal>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace lathe::templates::test {

using Indices = std::vector<std::uint64_t>;

inline constexpr double kFailed = std::numeric_limits<double>::infinity();

/// What next() gives; it must not fail.
inline Indices ask(Tuner& tuner, std::size_t count)
{
    return lathe::test::must(tuner.next(count));
}

/// Asks and answers until it is exhausted, or `most` were given. Each round must bring something.
inline Indices runAll(Tuner& tuner, const ConfigSpace& space, std::size_t batch,
                      std::size_t most = std::numeric_limits<std::size_t>::max())
{
    Indices all;
    while (!tuner.exhausted() && all.size() < most) {
        const Indices round = ask(tuner, std::min(batch, most - all.size()));
        if (round.empty() && !tuner.exhausted())
            qFatal("a round without anything");
        for (const std::uint64_t index : round)
            tuner.tell(index, 1 + distance(space, index));
        all.insert(all.end(), round.begin(), round.end());
    }
    return all;
}

inline Indices upTo(std::uint64_t size)
{
    Indices indices(size);
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

inline Indices sorted(Indices indices)
{
    std::sort(indices.begin(), indices.end());
    return indices;
}

} // namespace lathe::templates::test
