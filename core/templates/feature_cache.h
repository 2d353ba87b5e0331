#pragma once

#include "core/templates/tuner.h"

#include <unordered_map>

namespace lathe::templates {

/// Features of a space's configurations by index, each computed once: those of itervar need lowering. Where too many
/// are kept, all are dropped, as in the reference: those that are needed come back.
class FeatureCache
{
public:
    /// Empty `features`: those of the kind `knob` (ConfigSpace::features). The space must outlive it.
    /// @param mostBytes  of all features together; one configuration's are kept however many they are
    FeatureCache(const ConfigSpace& space, ConfigFeatures features, std::size_t mostBytes = kMostBytes)
        : m_space(space)
        , m_features(std::move(features))
        , m_mostBytes(mostBytes)
    {
    }

    /// Valid until the next call. Null: this configuration has none. Errors: Cancelled.
    Result<const std::vector<float>*> of(std::uint64_t index)
    {
        if (const auto found = m_cached.find(index); found != m_cached.end())
            return found->second ? &*found->second : nullptr;
        Result<std::vector<float>> computed = compute(index);
        if (!computed && computed.error().code == Errc::Cancelled)
            return std::move(computed).error();
        const std::size_t bytes = computed ? computed->size() * sizeof(float) : 0;
        if (m_cached.size() >= kMost || m_bytes + bytes > m_mostBytes) {
            m_cached.clear();
            m_bytes = 0;
        }
        m_bytes += bytes;
        std::optional<std::vector<float>>& features = m_cached[index];
        if (computed)
            features = *std::move(computed);
        return features ? &*features : nullptr;
    }

    static constexpr std::size_t kMost = 100'000; ///< configurations (autotvm.md 7.2)
    /// Those of loops are thousands of numbers for large kernels, of which the reference would keep gigabytes.
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

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
    std::size_t m_mostBytes;
    std::size_t m_bytes = 0; ///< of the features in it
};

} // namespace lathe::templates
