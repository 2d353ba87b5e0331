#include "tests/cuda_driver/ptx/accesses.h"

// cp.async. Whenever its data arrive, the place that a copy fills is marked as in flight from its issue on, until its
// thread has waited for it: an access by anybody before that is found, and so is one by another thread before a
// barrier.

namespace lathe::ptx {

namespace {

void move(Warp& warp, unsigned lane, const AsyncCopy& copy)
{
    Launch& launch = *warp.block->launch;
    const Instruction& instruction = launch.program.code[copy.instruction];
    uint8_t* const to = warp.block->shared.data() + copy.to;
    std::memset(to, 0, copy.size);
    if (copy.fromSize > 0) {
        const Place from = placeOf(warp, instruction, lane, Space::Global, copy.from, copy.fromSize, Touch::Read,
                                   copy.size);
        std::memcpy(to, from.bytes, copy.fromSize);
    }
}

template<typename F>
void forEachWord(Block& block, const AsyncCopy& copy, F&& f)
{
    if (block.sharedShadow.empty())
        return;
    const unsigned step = block.sharedPerByte ? 1 : 4;
    for (unsigned i = 0; i < copy.size; i += step)
        f(block.sharedShadow[(copy.to + i) / step]);
}

void finish(Warp& warp, unsigned lane, const std::vector<AsyncCopy>& copies)
{
    Block& block = *warp.block;
    for (const AsyncCopy& copy : copies) {
        if (block.launch->request.arrival == AsyncArrival::AtWait)
            move(warp, lane, copy);
        std::memset(block.sharedInitialized.data() + copy.to, 1, copy.size);
        const Access inFlight = Access::make(Access::kInFlight, warp.threadOf(lane), copy.instruction);
        const Access done = Access::make(warp.tick, warp.threadOf(lane), copy.instruction);
        forEachWord(block, copy, [&](ShadowWord& word) {
            if (word.write.tickAndThread == inFlight.tickAndThread)
                word.write = done;
        });
    }
}

} // namespace

void issueCopy(Warp& warp, const Instruction& instruction, unsigned lane, const AsyncCopy& copy)
{
    Block& block = *warp.block;
    const Place to = placeOf(warp, instruction, lane, Space::Shared, copy.to, copy.size, Touch::Write);
    if (copy.fromSize > 0) {
        const Place from = placeOf(warp, instruction, lane, Space::Global, copy.from, copy.fromSize, Touch::Read,
                                   copy.size);
        check(warp, instruction, lane, from, copy.fromSize, Touch::Read);
    }
    check(warp, instruction, lane, to, copy.size, Touch::Write);
    const Access inFlight = Access::make(Access::kInFlight, warp.threadOf(lane), copy.instruction);
    forEachWord(block, copy, [&](ShadowWord& word) { word.write = inFlight; });
    if (block.launch->request.arrival == AsyncArrival::AtIssue)
        move(warp, lane, copy);
    block.asyncCopies[warp.threadOf(lane)].open.push_back(copy);
}

void commitCopies(Warp& warp, unsigned lane)
{
    AsyncQueue& queue = warp.block->asyncCopies[warp.threadOf(lane)];
    queue.groups.push_back(std::move(queue.open));
    queue.open.clear();
}

void waitForCopies(Warp& warp, unsigned lane, size_t pending)
{
    AsyncQueue& queue = warp.block->asyncCopies[warp.threadOf(lane)];
    while (queue.groups.size() > pending) {
        const std::vector<AsyncCopy> copies = std::move(queue.groups.front());
        queue.groups.pop_front();
        finish(warp, lane, copies);
    }
}

} // namespace lathe::ptx
