#include "tests/cuda_driver/ptx/pattern.h"

#include "tests/cuda_driver/ptx/accesses.h"

#include <algorithm>

namespace lathe::ptx {

namespace {

/// Bank conflicts and sectors depend on differences of addresses and on how the first one is aligned: any other one
/// will do.
constexpr uint64_t kSomewhere = uint64_t(1) << 40;

using Offsets = std::array<int32_t, kLanes>;

uint64_t hashOf(LaneMask lanes, const Offsets& offsets, unsigned bytes, unsigned phase)
{
    uint64_t hash = (uint64_t(lanes) << 8 | bytes << 2 | phase) * 0x9e3779b97f4a7c15;
    for (const int32_t offset : offsets)
        hash = (hash ^ (hash >> 29) ^ static_cast<uint32_t>(offset)) * 0xbf58476d1ce4e5b9;
    return hash;
}

struct Touched
{
    int64_t word; // relative to the first lane, rounded down
    uint32_t lane;
};

void findRuns(Pattern& made)
{
    std::vector<Touched> all;
    forEachLane(made.lanes, [&](unsigned lane) {
        const int64_t begin = int64_t(made.offsets[lane]) + made.phase, end = begin + made.bytes;
        for (int64_t at = begin & ~int64_t(3); at < end; at += 4)
            all.push_back({at - made.phase, lane});
    });
    std::sort(all.begin(), all.end(),
              [](const Touched& a, const Touched& b) { return a.word != b.word ? a.word < b.word : a.lane < b.lane; });
    int64_t last = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        if (i > 0 && all[i].word == last) {
            made.who.back() = Pattern::kSeveral;
            made.shares = true;
            continue;
        }
        if (i == 0 || all[i].word != last + 4)
            made.runs.push_back({static_cast<int32_t>(all[i].word), 0, static_cast<uint32_t>(made.who.size())});
        ++made.runs.back().words;
        made.who.push_back(all[i].lane);
        last = all[i].word;
    }
    made.overlaps = made.shares;
    if (made.bytes < 4 && made.shares) {
        std::vector<int64_t> places;
        forEachLane(made.lanes, [&](unsigned lane) { places.push_back(made.offsets[lane]); });
        std::sort(places.begin(), places.end());
        made.overlaps = false;
        for (size_t i = 1; i < places.size(); ++i)
            made.overlaps |= places[i] - places[i - 1] < made.bytes;
    }
}

} // namespace

void Pattern::countSectors(uint64_t first) const
{
    uint64_t addresses[kLanes];
    forEachLane(lanes, [&](unsigned lane) {
        addresses[lane] = kSomewhere + first % 32 + static_cast<uint64_t>(int64_t(offsets[lane]));
    });
    const SectorCount count = sectorsOf(lanes, addresses, bytes);
    sectors[first % 32] = static_cast<uint8_t>(count.different);
    idealSectors[first % 32] = static_cast<uint8_t>(count.ideal);
}

const Pattern* PatternTable::find(LaneMask lanes, const uint64_t* addresses, unsigned bytes)
{
    Offsets offsets{};
    const uint64_t first = addresses[std::countr_zero(lanes)];
    const unsigned phase = bytes < 4 ? first % 4 : 0;
    bool isNear = true;
    forEachLane(lanes, [&](unsigned lane) {
        const auto offset = static_cast<int64_t>(addresses[lane] - first);
        offsets[lane] = static_cast<int32_t>(offset);
        isNear &= offset > -(int64_t(1) << 30) && offset < int64_t(1) << 30;
    });
    if (!isNear)
        return nullptr;
    const uint64_t hash = hashOf(lanes, offsets, bytes, phase);
    const auto [begin, end] = m_all.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
        const Pattern& known = at->second;
        if (known.lanes == lanes && known.bytes == bytes && known.phase == phase && known.offsets == offsets)
            return &known;
    }
    // What is addressed at random has a pattern for each access: these are not kept for ever.
    constexpr size_t kMost = 1 << 14;
    if (m_all.size() >= kMost)
        return nullptr;
    Pattern& made = m_all.emplace(hash, Pattern())->second;
    made.lanes = lanes;
    made.bytes = static_cast<uint8_t>(bytes);
    made.phase = static_cast<uint8_t>(phase);
    made.offsets = offsets;
    made.isUniform = made.isRow = true;
    made.isRow = lanes == kAllLanes;
    forEachLane(lanes, [&](unsigned lane) {
        made.active[lane] = ~0u;
        made.isUniform &= offsets[lane] == 0;
        made.isRow &= offsets[lane] == static_cast<int32_t>(lane * bytes);
        made.least = std::min(made.least, offsets[lane]);
        made.most = std::max(made.most, offsets[lane]);
        made.lowBits |= static_cast<uint32_t>(offsets[lane]);
    });
    findRuns(made);
    uint64_t places[kLanes];
    forEachLane(lanes, [&](unsigned lane) {
        places[lane] = kSomewhere + phase + static_cast<uint64_t>(int64_t(offsets[lane]));
    });
    const PassCount passes = passesOf(lanes, places, bytes);
    made.wavefronts = passes.wavefronts;
    made.ideal = passes.ideal;
    return &made;
}

} // namespace lathe::ptx
