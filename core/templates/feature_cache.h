#pragma once

#include "core/templates/tuner.h"

#include <unordered_map>

namespace lathe::templates {

/// Features of a space's configurations by index, each computed once: those of itervar need lowering.
class FeatureCache
{
public:
    /// Empty `features`: those of the kind `knob` (ConfigSpace::features). The space must outlive it.
    FeatureCache(const ConfigSpace& space, ConfigFeatures features)
        : m_space(space)
        , m_features(std::move(features))
    {
    }

    /// Valid until the next call. Null: this configuration has none. Errors: Cancelled.
    Result<const std::vector<float>*> of(std::uint64_t index)
    {
        if (const auto found = m_cached.find(index); found != m_cached.end())
            return found->second ? &*found->second : nullptr;
        if (m_cached.size() >= kMost)
            m_cached.clear(); // as the reference: those that are needed come back
        std::optional<std::vector<float>>& features = m_cached[index];
        Result<std::vector<float>> computed = compute(index);
        if (computed) {
            features = *std::move(computed);
        } else if (computed.error().code == Errc::Cancelled) {
            m_cached.erase(index);
            return std::move(computed).error();
        }
        return features ? &*features : nullptr;
    }

    static constexpr std::size_t kMost = 100'000; ///< autotvm.md 7.2

private:
    Result<std::vector<float>> compute(std::uint64_t index) const
    {
        LATHE_TRY_ASSIGN(const Config config, m_space.at(index));
        if (m_features)
            return m_features(config);
        return m_space.features(config);
    }

    const ConfigSpace& m_space;
    ConfigFeatures m_features;
    std::unordered_map<std::uint64_t, std::optional<std::vector<float>>> m_cached;
};

} // namespace lathe::templates
