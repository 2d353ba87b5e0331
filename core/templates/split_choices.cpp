#include "core/templates/split_choices.h"

#include "core/support/message.h"

#include <algorithm>

namespace lathe::templates {
namespace {

std::vector<std::int64_t> powersOfTwo(std::int64_t extent)
{
    std::vector<std::int64_t> powers;
    for (std::int64_t power = 1; power <= extent; power *= 2)
        powers.push_back(power);
    return powers;
}

std::vector<std::int64_t> innerFactors(const SplitRule& rule)
{
    std::vector<std::int64_t> factors;
    if (rule.policy != SplitPolicy::Power2)
        factors = divisorsOf(rule.extent);
    if (rule.policy != SplitPolicy::Factors) {
        const std::vector<std::int64_t> powers = powersOfTwo(rule.extent);
        factors.insert(factors.end(), powers.begin(), powers.end());
        std::sort(factors.begin(), factors.end());
        factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    }
    std::erase_if(factors, [&rule](std::int64_t factor) { return factor > rule.maxFactor; });
    return factors;
}

Error badSplit(std::string part, std::string wanted)
{
    return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

/// Depth first, the innermost size in the outermost loop. What is begun is always finished at least once, since 1 is a
/// factor: the time is proportional to the number of choices.
class SplitEnumeration
{
public:
    SplitEnumeration(const SplitRule& rule, std::vector<std::vector<std::int64_t>>& choices)
        : m_rule(rule)
        , m_noTail(rule.noTail.value_or(rule.policy == SplitPolicy::Factors))
        , m_factors(innerFactors(rule))
        , m_sizes(static_cast<std::size_t>(rule.outputs), -1)
        , m_choices(choices)
    {
    }
    /// False: there are too many.
    bool run() { return from(m_sizes.size() - 1, 1); }

private:
    bool from(std::size_t place, std::int64_t product)
    {
        if (place == 0) {
            if (m_choices.size() == kMaxChoices)
                return false;
            m_choices.push_back(m_sizes);
            return true;
        }
        for (const std::int64_t factor : m_factors) {
            if (factor > m_rule.extent / product)
                break;
            const std::int64_t next = product * factor;
            if (m_noTail && m_rule.extent % next != 0)
                continue;
            m_sizes[place] = factor;
            if (!from(place - 1, next))
                return false;
        }
        return true;
    }

    const SplitRule& m_rule;
    bool m_noTail;
    std::vector<std::int64_t> m_factors;
    std::vector<std::int64_t> m_sizes;
    std::vector<std::vector<std::int64_t>>& m_choices;
};

} // namespace

std::vector<std::int64_t> divisorsOf(std::int64_t extent)
{
    std::vector<std::int64_t> low, high;
    for (std::int64_t d = 1; d * d <= extent; ++d) {
        if (extent % d != 0)
            continue;
        low.push_back(d);
        if (d * d != extent)
            high.push_back(extent / d);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

std::vector<std::int64_t> splitExtents(std::span<const std::int64_t> sizes, std::int64_t extent)
{
    std::vector<std::int64_t> extents(sizes.begin(), sizes.end());
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < extents.size(); ++i)
        inner = extents[i] > kMaxExtent / inner ? kMaxExtent : inner * extents[i];
    if (!extents.empty())
        extents[0] = (extent + inner - 1) / inner;
    return extents;
}

Result<std::vector<std::vector<std::int64_t>>> splitChoices(const std::string& knob, const SplitRule& rule)
{
    if (rule.extent < 1 || rule.extent > kMaxExtent)
        return badSplit("the extent of the axis of " + knob, "between 1 and " + std::to_string(kMaxExtent));
    if (rule.outputs < 1 || rule.outputs > 16)
        return badSplit("the number of sizes of " + knob, "between 1 and 16");
    std::vector<std::vector<std::int64_t>> choices;
    if (rule.policy == SplitPolicy::Candidates) {
        choices = rule.candidates;
        const auto isSize = [](std::int64_t size) { return size == -1 || size > 0; };
        for (const std::vector<std::int64_t>& sizes : choices)
            if (std::ssize(sizes) != rule.outputs || !std::ranges::all_of(sizes, isSize))
                return badSplit("a candidate of " + knob, "of " + std::to_string(rule.outputs) + " sizes");
    } else if (!SplitEnumeration(rule, choices).run()) {
        return badSplit("the number of choices of " + knob, "at most " + std::to_string(kMaxChoices));
    }
    if (rule.filter)
        std::erase_if(choices, [&rule](const std::vector<std::int64_t>& sizes) { return !rule.filter(sizes); });
    return choices;
}

} // namespace lathe::templates
