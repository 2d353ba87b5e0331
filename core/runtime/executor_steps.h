#pragma once

/// What the executor's instructions become: for executor.cpp and executor_steps.cpp alone.

#include "core/runtime/executor.h"

#include <atomic>

namespace lathe::runtime {

enum class StepKind : std::uint32_t
{
    Phase,
    Copy,
    Zero,
    Transform,
    Row,
    Branch, ///< goes on behind the branch for true, if the condition is false
    Skip, ///< behind that branch: passes over the other; needs no barrier
    Enter, ///< of a loop: passes over it if there is no iteration
    Swap, ///< of two tensors
    Again, ///< behind its last instruction: back to the first, if there is another iteration
    Launch, ///< all launches of a device's kernel: one part starts them
    Carry ///< a copy from, to or on a device: likewise
};

struct Executor::Step
{
    StepKind kind = StepKind::Phase;
    std::uint32_t instruction = 0;
    LathePhase phase = nullptr;
    bool last = false; ///< of its instruction
    std::uint32_t target = 0; ///< a step: of Branch, Skip, Enter and Again
    bool waits = true; ///< of Carry: until the processor's memory is free again

    /// Whether one part does it alone, while all others wait.
    bool decides() const
    {
        return kind == StepKind::Branch || kind == StepKind::Enter || kind == StepKind::Again || kind == StepKind::Swap;
    }
    bool isOfDevice() const { return kind == StepKind::Launch || kind == StepKind::Carry; }
};

/// Arguments of the description that a swap moves.
struct Executor::Exchange
{
    std::uint32_t* arguments = nullptr;
    std::uint32_t ofFirst = 0, all = 0; ///< of the first tensor, then those of the second
};

/// Apart from the tensors, so that a loop ends whatever its body writes.
struct Executor::LoopState
{
    std::int64_t trips = 0, done = 0;
};

struct Executor::Run
{
    Executor* executor;
    std::uint32_t first = 0, last = 0; ///< steps first .. last - 1
    bool chain = false;
    std::uint32_t timed = 0; ///< of a chain: the instruction that profiling counts
    const Step* step = nullptr; ///< of partTask
    std::uint64_t mark = 0; ///< when the instruction began
    std::uint64_t deviceNs = 0; ///< of a step on a device, from timeOnDevice(); zero: it is the processor's
    std::uint32_t next[2] = {}; ///< where to go on, by turn: a part may still read the one while another is decided
    /// Code in the low half; in the high half how many steps had been run before the one that returned it. Zero: none.
    std::atomic<std::uint64_t> failure{0};
    std::uint32_t failedStep = 0;
    Status observed = Status::Ok;

    void note(std::uint32_t done, std::uint32_t stepIndex, std::int32_t code)
    {
        std::uint64_t none = 0;
        if (failure.compare_exchange_strong(none, std::uint64_t{done} << 32 | static_cast<std::uint32_t>(code),
                                            std::memory_order_relaxed))
            failedStep = stepIndex;
    }
    /// Whether a step up to the one behind `done` others has failed. Parts are never further apart than one step, so
    /// that the numbers may wrap around.
    bool hasFailedBy(std::uint32_t done) const
    {
        const std::uint64_t f = failure.load(std::memory_order_relaxed);
        return f != 0 && static_cast<std::int32_t>(static_cast<std::uint32_t>(f >> 32) - done) <= 0;
    }
};

} // namespace lathe::runtime
