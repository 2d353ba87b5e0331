#include "core/record/record.h"

#include <limits>
#include <numeric>

namespace lathe {
namespace {

/// Bytes to hash: fixed-width little-endian numbers, strings behind their length, so that no two candidates share them.
class HashInput
{
public:
    void add(std::uint64_t value)
    {
        for (int i = 0; i < 8; ++i)
            m_bytes += static_cast<char>(value >> (8 * i) & 0xff);
    }
    void add(std::string_view text)
    {
        add(static_cast<std::uint64_t>(text.size()));
        m_bytes += text;
    }
    void add(const IndexMap& map)
    {
        add(static_cast<std::uint64_t>(map.logicalRank));
        for (int d = 0; d < map.logicalRank; ++d)
            add(static_cast<std::uint64_t>(map.logicalShape[d]));
        add(static_cast<std::uint64_t>(map.physicalRank));
        for (int j = 0; j < map.physicalRank; ++j) {
            add(static_cast<std::uint64_t>(map.axes[j].dim));
            add(static_cast<std::uint64_t>(map.axes[j].div));
            add(static_cast<std::uint64_t>(map.axes[j].extent));
            add(static_cast<std::uint64_t>(map.axes[j].stride));
        }
    }
    const std::string& bytes() const { return m_bytes; }

private:
    std::string m_bytes;
};

} // namespace

Hash128 Candidate::hash() const
{
    HashInput input;
    input.add(task);
    input.add(alternative);
    input.add(static_cast<std::uint64_t>(edges.size()));
    for (const EdgeState& edge : edges) {
        input.add(edge.map);
        input.add(edge.split);
    }
    input.add(kind);
    input.add(sketch);
    input.add(static_cast<std::uint64_t>(genome.size()));
    for (const std::int32_t gene : genome)
        input.add(static_cast<std::uint64_t>(static_cast<std::int64_t>(gene)));
    input.add(steps);
    return contentHash(input.bytes());
}

std::string_view toString(TrialStage stage)
{
    switch (stage) {
    case TrialStage::Done: return "done";
    case TrialStage::Lower: return "lower";
    case TrialStage::Build: return "build";
    case TrialStage::Load: return "load";
    case TrialStage::Run: return "run";
    case TrialStage::Verify: return "verify";
    case TrialStage::Transport: return "transport";
    }
    return "unknown";
}

double TrialResult::meanNs() const
{
    if (costsNs.empty())
        return std::numeric_limits<double>::infinity();
    return std::accumulate(costsNs.begin(), costsNs.end(), 0.0) / static_cast<double>(costsNs.size());
}

} // namespace lathe
