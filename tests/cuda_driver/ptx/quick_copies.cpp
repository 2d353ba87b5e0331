#include "tests/cuda_driver/ptx/quick.h"
#include "tests/cuda_driver/ptx/quick_shadows.h"

// cp.async of launches that are run the quick way. A warp has one queue of copies and groups: that holds as long as its
// lanes commit and wait together. Without checks the exact handlers do it, which keep a queue for each thread.

namespace lathe::ptx {

namespace {

void moveCopy(Warp& warp, const WarpCopy& copy)
{
    const unsigned size = copy.instruction->size;
    uint8_t* const to = warp.block->shared.data() + copy.toFirst;
    const LaneMask reading = copy.from ? copy.from->lanes : 0;
    const uint8_t* from = nullptr;
    if (copy.from) {
        // The allocation is looked up anew: lazy copies come later.
        Located located;
        located.pattern = copy.from;
        located.first = copy.fromFirst;
        const Allocation* const allocation = quickAllocation(*warp.block->launch, copy.instruction->access + 1, located,
                                                             Touch::Read);
        if (!allocation)
            throw Doubt();
        from = allocation->bytes.get() + (copy.fromFirst - allocation->base);
    }
    forEachLane(copy.to->lanes, [&](unsigned lane) {
        uint8_t* const place = to + copy.to->offsets[lane];
        if ((reading >> lane & 1) != 0)
            std::memcpy(place, from + copy.from->offsets[lane], size);
        else
            std::memset(place, 0, size);
    });
}

template<typename F>
void forEachWord(Quick& quick, const WarpCopy& copy, F&& f)
{
    for (const Pattern::Run& run : copy.to->runs) {
        const size_t first = (copy.toFirst + static_cast<uint64_t>(int64_t(run.offset))) / 4;
        for (size_t k = 0; k < run.words; ++k)
            f(quick.sharedWrites[first + k], copy.to->who[run.first + k]);
    }
}

void finish(Warp& warp, const std::vector<WarpCopy>& copies)
{
    Quick& quick = *warp.block->launch->quick;
    const uint32_t thread = warp.index * kLanes;
    for (const WarpCopy& copy : copies) {
        if (warp.block->launch->request.arrival == AsyncArrival::AtWait)
            moveCopy(warp, copy);
        forEachWord(quick, copy, [&](uint32_t& word, uint32_t lane) {
            if (word == (Quick::kInFlight | (thread + lane)))
                word = (quick.sharedEpoch << Quick::kSharedShift) + thread + lane;
        });
    }
}

void commit(Warp& warp)
{
    WarpCopies& queue = warp.block->launch->quick->copies[warp.index];
    queue.groups.push_back(std::move(queue.open));
    queue.open.clear();
}

/// Lanes that ended have no copies any more that anyone could wait for: their thread is gone.
void haveAllLanes(const Warp& warp, LaneMask lanes)
{
    if (lanes != warp.existing)
        throw Doubt();
}

} // namespace

void quickCopyRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    Block& block = *warp.block;
    Launch& launch = *block.launch;
    if (!launch.request.checked) {
        i.run(warp, i, lanes);
        return;
    }
    Quick& quick = *launch.quick;
    LaneMask reading = lanes;
    if (i.c != kNoRow) {
        reading = 0;
        const uint32_t* const sizes = warp.row<uint32_t>(i.c);
        forEachLane(lanes, [&](unsigned lane) {
            if (sizes[lane] >= i.size)
                reading |= 1u << lane;
            else if (sizes[lane] != 0)
                throw Doubt(); // a part of the bytes
        });
    }
    Located to;
    if (!locate(warp, i.d, i.aligned, static_cast<int32_t>(i.target), lanes, i.size, i.access, to) || !to.isAligned()
        || to.low() >= to.high() || to.high() > block.shared.size())
        throw Doubt();
    WarpCopy copy;
    copy.to = to.pattern;
    copy.toFirst = to.first;
    copy.instruction = &i;
    if (reading != 0) {
        Located from;
        if (!locate(warp, i.a, i.wide, i.imm, reading, i.size, i.access + 1, from) || !from.isAligned())
            throw Doubt();
        Allocation* const allocation = quickAllocation(launch, i.access + 1, from, Touch::Read);
        if (!allocation || !readGlobal(warp, *allocation, from, i.access + 1))
            throw Doubt();
        copy.from = from.pattern;
        copy.fromFirst = from.first;
        countGlobalAccess(warp, from, Touch::Read);
    }
    if (!writeShared(warp, to))
        throw Doubt();
    const uint32_t thread = warp.index * kLanes;
    forEachWord(quick, copy, [&](uint32_t& word, uint32_t lane) { word = Quick::kInFlight | (thread + lane); });
    if (launch.request.arrival == AsyncArrival::AtIssue)
        moveCopy(warp, copy);
    quick.copies[warp.index].open.push_back(copy);
}

void quickCommitRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!warp.block->launch->request.checked) {
        i.run(warp, i, lanes);
        return;
    }
    haveAllLanes(warp, lanes);
    commit(warp);
}

void quickWaitRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!warp.block->launch->request.checked) {
        i.run(warp, i, lanes);
        return;
    }
    haveAllLanes(warp, lanes);
    if (i.imm < 0)
        commit(warp);
    WarpCopies& queue = warp.block->launch->quick->copies[warp.index];
    while (queue.groups.size() > static_cast<size_t>(std::max<int64_t>(i.imm, 0))) {
        finish(warp, queue.groups.front());
        queue.groups.pop_front();
    }
}

} // namespace lathe::ptx
