#pragma once

#include "tests/cuda_driver/ptx/block.h"

namespace lathe::ptx {

/// What an instruction does to memory, for the checks.
enum class Touch : uint8_t
{
    Read,
    Write,
    Atomic,
};

/// Where the bytes of an access lie in this process.
struct Place
{
    uint8_t* bytes = nullptr;
    uint8_t* initialized = nullptr;
    Allocation* allocation = nullptr; // of global memory
    uint64_t offset = 0; // within allocation or shared memory
    uint64_t room = 0; // bytes from here to the end of what it lies in
    Space space = Space::Global;
};

/// Finds the bytes, or throws the Fault that a device would report: outside, or not at a multiple of `bytes`.
/// `bytes` is the whole access, of a vector all of it. `alignment`: 0 for `bytes`.
Place placeOf(Warp& warp, const Instruction& instruction, unsigned lane, Space space, uint64_t address, unsigned bytes,
              Touch touch, unsigned alignment = 0);

/// Races and uninitialized reads. `instruction.strong`: volatile, relaxed, acquire, release.
void check(Warp& warp, const Instruction& instruction, unsigned lane, const Place& place, unsigned bytes, Touch touch);

// --- counting.cpp

/// Sectors of 32 bytes of global memory that the lanes touch, and that their bytes would fill.
struct SectorCount
{
    unsigned different = 0, ideal = 0;
};
SectorCount sectorsOf(LaneMask lanes, const uint64_t* addresses, unsigned bytes);

/// Passes that the banks of shared memory need, and would without a conflict.
struct PassCount
{
    unsigned wavefronts = 0, ideal = 0;
};
PassCount passesOf(LaneMask lanes, const uint64_t* addresses, unsigned bytes);

/// Counts what the lanes' addresses cost.
void countGlobal(Warp& warp, LaneMask lanes, const uint64_t* addresses, unsigned bytes, Touch touch);
void countGlobal(Warp& warp, unsigned count, const SectorCount& sectors, unsigned bytes, Touch touch);
void countShared(Warp& warp, LaneMask lanes, const uint64_t* addresses, unsigned bytes);
void countShared(Warp& warp, const PassCount& passes);

/// Before an atomic or strong access of global memory: hands on, after a fence, what the block did, and learns what
/// others handed on.
void synchronize(Warp& warp, unsigned lane, uint64_t address, bool writes, bool reads);

// --- memory_ops.cpp

/// A value of an access, which lies at `bytes`, into the lane's register or out of it.
void loadValue(const Warp& warp, const Instruction& instruction, RowRef row, unsigned lane, const uint8_t* bytes);
void storeValue(const Warp& warp, const Instruction& instruction, RowRef row, unsigned lane, uint8_t* bytes);

// --- copies.cpp: cp.async

void issueCopy(Warp& warp, const Instruction& instruction, unsigned lane, const AsyncCopy& copy);
void commitCopies(Warp& warp, unsigned lane);
/// Waits until at most `pending` groups of this thread are left.
void waitForCopies(Warp& warp, unsigned lane, size_t pending);

} // namespace lathe::ptx
