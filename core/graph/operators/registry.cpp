#include "core/graph/operators/families.h"

#include "core/support/check.h"

#include <algorithm>

namespace lathe::graph {
namespace {

const std::vector<const OpDef*>& sortedOperators()
{
    static const std::vector<const OpDef*> sorted = [] {
        std::vector<const OpDef*> all;
        for (const auto family :
             {operators::convolutionOperators(), operators::elementwiseOperators(), operators::broadcastOperators(),
              operators::indexingOperators(), operators::matmulOperators(), operators::normOperators(), operators::poolOperators(), operators::reduceOperators(), operators::reshapeOperators(),
              operators::sliceOperators()}) {
            for (const OpDef& entry : family)
                all.push_back(&entry);
        }
        std::ranges::sort(all, {}, &OpDef::name);
        const auto twice = std::ranges::adjacent_find(all, {}, &OpDef::name);
        LATHE_CHECK(twice == all.end()) << "operator " << (*twice)->name << " has two entries";
        return all;
    }();
    return sorted;
}

} // namespace

HostTensor HostTensor::zeros(TensorType type)
{
    std::size_t bytes = static_cast<std::size_t>(sizeOf(type.dtype));
    for (const std::int64_t extent : type.shape)
        bytes *= static_cast<std::size_t>(extent);
    return {std::move(type), std::vector<std::byte>(bytes)};
}

const OpDef* findOperator(std::string_view name)
{
    const auto& all = sortedOperators();
    const auto found = std::ranges::lower_bound(all, name, {}, &OpDef::name);
    return found != all.end() && (*found)->name == name ? *found : nullptr;
}

std::span<const OpDef* const> allOperators()
{
    return sortedOperators();
}

} // namespace lathe::graph
