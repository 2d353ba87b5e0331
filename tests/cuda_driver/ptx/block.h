#pragma once

#include "tests/cuda_driver/ptx/machine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <unordered_map>

// The state of a launch while it runs, for the handlers of instructions.
//
// Lanes of a warp that are at the same place run together, as a group. Of several groups the one that is furthest
// behind in the text runs first, so that they meet again where the paths of structured code do. Groups wait, for a
// barrier of the block or for the other lanes that an instruction such as shfl.sync names, until these have come.
//
// What is ordered is told by clocks: each warp has a tick, which goes on at each barrier that it passes, and knows of
// each other warp up to which tick it has waited for it. Two accesses are ordered if the second one's warp has waited
// for the tick of the first, or if both are of one thread.

namespace lathe::ptx {

struct Block;

/// Lanes of a warp that stand at the same place.
struct Group
{
    enum class State : uint8_t
    {
        Ready,
        Barrier, // waits for a barrier of the block
        Lanes, // waits for the lanes of an instruction with a mask, and does it anew when they are there
    };
    uint32_t at = 0; // the next instruction
    LaneMask lanes = 0;
    State state = State::Ready;
    uint8_t barrier = 0;
    uint32_t waitsAt = 0; // the instruction that waits
    LaneMask needs = 0; // for State::Lanes
};

struct Warp
{
    std::byte* bank[2] = {nullptr, nullptr};
    Block* block = nullptr;
    uint32_t index = 0; // within the block
    LaneMask alive = 0;
    LaneMask existing = 0; // fewer than 32 in the last warp of a block
    LaneMask carry = 0; // the condition code
    // Of the group that runs.
    LaneMask active = 0;
    uint32_t next = 0;
    uint32_t limit = UINT32_MAX; // where another group stands
    bool leaves = false; // the group is to be chosen anew
    std::vector<Group> groups; // the others
    uint32_t avoid = UINT32_MAX; // the group that stands here had its turn
    uint32_t tick = 1;
    /// Up to which tick each lane has waited for each other; empty while that is the same for all, seen[index].
    std::vector<std::array<uint32_t, kLanes>> lanesSeen;
    std::array<uint32_t, kLanes> seen{}; // up to which tick this warp has waited for each warp

    template<typename T>
    T* row(RowRef ref) const
    {
        return reinterpret_cast<T*>(bank[ref & 1] + (static_cast<size_t>(ref & ~1u) << 6));
    }
    LaneMask& mask(RowRef ref) const { return *row<LaneMask>(ref); }
    unsigned threadOf(unsigned lane) const { return index * kLanes + lane; }
};

/// A copy of cp.async that its thread has not waited for.
struct AsyncCopy
{
    uint64_t from = 0;
    uint32_t to = 0; // offset in shared memory
    uint8_t size = 0, fromSize = 0;
    uint32_t instruction = 0;
};

struct AsyncQueue
{
    std::vector<AsyncCopy> open;
    std::deque<std::vector<AsyncCopy>> groups;
};

struct Launch;

struct Block
{
    Launch* launch = nullptr;
    uint32_t number = 0; // within the grid
    std::array<uint32_t, 3> at{};
    uint32_t threads = 0;
    std::vector<Warp> warps;
    std::vector<std::byte> registers; // of all warps
    std::vector<uint8_t> shared, sharedInitialized;
    bool sharedPerByte = false;
    std::vector<ShadowWord> sharedShadow;
    std::vector<uint8_t> local, localInitialized; // of each thread, one after the other
    std::vector<AsyncQueue> asyncCopies; // of each thread
    bool fenced = false; // a thread had a fence of the device
    /// Addresses through which this block has learnt of others.
    std::vector<uint64_t> acquired;

    struct Barrier
    {
        uint32_t arrived = 0; // threads, those that do not wait counted
        uint32_t expected = 0; // 0: all
        uint32_t firstAt = 0; // the first instruction that arrived
        std::array<LaneMask, kLanes> aliveAtFirst{};
        bool aligned = false;
    };
    std::array<Barrier, 16> barriers;
    std::array<std::array<uint32_t, kLanes>, 16> arrivedClocks{}; // of threads that arrive without waiting
};

/// What a block knew when it released something: accesses up to these ticks of its warps come before.
struct Released
{
    std::array<uint32_t, kLanes> ticks{};
    uint32_t thread = 0, threadTick = 0; // of the thread that released
};

struct ReleasedAt
{
    std::unordered_map<uint32_t, Released> blocks;
    std::vector<uint64_t> further; // addresses whose knowledge came with it
};

struct Quick;

struct Launch
{
    const LaunchRequest& request;
    DeviceMemory& memory;
    const Program& program;
    LaunchReport report;
    uint64_t number = 0; // of all launches, so that shadows tell
    std::vector<Allocation*> lastHit; // by instruction
    std::vector<std::byte> constants; // bank 1
    std::vector<uint8_t> parameters, parametersInitialized;
    std::unordered_map<uint64_t, ReleasedAt> released; // by address
    Quick* quick = nullptr; // of a launch that is run the quick way (quick.h)
    uint64_t remaining = 0; // instructions of warps
    bool ranOut() const { return remaining == 0; }

    Launch(const LaunchRequest& of, DeviceMemory& in)
        : request(of)
        , memory(in)
        , program(*of.program)
    {
    }
    uint32_t indexOf(const Instruction& instruction) const
    {
        return static_cast<uint32_t>(&instruction - program.code.data());
    }
};

template<typename F>
inline __attribute__((always_inline)) void forEachLane(LaneMask lanes, F&& f)
{
    for (; lanes != 0; lanes &= lanes - 1)
        f(static_cast<unsigned>(std::countr_zero(lanes)));
}

inline unsigned countOf(LaneMask lanes)
{
    return lanes == kAllLanes ? kLanes : static_cast<unsigned>(std::popcount(lanes));
}

/// "thread (1,0,0) of block (2,0,0)"
std::string nameOfThread(const Block& block, unsigned thread);
std::string nameOfBlock(const Launch& launch, uint32_t number);

// --- control.cpp: where groups go

/// These lanes of the running group go to `target`, the others on.
void jump(Warp& warp, LaneMask lanes, uint32_t target);
/// Puts the running group aside, to be chosen anew.
void putAside(Warp& warp, Group::State state, uint32_t at, const Instruction& waiting);
/// False if not all the lanes of `mask` are here: then the group waits.
bool haveLanesCome(Warp& warp, const Instruction& instruction, LaneMask lanes, LaneMask mask);
/// After bar.warp.sync and its like: orders what these lanes did.
void orderLanes(Warp& warp, LaneMask lanes);

// --- barriers.cpp

/// True if a barrier let its threads go.
bool releaseBarriers(Block& block);
void arrive(Warp& warp, const Instruction& instruction, LaneMask lanes, unsigned barrier, uint32_t expected,
            bool waits);
/// Ends the launch: nobody can go on.
[[noreturn]] void reportDeadlock(Block& block);

} // namespace lathe::ptx
