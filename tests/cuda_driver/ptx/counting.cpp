#include "tests/cuda_driver/ptx/accesses.h"

#include <algorithm>

namespace lathe::ptx {

namespace {

constexpr unsigned kBanks = 32;
constexpr uint64_t kSector = 32;

/// Of these words of four bytes, how many passes the banks need: the most different words of one bank.
unsigned passes(const uint64_t* words, unsigned count)
{
    bool consecutive = true, same = true;
    for (unsigned i = 1; i < count; ++i) {
        consecutive &= words[i] == words[0] + i;
        same &= words[i] == words[0];
    }
    if (count <= 1 || same || (consecutive && count <= kBanks))
        return 1;
    uint64_t first[kBanks]; // the word that a bank was asked for
    uint32_t asked = 0;
    bool conflict = false;
    for (unsigned i = 0; i < count; ++i) {
        const auto bank = static_cast<unsigned>(words[i] % kBanks);
        const bool isFirst = (asked >> bank & 1) == 0;
        asked |= 1u << bank;
        first[bank] = isFirst ? words[i] : first[bank];
        conflict |= first[bank] != words[i];
    }
    if (!conflict)
        return 1;
    uint64_t seen[kLanes];
    uint8_t perBank[kBanks] = {};
    unsigned most = 0, different = 0;
    for (unsigned i = 0; i < count; ++i) {
        if (std::find(seen, seen + different, words[i]) != seen + different)
            continue;
        seen[different++] = words[i];
        most = std::max<unsigned>(most, ++perBank[words[i] % kBanks]);
    }
    return most;
}

} // namespace

SectorCount sectorsOf(LaneMask lanes, const uint64_t* addresses, unsigned bytes)
{
    uint64_t sectors[2 * kLanes];
    unsigned different = 0, count = 0;
    uint64_t highest = 0;
    const auto add = [&](uint64_t sector) {
        if (different > 0 && sectors[different - 1] == sector)
            return;
        if (different > 0 && sector <= highest
            && std::find(sectors, sectors + different, sector) != sectors + different)
            return;
        sectors[different++] = sector;
        highest = std::max(highest, sector);
    };
    forEachLane(lanes, [&](unsigned lane) {
        add(addresses[lane] / kSector);
        if (bytes > 1 && (addresses[lane] + bytes - 1) / kSector != addresses[lane] / kSector)
            add((addresses[lane] + bytes - 1) / kSector);
        ++count;
    });
    return {different,
            static_cast<unsigned>(std::min<uint64_t>(different, (uint64_t(count) * bytes + kSector - 1) / kSector))};
}

PassCount passesOf(LaneMask lanes, const uint64_t* addresses, unsigned bytes)
{
    // Accesses of 8 bytes go half a warp at a time, of 16 a quarter.
    const unsigned perPass = bytes <= 4 ? kLanes : bytes == 8 ? kLanes / 2 : kLanes / 4;
    const unsigned words = std::max(1u, bytes / 4);
    PassCount made;
    for (unsigned begin = 0; begin < kLanes; begin += perPass) {
        uint64_t touched[kLanes];
        unsigned count = 0;
        for (unsigned lane = begin; lane < begin + perPass; ++lane)
            for (unsigned word = 0; (lanes >> lane & 1) != 0 && word < words; ++word)
                touched[count++] = addresses[lane] / 4 + word;
        if (count == 0)
            continue;
        made.wavefronts += passes(touched, count);
        ++made.ideal;
    }
    return made;
}

void countGlobal(Warp& warp, LaneMask lanes, const uint64_t* addresses, unsigned bytes, Touch touch)
{
    countGlobal(warp, countOf(lanes), sectorsOf(lanes, addresses, bytes), bytes, touch);
}

void countGlobal(Warp& warp, unsigned count, const SectorCount& sectors, unsigned bytes, Touch touch)
{
    Counters& counters = warp.block->launch->report.counters;
    ++counters.globalRequests;
    counters.globalSectors += sectors.different;
    counters.globalIdeal += sectors.ideal;
    if (touch != Touch::Write)
        counters.globalReadBytes += uint64_t(count) * bytes;
    if (touch != Touch::Read)
        counters.globalWrittenBytes += uint64_t(count) * bytes;
    if (touch == Touch::Atomic)
        counters.atomics += count;
}

void countShared(Warp& warp, LaneMask lanes, const uint64_t* addresses, unsigned bytes)
{
    countShared(warp, passesOf(lanes, addresses, bytes));
}

void countShared(Warp& warp, const PassCount& passes)
{
    Counters& counters = warp.block->launch->report.counters;
    ++counters.sharedRequests;
    counters.sharedWavefronts += passes.wavefronts;
    counters.sharedIdeal += passes.ideal;
}

} // namespace lathe::ptx
