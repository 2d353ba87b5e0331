#include "tests/cuda_driver/ptx/processor.h"
#include "tests/cuda_driver/ptx/quick.h"
#include "tests/cuda_driver/ptx/quick_shadows.h"

// ld and st of launches that are run the quick way.

namespace lathe::ptx {

namespace {

/// Whether all lanes may be written: those that are not in the mask do not exist.
bool isWhole(const Warp& warp, LaneMask lanes)
{
    return lanes == kAllLanes || lanes == warp.existing;
}

Space spaceOf(Space space, Located& located)
{
    if (space != Space::Generic)
        return space;
    for (const auto& [window, meant] : {std::pair(kSharedWindow, Space::Shared), std::pair(kLocalWindow, Space::Local),
                                        std::pair(kParamWindow, Space::Param)})
        if (located.first - window < kWindowSize) {
            located.first -= window;
            return meant;
        }
    return Space::Global;
}

bool isInside(const Located& located, uint64_t size)
{
    return located.low() < located.high() && located.high() <= size;
}

uint32_t wordAt(const uint8_t* place)
{
    uint32_t word = 0;
    std::memcpy(&word, place, 4);
    return word;
}

/// Values of four bytes for all 32 lanes; N of them for each lane, which lie side by side.
template<unsigned N>
struct Gather
{
    LATHE_PTX_INLINE static void run(uint32_t* const* to, const uint8_t* from, const int32_t* offsets)
    {
        for (unsigned k = 0; k < N; ++k) {
            uint32_t* const d = to[k];
            for (unsigned lane = 0; lane < kLanes; ++lane)
                d[lane] = wordAt(from + offsets[lane] + 4 * k);
        }
    }
};

using Words4 = uint32_t __attribute__((vector_size(16)));

/// Four words of four lanes, turned.
template<>
struct Gather<4>
{
    LATHE_PTX_INLINE static void run(uint32_t* const* to, const uint8_t* from, const int32_t* offsets)
    {
        for (unsigned lane = 0; lane < kLanes; lane += 4) {
            Words4 a, b, c, d;
            std::memcpy(&a, from + offsets[lane], 16);
            std::memcpy(&b, from + offsets[lane + 1], 16);
            std::memcpy(&c, from + offsets[lane + 2], 16);
            std::memcpy(&d, from + offsets[lane + 3], 16);
            const Words4 ab01 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                         ab23 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const Words4 cd01 = __builtin_shufflevector(c, d, 0, 4, 1, 5),
                         cd23 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            const Words4 first = __builtin_shufflevector(ab01, cd01, 0, 1, 4, 5);
            const Words4 second = __builtin_shufflevector(ab01, cd01, 2, 3, 6, 7);
            const Words4 third = __builtin_shufflevector(ab23, cd23, 0, 1, 4, 5);
            const Words4 fourth = __builtin_shufflevector(ab23, cd23, 2, 3, 6, 7);
            std::memcpy(to[0] + lane, &first, 16);
            std::memcpy(to[1] + lane, &second, 16);
            std::memcpy(to[2] + lane, &third, 16);
            std::memcpy(to[3] + lane, &fourth, 16);
        }
    }
};

/// Words of four bytes into registers of 32 bits; `from` is where the first lane reads.
void takeWords(Warp& warp, const Instruction& i, LaneMask lanes, const Pattern& pattern, const uint8_t* from)
{
    const RowRef* const rows = warp.block->launch->program.lists.data() + i.list;
    if (!isWhole(warp, lanes)) {
        for (unsigned k = 0; k < i.elements; ++k) {
            uint32_t* const d = warp.row<uint32_t>(rows[k]);
            forEachLane(lanes, [&](unsigned lane) { d[lane] = wordAt(from + pattern.offsets[lane] + 4 * k); });
        }
        return;
    }
    if (pattern.isUniform) {
        for (unsigned k = 0; k < i.elements; ++k)
            std::fill_n(warp.row<uint32_t>(rows[k]), kLanes, wordAt(from + 4 * k));
        return;
    }
    if (pattern.isRow && i.elements == 1) {
        std::memcpy(warp.row<uint32_t>(rows[0]), from, kLanes * 4);
        return;
    }
    uint32_t* to[4];
    for (unsigned k = 0; k < i.elements; ++k)
        to[k] = warp.row<uint32_t>(rows[k]);
    switch (i.elements) {
    case 1: Gather<1>::run(to, from, pattern.offsets.data()); break;
    case 2: Gather<2>::run(to, from, pattern.offsets.data()); break;
    default: Gather<4>::run(to, from, pattern.offsets.data()); break;
    }
}

bool areWords(const Instruction& i)
{
    return i.size == 4 && !i.aligned;
}

void take(Warp& warp, const Instruction& i, LaneMask lanes, const Pattern& pattern, const uint8_t* from)
{
    if (areWords(i)) {
        takeWords(warp, i, lanes, pattern, from);
        return;
    }
    const RowRef* const rows = warp.block->launch->program.lists.data() + i.list;
    for (unsigned k = 0; k < i.elements; ++k)
        forEachLane(lanes, [&](unsigned lane) {
            loadValue(warp, i, rows[k], lane, from + pattern.offsets[lane] + k * i.size);
        });
}

void give(Warp& warp, const Instruction& i, LaneMask lanes, const Pattern& pattern, uint8_t* to)
{
    const RowRef* const rows = warp.block->launch->program.lists.data() + i.list;
    if (areWords(i) && i.elements == 1 && pattern.isRow) {
        std::memcpy(to, warp.row<uint32_t>(rows[0]), kLanes * 4);
        return;
    }
    if (areWords(i)) {
        const uint32_t* from[4];
        for (unsigned k = 0; k < i.elements; ++k)
            from[k] = warp.row<uint32_t>(rows[k]);
        forEachLane(lanes, [&](unsigned lane) {
            for (unsigned k = 0; k < i.elements; ++k)
                std::memcpy(to + pattern.offsets[lane] + 4 * k, from[k] + lane, 4);
        });
        return;
    }
    forEachLane(lanes, [&](unsigned lane) {
        for (unsigned k = 0; k < i.elements; ++k)
            storeValue(warp, i, rows[k], lane, to + pattern.offsets[lane] + k * i.size);
    });
}

/// Whether what is read there was not written in full.
bool anyUnwritten(const uint8_t* flags, const Instruction& i, unsigned bytes)
{
    if (i.used == 0)
        return anyZero(flags, bytes);
    for (unsigned k = 0; k < bytes; ++k)
        if ((i.used >> k & 1) != 0 && flags[k] == 0)
            return true;
    return false;
}

/// Asks of each word of a load of which a byte is used, as of a load of its own.
template<typename F>
bool areUsedWords(Warp& warp, const Instruction& i, LaneMask lanes, const Located& whole, F&& isPlain)
{
    for (unsigned word = 0; word * 4 < whole.pattern->bytes; ++word) {
        if ((i.used >> (word * 4) & 15) == 0)
            continue;
        const uint32_t slot = i.access + 1 + word;
        Located located;
        if (!locate(warp, i.a, i.wide, i.imm + 4 * int64_t(word), lanes, 4, slot, located))
            return false;
        located.first = whole.first + 4 * word; // within shared memory, where the address is a generic one
        if (!isPlain(located, slot))
            return false;
    }
    return true;
}

bool readsShared(Warp& warp, const Instruction& i, LaneMask lanes, const Located& located)
{
    return i.used == 0 ? readShared(warp, located)
                       : areUsedWords(warp, i, lanes, located,
                                      [&warp](const Located& word, uint32_t) { return readShared(warp, word); });
}

bool readsGlobal(Warp& warp, const Instruction& i, LaneMask lanes, Allocation& allocation, const Located& located)
{
    return i.used == 0 ? readGlobal(warp, allocation, located, i.access)
                       : areUsedWords(warp, i, lanes, located, [&](const Located& word, uint32_t slot) {
                             return readGlobal(warp, allocation, word, slot);
                         });
}

/// Local memory: each thread has its own, so that there is no race, and what one lane reads lies far from the next's.
template<bool Load>
bool accessLocal(Warp& warp, const Instruction& i, LaneMask lanes, const Located& located)
{
    Block& block = *warp.block;
    const Pattern& pattern = *located.pattern;
    const size_t size = block.launch->request.kernel->localBytes;
    if (!isInside(located, size))
        return false;
    const RowRef* const rows = block.launch->program.lists.data() + i.list;
    const size_t first = size * warp.index * kLanes + located.first;
    const auto placeOfLane = [&](unsigned lane) {
        return first + size * lane + static_cast<size_t>(int64_t(pattern.offsets[lane]));
    };
    if (Load && block.launch->request.checked) {
        bool any = false;
        forEachLane(lanes, [&](unsigned lane) {
            any |= anyUnwritten(block.localInitialized.data() + placeOfLane(lane), i, pattern.bytes);
        });
        if (any)
            return false;
    }
    forEachLane(lanes, [&](unsigned lane) {
        uint8_t* const place = block.local.data() + placeOfLane(lane);
        for (unsigned k = 0; k < i.elements; ++k) {
            if (Load && areWords(i))
                std::memcpy(warp.row<uint32_t>(rows[k]) + lane, place + 4 * k, 4);
            else if (Load)
                loadValue(warp, i, rows[k], lane, place + k * i.size);
            else
                storeValue(warp, i, rows[k], lane, place + k * i.size);
        }
        if (!Load)
            std::memset(block.localInitialized.data() + placeOfLane(lane), 1, pattern.bytes);
    });
    return true;
}

bool loaded(Warp& warp, const Instruction& i, LaneMask lanes)
{
    Block& block = *warp.block;
    Launch& launch = *block.launch;
    const bool checked = launch.request.checked;
    Located located;
    if (!locate(warp, i.a, i.wide, i.imm, lanes, unsigned(i.size) * i.elements, i.access, located))
        return false;
    const Space space = spaceOf(i.space, located);
    const Pattern& pattern = *located.pattern;
    if (!located.isAligned() || (i.used != 0 && pattern.bytes < 4))
        return false;
    switch (space) {
    case Space::Shared:
        if (!isInside(located, block.shared.size()))
            return false;
        if (checked && (pattern.bytes < 4 || !readsShared(warp, i, lanes, located)))
            return false;
        take(warp, i, lanes, pattern, block.shared.data() + located.first);
        countShared(warp, {pattern.wavefronts, pattern.ideal});
        return true;
    case Space::Local: return accessLocal<true>(warp, i, lanes, located);
    case Space::Param:
        if (!isInside(located, launch.parameters.size()))
            return false;
        take(warp, i, lanes, pattern, launch.parameters.data() + located.first);
        return true;
    default: break;
    }
    Allocation* const allocation = quickAllocation(launch, i.access, located, Touch::Read);
    if (!allocation || (checked && !readsGlobal(warp, i, lanes, *allocation, located)))
        return false;
    take(warp, i, lanes, pattern, allocation->bytes.get() + (located.first - allocation->base));
    if (!allocation->readOnly)
        countGlobalAccess(warp, located, Touch::Read);
    return true;
}

bool stored(Warp& warp, const Instruction& i, LaneMask lanes)
{
    Block& block = *warp.block;
    Launch& launch = *block.launch;
    const bool checked = launch.request.checked;
    Located located;
    if (!locate(warp, i.a, i.wide, i.imm, lanes, unsigned(i.size) * i.elements, i.access, located))
        return false;
    const Space space = spaceOf(i.space, located);
    if (!located.isAligned() || space == Space::Param)
        return false;
    const Pattern& pattern = *located.pattern;
    if (space == Space::Shared) {
        if (!isInside(located, block.shared.size()))
            return false;
        if (checked && (pattern.bytes < 4 || !writeShared(warp, located)))
            return false;
        give(warp, i, lanes, pattern, block.shared.data() + located.first);
        countShared(warp, {pattern.wavefronts, pattern.ideal});
        return true;
    }
    if (space == Space::Local)
        return accessLocal<false>(warp, i, lanes, located);
    Allocation* const allocation = quickAllocation(launch, i.access, located, Touch::Write);
    if (!allocation || allocation->readOnly)
        return false;
    if (checked) {
        if (!writeGlobal(warp, *allocation, located, i.access))
            return false;
    } else {
        forEachLane(lanes, [&](unsigned lane) {
            std::memset(allocation->initialized.get() + (located.first - allocation->base) + pattern.offsets[lane], 1,
                        pattern.bytes);
        });
    }
    give(warp, i, lanes, pattern, allocation->bytes.get() + (located.first - allocation->base));
    countGlobalAccess(warp, located, Touch::Write);
    return true;
}

void quickLoadRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!loaded(warp, i, lanes))
        leaveToExact(warp, i, lanes);
}

void quickStoreRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!stored(warp, i, lanes))
        leaveToExact(warp, i, lanes);
}

} // namespace

void leaveToExact(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (warp.block->launch->request.checked)
        throw Doubt();
    i.run(warp, i, lanes);
}

void countGlobalAccess(Warp& warp, const Located& located, Touch touch)
{
    const Pattern& pattern = *located.pattern;
    const size_t at = located.first % 32;
    if (pattern.sectors[at] == 0)
        pattern.countSectors(located.first);
    countGlobal(warp, countOf(pattern.lanes), {pattern.sectors[at], pattern.idealSectors[at]}, pattern.bytes, touch);
}

Handler quickLoadOf(const Instruction& made)
{
    return made.strong ? nullptr : quickLoadRun;
}

Handler quickStoreOf(const Instruction& made)
{
    return made.strong ? nullptr : quickStoreRun;
}

} // namespace lathe::ptx
