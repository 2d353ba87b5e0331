#include "tests/cuda_driver/ptx/quick.h"

#include "tests/cuda_driver/ptx/quick_shadows.h"

#include <new>

namespace lathe::ptx {

namespace {

constexpr uint64_t kPage = Quick::kPageBytes;

/// Keeps what the launch is about to overwrite for the first time.
void save(Quick& quick, Allocation& allocation, uint64_t begin, uint64_t end)
{
    if (allocation.savedAt.empty())
        allocation.savedAt.resize((allocation.size + kPage - 1) / kPage);
    for (uint64_t page = begin / kPage; page <= (end - 1) / kPage; ++page) {
        if (allocation.savedAt[page] == quick.launchEpoch)
            continue;
        allocation.savedAt[page] = quick.launchEpoch;
        SavedPage& saved = quick.saved.emplace_back();
        saved.allocation = &allocation;
        saved.offset = page * kPage;
        const uint64_t size = std::min(kPage, allocation.size - saved.offset);
        const uint8_t* const bytes = allocation.bytes.get() + saved.offset;
        const uint8_t* const flags = allocation.initialized.get() + saved.offset;
        saved.bytes.assign(bytes, bytes + size);
        saved.initialized.assign(flags, flags + size);
    }
}

ZeroedWords zeroedWords(uint64_t bytes)
{
    ZeroedWords made(static_cast<uint64_t*>(std::calloc((bytes + 3) / 4, sizeof(uint64_t))));
    if (!made)
        throw std::bad_alloc();
    return made;
}

GlobalEpoch globalNow(const Warp& warp, const Quick& quick)
{
    const uint64_t now = quick.epoch << Quick::kGlobalShift;
    return {quick.launchEpoch << Quick::kGlobalShift, quick.blockEpoch << Quick::kGlobalShift, now,
            now + warp.index * kLanes};
}

SharedEpoch sharedNow(const Warp& warp, const Quick& quick)
{
    const uint32_t now = quick.sharedEpoch << Quick::kSharedShift;
    return {now, now + warp.index * kLanes};
}

/// Of accesses below four bytes, whose runs are wider than what is touched.
bool anyLaneUninitialized(const Allocation& allocation, const Located& located, uint64_t offset)
{
    bool any = false;
    forEachLane(located.pattern->lanes, [&](unsigned lane) {
        const uint64_t at = offset + static_cast<uint64_t>(int64_t(located.pattern->offsets[lane]));
        any |= anyZero(allocation.initialized.get() + at, located.pattern->bytes);
    });
    return any;
}

} // namespace

Quick::Quick(const Program& program, bool withTraces)
    : tracesReads(withTraces)
    , allocationAt(program.accesses)
    , reads(program.accesses)
    , writes(program.accesses)
{
}

void beginLaunch(Quick& quick, Launch& launch, size_t warps)
{
    quick.patternAt.assign(size_t(launch.program.accesses) * warps, nullptr);
    quick.copies.resize(launch.request.kernel->copiesAsynchronously ? warps : 0);
    quick.launchEpoch = quick.epoch = launch.memory.quickEpoch + 1;
}

void beginBlock(Quick& quick, const Block& block)
{
    quick.blockEpoch = ++quick.epoch;
    quick.sharedEpoch = 1;
    if (block.launch->request.checked) {
        quick.sharedWrites.assign((block.shared.size() + 3) / 4, 0);
        quick.sharedReads.assign((block.shared.size() + 3) / 4, 0);
    }
    for (WarpCopies& copies : quick.copies)
        copies = {};
}

void beginEpoch(Quick& quick)
{
    ++quick.epoch;
    if (++quick.sharedEpoch > Quick::kMostSharedEpochs)
        throw Doubt();
}

bool mayOverlap(const Quick& quick)
{
    std::vector<Range> reads, writes;
    for (const Range& range : quick.reads)
        if (range.high > range.low)
            reads.push_back(range);
    for (const Range& range : quick.writes)
        if (range.high > range.low)
            writes.push_back(range);
    const auto byLow = [](const Range& a, const Range& b) { return a.low < b.low; };
    std::sort(reads.begin(), reads.end(), byLow);
    std::sort(writes.begin(), writes.end(), byLow);
    uint64_t reached = 0; // by the ranges that were read and begin before
    size_t next = 0;
    for (const Range& write : writes) {
        for (; next < reads.size() && reads[next].low < write.high; ++next)
            reached = std::max(reached, reads[next].high);
        if (reached > write.low)
            return true;
    }
    return false;
}

void undo(Quick& quick)
{
    for (const SavedPage& page : quick.saved) {
        std::memcpy(page.allocation->bytes.get() + page.offset, page.bytes.data(), page.bytes.size());
        std::memcpy(page.allocation->initialized.get() + page.offset, page.initialized.data(), page.initialized.size());
    }
    quick.saved.clear();
}

bool locate(Warp& warp, RowRef base, bool wide, int64_t offset, LaneMask lanes, unsigned bytes, uint32_t slot,
            Located& located)
{
    Quick& quick = *warp.block->launch->quick;
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const Pattern*& known = quick.patternAt[size_t(slot) * warp.block->warps.size() + warp.index];
    const auto isKnown = [&](const auto* row) {
        return known && known->lanes == lanes && (bytes >= 4 || known->phase == located.first % 4)
               && isPattern(row, row[lane], *known);
    };
    if (wide) {
        const uint64_t* const row = warp.row<uint64_t>(base);
        located.first = row[lane] + static_cast<uint64_t>(offset);
        if (isKnown(row)) {
            located.pattern = known;
            return true;
        }
        uint64_t addresses[kLanes];
        for (unsigned l = 0; l < kLanes; ++l)
            addresses[l] = row[l] + static_cast<uint64_t>(offset);
        located.pattern = quick.patterns.find(lanes, addresses, bytes);
    } else {
        const uint32_t* const row = warp.row<uint32_t>(base);
        located.first = row[lane] + static_cast<uint32_t>(offset);
        if (isKnown(row)) {
            located.pattern = known;
            return true;
        }
        // Differences of 32 bits, so that those are found that wrap around.
        uint64_t addresses[kLanes];
        for (unsigned l = 0; l < kLanes; ++l)
            addresses[l] = located.first + static_cast<uint64_t>(int64_t(static_cast<int32_t>(row[l] - row[lane])));
        located.pattern = quick.patterns.find(lanes, addresses, bytes);
    }
    known = located.pattern;
    return known != nullptr;
}

Allocation* quickAllocation(Launch& launch, uint32_t slot, const Located& located, Touch touch)
{
    const uint64_t low = located.low(), high = located.high();
    Allocation*& hit = launch.quick->allocationAt[slot];
    if (!hit || low - hit->base >= hit->size)
        hit = launch.memory.find(low);
    if (!hit || high <= low || high - hit->base > hit->size)
        return nullptr;
    if (touch != Touch::Write)
        hit->readIn = launch.number;
    if (touch != Touch::Read)
        hit->writtenIn = launch.number;
    return hit;
}

bool readShared(Warp& warp, const Located& located)
{
    Quick& quick = *warp.block->launch->quick;
    const SharedEpoch now = sharedNow(warp, quick);
    bool doubt = false;
    for (const Pattern::Run& run : located.pattern->runs) {
        const size_t word = (located.first + static_cast<uint64_t>(int64_t(run.offset))) / 4;
        doubt |= doubtSharedRead(quick.sharedWrites.data() + word, quick.sharedReads.data() + word,
                                 located.pattern->who.data() + run.first, run.words, now);
    }
    return !doubt;
}

bool writeShared(Warp& warp, const Located& located)
{
    Quick& quick = *warp.block->launch->quick;
    if (located.pattern->shares)
        return false;
    const SharedEpoch now = sharedNow(warp, quick);
    bool doubt = false;
    for (const Pattern::Run& run : located.pattern->runs) {
        const size_t word = (located.first + static_cast<uint64_t>(int64_t(run.offset))) / 4;
        doubt |= doubtSharedWrite(quick.sharedWrites.data() + word, quick.sharedReads.data() + word,
                                  located.pattern->who.data() + run.first, run.words, now);
    }
    return !doubt;
}

bool readGlobal(Warp& warp, Allocation& allocation, const Located& located, uint32_t slot)
{
    Quick& quick = *warp.block->launch->quick;
    const Pattern& pattern = *located.pattern;
    const uint64_t offset = located.first - allocation.base;
    const bool traced = quick.tracesReads && !allocation.readOnly;
    if (!allocation.readOnly)
        quick.reads[slot].add(located.low(), located.high());
    if (pattern.bytes < 4 && anyLaneUninitialized(allocation, located, offset))
        return false;
    if (traced && !allocation.quickReads)
        allocation.quickReads = zeroedWords(allocation.size);
    if (traced && !allocation.quickWrites)
        allocation.quickWrites = zeroedWords(allocation.size);
    const GlobalEpoch now = globalNow(warp, quick);
    bool doubt = false;
    for (const Pattern::Run& run : pattern.runs) {
        const uint64_t at = offset + static_cast<uint64_t>(int64_t(run.offset));
        doubt |= pattern.bytes >= 4 && anyZero(allocation.initialized.get() + at, size_t(run.words) * 4);
        if (traced)
            doubt |= doubtGlobalRead(allocation.quickWrites.get() + at / 4, allocation.quickReads.get() + at / 4,
                                     pattern.who.data() + run.first, run.words, now);
    }
    return !doubt;
}

bool writeGlobal(Warp& warp, Allocation& allocation, const Located& located, uint32_t slot)
{
    Quick& quick = *warp.block->launch->quick;
    const Pattern& pattern = *located.pattern;
    if (pattern.overlaps)
        return false;
    quick.writes[slot].add(located.low(), located.high());
    if (!allocation.quickWrites)
        allocation.quickWrites = zeroedWords(allocation.size);
    const GlobalEpoch now = globalNow(warp, quick);
    const uint64_t offset = located.first - allocation.base;
    bool doubt = false;
    for (const Pattern::Run& run : pattern.runs) {
        const uint64_t at = offset + static_cast<uint64_t>(int64_t(run.offset));
        save(quick, allocation, at, std::min(at + uint64_t(run.words) * 4, allocation.size));
        const uint64_t* const reads = quick.tracesReads && allocation.quickReads ? allocation.quickReads.get() + at / 4
                                                                                 : nullptr;
        doubt |= doubtGlobalWrite(allocation.quickWrites.get() + at / 4, reads, pattern.who.data() + run.first,
                                  run.words, now);
        if (pattern.bytes >= 4)
            std::memset(allocation.initialized.get() + at, 1, size_t(run.words) * 4);
    }
    if (pattern.bytes < 4)
        forEachLane(pattern.lanes, [&](unsigned lane) {
            const uint64_t at = offset + static_cast<uint64_t>(int64_t(pattern.offsets[lane]));
            std::memset(allocation.initialized.get() + at, 1, pattern.bytes);
        });
    return !doubt;
}

bool changeGlobal(Warp& warp, Allocation& allocation, const Located& located, uint32_t slot)
{
    Quick& quick = *warp.block->launch->quick;
    const Pattern& pattern = *located.pattern;
    quick.writes[slot].add(located.low(), located.high());
    if (!allocation.quickWrites)
        allocation.quickWrites = zeroedWords(allocation.size);
    const GlobalEpoch now = globalNow(warp, quick);
    const uint64_t offset = located.first - allocation.base;
    bool doubt = pattern.bytes < 4;
    for (const Pattern::Run& run : pattern.runs) {
        const uint64_t at = offset + static_cast<uint64_t>(int64_t(run.offset));
        const uint64_t end = std::min(at + uint64_t(run.words) * 4, allocation.size);
        save(quick, allocation, at, end);
        doubt |= anyZero(allocation.initialized.get() + at, end - at);
        for (uint64_t k = 0; k < run.words; ++k) {
            const uint32_t who = pattern.who[run.first + k];
            uint64_t& write = allocation.quickWrites[at / 4 + k];
            // What was plainly accessed by others, in this launch.
            if (write < now.launch || (write & Quick::kAtomic) == 0)
                doubt |= doubtGlobalWrite(&write, nullptr, &who, 1, now);
            if (quick.tracesReads && allocation.quickReads) {
                uint64_t scratch = 0;
                doubt |= doubtGlobalWrite(&scratch, &allocation.quickReads[at / 4 + k], &who, 1, now);
            }
            write = now.begin | Quick::kAtomic | Quick::kSeveral;
        }
    }
    return !doubt;
}

} // namespace lathe::ptx
