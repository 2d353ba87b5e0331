#pragma once

#include "tests/cuda_driver/ptx/accesses.h"
#include "tests/cuda_driver/ptx/pattern.h"

// Launches are run twice over: first the quick way, which checks whole warps at a time against a coarse knowledge of
// what went before, and never misses anything that is to be found; if it has a doubt, be it right or wrong, all that
// the launch wrote is undone and it is run the exact way (accesses.h), which alone words findings and faults. What a
// launch without a doubt leaves, counts and gives is the same either way, to the bit.
//
// The quick way knows of each word its last write and its last read: the epoch and the thread. A new epoch begins when
// all threads of a block have come to a barrier, and with each block. Two accesses of one epoch by different threads,
// one of them a write, are a doubt, and so is what another block wrote, or read before this one writes. Finer orders
// (barriers of a warp or of some warps, atomics with fences) are not known here: kernels that need them are run the
// exact way from then on.
//
// Reads of global memory leave no trace: instead the range of each instruction is kept, and when the launch is over no
// range that was read may meet one that was written. A launch where they do meet is run once more with traces.
//
// Without checks there are no doubts: what is unusual is done by the exact handler of the instruction.

namespace lathe::ptx {

/// Thrown where the quick way does not know.
struct Doubt
{
};

/// A range of global addresses.
struct Range
{
    uint64_t low = ~uint64_t(0), high = 0;
    void add(uint64_t begin, uint64_t end)
    {
        low = begin < low ? begin : low;
        high = end > high ? end : high;
    }
};

/// A page of global memory as it was before the launch.
struct SavedPage
{
    Allocation* allocation = nullptr;
    uint64_t offset = 0;
    std::vector<uint8_t> bytes, initialized;
};

/// cp.async of a warp: what its thread has not waited for.
struct WarpCopy
{
    const Pattern* to = nullptr;
    const Pattern* from = nullptr; // of the lanes that read something; null: none does
    uint64_t toFirst = 0, fromFirst = 0;
    const Instruction* instruction = nullptr;
};

struct WarpCopies
{
    std::vector<WarpCopy> open;
    std::deque<std::vector<WarpCopy>> groups;
};

/// What the quick way knows of a launch. Words of the shadows of shared memory: epoch << 11 | kSeveral | thread; of
/// global memory: epoch << 12 | kOtherBlock or kAtomic | kSeveral | thread.
struct Quick
{
    static constexpr unsigned kSharedShift = 11, kGlobalShift = 12;
    static constexpr uint32_t kSeveral = Pattern::kSeveral;
    static constexpr uint32_t kOtherBlock = 2048; // of reads
    static constexpr uint32_t kAtomic = 2048; // of writes
    static constexpr uint64_t kPageBytes = 4096; // of SavedPage
    static constexpr uint32_t kMostSharedEpochs = (1u << 21) - 2;
    static constexpr uint32_t kInFlight = ((1u << 21) - 1) << kSharedShift; // a cp.async that nobody waited for yet

    bool tracesReads = false;
    PatternTable patterns;
    std::vector<const Pattern*> patternAt; // by Instruction::access and warp
    std::vector<Allocation*> allocationAt; // by Instruction::access
    std::vector<Range> reads, writes; // likewise
    std::vector<SavedPage> saved;
    // Of the block that runs.
    std::vector<uint32_t> sharedWrites, sharedReads;
    std::vector<WarpCopies> copies; // by warp
    uint32_t sharedEpoch = 1;
    uint64_t launchEpoch = 1, blockEpoch = 1, epoch = 1;

    Quick(const Program& program, bool withTraces);
};

void beginLaunch(Quick& quick, Launch& launch, size_t warps);
void beginBlock(Quick& quick, const Block& block);
/// All threads of the block have come to a barrier.
void beginEpoch(Quick& quick);
/// Whether what the launch read may meet what it wrote.
bool mayOverlap(const Quick& quick);
/// Puts global memory back to what it was before the launch.
void undo(Quick& quick);

// --- handlers for Instruction::quick; null: only the exact way will do

Handler quickLoadOf(const Instruction& made);
Handler quickStoreOf(const Instruction& made);
void quickCopyRun(Warp& warp, const Instruction& instruction, LaneMask lanes);
void quickCommitRun(Warp& warp, const Instruction& instruction, LaneMask lanes);
void quickWaitRun(Warp& warp, const Instruction& instruction, LaneMask lanes);

// --- for these handlers

/// Addresses of an access, as a pattern and the first of them.
struct Located
{
    const Pattern* pattern = nullptr;
    uint64_t first = 0;
    uint64_t low() const { return first + static_cast<uint64_t>(int64_t(pattern->least)); }
    uint64_t high() const { return first + static_cast<uint64_t>(int64_t(pattern->most)) + pattern->bytes; }
    /// All lanes' addresses are multiples of the size.
    bool isAligned() const { return ((static_cast<uint32_t>(first) | pattern->lowBits) & (pattern->bytes - 1u)) == 0; }
};
/// False: they are too far apart. `slot`: Instruction::access, or behind it.
bool locate(Warp& warp, RowRef base, bool wide, int64_t offset, LaneMask lanes, unsigned bytes, uint32_t slot,
            Located& located);

/// The allocation that holds all of it; null: none does.
Allocation* quickAllocation(Launch& launch, uint32_t slot, const Located& located, Touch touch);

bool readShared(Warp& warp, const Located& located);
bool writeShared(Warp& warp, const Located& located);
/// `checked` is asked for by the caller; these note and check. False: a doubt.
bool readGlobal(Warp& warp, Allocation& allocation, const Located& located, uint32_t slot);
bool writeGlobal(Warp& warp, Allocation& allocation, const Located& located, uint32_t slot);
/// Atomic accesses are no race among each other, but with all others.
bool changeGlobal(Warp& warp, Allocation& allocation, const Located& located, uint32_t slot);
void countGlobalAccess(Warp& warp, const Located& located, Touch touch);
/// What is not plain is a doubt; without checks the exact handler does it, which words faults.
void leaveToExact(Warp& warp, const Instruction& instruction, LaneMask lanes);

} // namespace lathe::ptx
