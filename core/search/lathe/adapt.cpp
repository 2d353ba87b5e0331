#include "core/search/lathe/adapt.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::search {
namespace {

/// Choices are compared by ratio, as tile sizes are; 0 ("all of it", "none") is nearest to 1.
double apart(std::int64_t a, std::int64_t b)
{
    return std::abs(std::log2(1.0 + std::abs(static_cast<double>(a)))
                    - std::log2(1.0 + std::abs(static_cast<double>(b))));
}

std::int32_t nearest(const Parameter& parameter, std::int64_t wanted)
{
    const auto best = std::min_element(
        parameter.values.begin(), parameter.values.end(), [wanted](std::int64_t a, std::int64_t b) {
            // Of two equally near the smaller, which needs fewer registers.
            return apart(a, wanted) != apart(b, wanted) ? apart(a, wanted) < apart(b, wanted) : a < b;
        });
    return static_cast<std::int32_t>(best - parameter.values.begin());
}

/// Makes a phase legal by one change. False: no single one does.
bool repair(const PartedSketch& sketch, std::size_t part, std::span<std::int32_t> genes)
{
    if (sketch.secondsOf(part, genes))
        return true;
    const std::size_t first = sketch.genesOf(part).first;
    double least = std::numeric_limits<double>::infinity();
    std::size_t at = 0;
    std::int32_t to = 0;
    for (std::size_t g = 0; g < genes.size(); ++g) {
        const std::int32_t kept = genes[g];
        for (std::int32_t choice = 0; choice < sketch.parameters()[first + g].count; ++choice) {
            genes[g] = choice;
            if (const auto seconds = sketch.secondsOf(part, genes); seconds && *seconds < least) {
                least = *seconds;
                at = g;
                to = choice;
            }
        }
        genes[g] = kept;
    }
    if (!std::isfinite(least))
        return false;
    genes[at] = to;
    return true;
}

} // namespace

std::string formOf(const PartedSketch& sketch)
{
    std::string form = sketch.name();
    for (const Parameter& parameter : sketch.parameters())
        form += '|' + parameter.name;
    return form;
}

std::vector<std::int64_t> extentsOf(const PartedSketch& sketch)
{
    const compute::Dag& dag = *sketch.dag();
    std::vector<std::int64_t> extents;
    for (const compute::Op& op : dag.ops) {
        if (op.reduceExtents.empty())
            continue;
        extents.insert(extents.end(), op.shape.begin(), op.shape.end());
        extents.insert(extents.end(), op.reduceExtents.begin(), op.reduceExtents.end());
    }
    if (extents.empty())
        for (const std::int32_t output : dag.outputs) {
            const compute::Op& op = dag.ops[static_cast<std::size_t>(output)];
            extents.insert(extents.end(), op.shape.begin(), op.shape.end());
        }
    return extents;
}

double distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b)
{
    if (a.size() != b.size())
        return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += std::abs(std::log2(static_cast<double>(std::max<std::int64_t>(1, a[i])))
                        - std::log2(static_cast<double>(std::max<std::int64_t>(1, b[i]))));
    return a.empty() ? 0 : sum / static_cast<double>(a.size());
}

std::vector<std::int64_t> valuesOf(const PartedSketch& sketch, const Genome& genome)
{
    std::vector<std::int64_t> values;
    for (std::size_t g = 0; g < genome.size(); ++g)
        values.push_back(sketch.parameters()[g].values[static_cast<std::size_t>(genome[g])]);
    return values;
}

std::optional<Genome> adapt(const PartedSketch& sketch, std::span<const std::int64_t> values)
{
    if (values.size() != sketch.parameters().size())
        return std::nullopt;
    Genome genome;
    for (std::size_t g = 0; g < values.size(); ++g)
        genome.push_back(nearest(sketch.parameters()[g], values[g]));
    for (std::size_t part = 0; part < sketch.partCount(); ++part) {
        const auto [first, count] = sketch.genesOf(part);
        if (!repair(sketch, part, std::span(genome).subspan(first, count)))
            return std::nullopt;
    }
    return genome;
}

} // namespace lathe::search
