#include "core/graph/operators/families.h"
#include "core/support/check.h"

#include <algorithm>

namespace lathe::graph {
namespace {

std::vector<const OpDef*>& sortedOperators()
{
    static std::vector<const OpDef*> sorted = [] {
        std::vector<const OpDef*> all;
        for (const auto family :
             {operators::controlOperators(), operators::convolutionOperators(), operators::countedOperators(),
              operators::elementwiseOperators(), operators::broadcastOperators(), operators::indexingOperators(),
              operators::matmulOperators(), operators::normOperators(), operators::orderingOperators(),
              operators::poolOperators(), operators::quantizeOperators(), operators::reduceOperators(),
              operators::reshapeOperators(), operators::samplingOperators(), operators::scatterOperators(),
              operators::sliceOperators(), operators::windowOperators()}) {
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

AddedOperator::AddedOperator(OpDef entry)
    : m_entry(std::move(entry))
{
    auto& all = sortedOperators();
    const auto place = std::ranges::lower_bound(all, m_entry.name, {}, &OpDef::name);
    LATHE_CHECK(place == all.end() || (*place)->name != m_entry.name)
        << "operator " << m_entry.name << " has two entries";
    all.insert(place, &m_entry);
}

AddedOperator::~AddedOperator()
{
    std::erase(sortedOperators(), &m_entry);
}

const OpTraits& traitsOf(const Node& node)
{
    static const OpTraits unknown;
    const OpDef* entry = findOperator(node.op);
    return entry ? entry->traits : unknown;
}

Cost costOf(const Node& node)
{
    const OpDef* entry = findOperator(node.op);
    if (!entry)
        return Cost::Reduction;
    if (entry->traits.cost != Cost::ByPattern)
        return entry->traits.cost;
    switch (entry->pattern) {
    case Pattern::Elementwise:
    case Pattern::Broadcast: return Cost::Elementwise;
    case Pattern::Injective: return Cost::Movement;
    case Pattern::OutElementwiseFusable: return Cost::Product;
    case Pattern::CommReduce:
    case Pattern::Tuple:
    case Pattern::Opaque: break;
    }
    return Cost::Reduction;
}

} // namespace lathe::graph
