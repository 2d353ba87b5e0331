#include "core/templates/fallback.h"

#include <algorithm>

namespace lathe::templates {

Config plainFallback(const ConfigSpace& space)
{
    Config config;
    config.fallback = true;
    for (const Knob& knob : space.knobs())
        config.knobs.emplace_back(knob.name, knob.choices.front());
    return config;
}

Result<SplitEntity> fallbackSplit(std::int64_t extent, std::span<const std::int64_t> limits)
{
    if (limits.empty() || extent < 1 || extent > kMaxExtent)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, "the axis", "one that can be split"));
    SplitEntity split{std::vector<std::int64_t>(limits.size(), 1)};
    std::int64_t left = extent;
    for (std::size_t i = limits.size(); i-- > 0;) {
        const std::int64_t limit = limits[i] == -1 ? left : limits[i];
        const std::vector<std::int64_t> divisors = divisorsOf(left);
        const auto above = std::upper_bound(divisors.begin(), divisors.end(), limit);
        if (above == divisors.begin())
            return makeError(Errc::InvalidArgument,
                             say(Msg::TemplateWrong, "the limit " + std::to_string(limit), "at least 1, or -1"));
        split.sizes[i] = *(above - 1);
        left /= split.sizes[i];
    }
    return split;
}

Result<> setLimited(Config& config, const std::string& knob, std::int64_t extent, std::int64_t limit)
{
    const std::int64_t limits[] = {-1, limit};
    LATHE_TRY_ASSIGN(SplitEntity sizes, fallbackSplit(extent, limits));
    config.set(knob, std::move(sizes));
    return {};
}

double likeness(const ConfigSpace& ours, const ConfigSpace& theirs)
{
    double sum = 0;
    for (const Knob& knob : ours.knobs()) {
        const Knob* other = theirs.find(knob.name);
        if (knob.kind != KnobKind::Split || other == nullptr || other->kind != KnobKind::Split)
            continue;
        std::int64_t common = 0;
        const std::vector<std::int64_t> divisors = divisorsOf(knob.extent);
        for (const std::int64_t d : divisors)
            common += other->extent % d == 0 ? 1 : 0;
        sum += static_cast<double>(common) / static_cast<double>(divisors.size());
    }
    return sum;
}

Config fallbackLike(const ConfigSpace& space, std::span<const Reference> references)
{
    const Reference* best = nullptr;
    double bestLikeness = 0;
    for (const Reference& reference : references) {
        const double alike = likeness(space, *reference.space);
        if (alike > bestLikeness) {
            best = &reference;
            bestLikeness = alike;
        }
    }
    Config config = plainFallback(space);
    if (best == nullptr)
        return config;
    for (const Knob& knob : space.knobs()) {
        const Entity* chosen = best->config->find(knob.name);
        if (chosen == nullptr)
            continue;
        const auto* split = std::get_if<SplitEntity>(chosen);
        if (knob.kind != KnobKind::Split || split == nullptr) {
            config.set(knob.name, *chosen);
            continue;
        }
        std::vector<std::int64_t> limits = split->sizes;
        if (limits.size() != std::get<SplitEntity>(knob.choices.front()).sizes.size())
            continue; // of another version of the template
        limits[0] = -1;
        if (auto sizes = fallbackSplit(knob.extent, limits))
            config.set(knob.name, *std::move(sizes));
    }
    return config;
}

} // namespace lathe::templates
