#include "core/search/factor_tuples.h"

#include "core/support/check.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace lathe::search {

std::vector<std::int64_t> divisors(std::int64_t extent)
{
    std::vector<std::int64_t> low, high;
    for (std::int64_t d = 1; d * d <= extent; ++d) {
        if (extent % d != 0)
            continue;
        low.push_back(d);
        if (d != extent / d)
            high.push_back(extent / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

namespace {

void enumerate(std::int64_t rest, std::int32_t parts, std::int64_t maxInnermost, std::vector<std::int64_t>& prefix,
               std::vector<std::int64_t>& out)
{
    for (const std::int64_t d : divisors(rest)) {
        if (parts == 1 && d > maxInnermost)
            return;
        prefix.push_back(d);
        if (parts == 1)
            out.insert(out.end(), prefix.begin(), prefix.end());
        else
            enumerate(rest / d, parts - 1, maxInnermost, prefix, out);
        prefix.pop_back();
    }
}

} // namespace

FactorTuples::FactorTuples(std::int64_t extent, std::int32_t parts, std::int64_t maxInnermost)
    : m_extent(extent)
    , m_parts(parts)
    , m_maxInnermost(maxInnermost)
{
    LATHE_CHECK(extent >= 1 && parts >= 1 && maxInnermost >= 1) << extent << " in " << parts << " parts";
    std::vector<std::int64_t> prefix;
    enumerate(extent, parts, maxInnermost, prefix, m_values);
}

std::shared_ptr<const FactorTuples> FactorTuples::get(std::int64_t extent, std::int32_t parts,
                                                      std::int64_t maxInnermost)
{
    static std::mutex mutex;
    static std::map<std::tuple<std::int64_t, std::int32_t, std::int64_t>, std::shared_ptr<const FactorTuples>> tables;
    const std::scoped_lock lock(mutex);
    auto& table = tables[{extent, parts, maxInnermost}];
    if (!table)
        table = std::make_shared<const FactorTuples>(extent, parts, maxInnermost);
    return table;
}

std::int32_t FactorTuples::indexOf(std::span<const std::int64_t> wanted) const
{
    if (wanted.size() != static_cast<std::size_t>(m_parts))
        return -1;
    std::int32_t low = 0, high = count();
    while (low < high) {
        const std::int32_t middle = low + (high - low) / 2;
        const auto here = tuple(middle);
        if (std::lexicographical_compare(here.begin(), here.end(), wanted.begin(), wanted.end()))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count() && std::equal(wanted.begin(), wanted.end(), tuple(low).begin()) ? low : -1;
}

} // namespace lathe::search
