#include "core/schedule/register_model_nvidia.h"

#include "core/ir/bounds.h"
#include "core/ir/scratch.h"
#include "core/runtime/nvidia_core.h"
#include "core/schedule/live_values.h"

#include <algorithm>
#include <cmath>

namespace lathe::schedule {

namespace {

constexpr std::int64_t kWarpThreads = 32, kSchedulers = 4, kRegisterUnit = 8, kDriverShared = 1024;
/// What a text declares with its size; the compiler knows of no more (SourceLanguage::mostSharedBytes).
constexpr std::int64_t kMostDeclared = 48 << 10;

// Of what the compiler's output is for random candidates (register_model_nvidia.h). All are registers of a thread.
constexpr double kOfThread = 8; ///< what every kernel has: numbers of threads and blocks, sums in between
constexpr double kGlobalAddress = 1.2, kSharedAddress = 1; ///< for each that the code itself comes to
constexpr double kOtherGlobalAddress = 0.5, kOtherSharedAddress = 0.5; ///< that the loops around come to elsewhere
constexpr double kPassingAddress = 1.5; ///< outside of loops, where addresses are made when they are needed
constexpr double kMostAddresses = 24; ///< more are made anew each time
constexpr double kLoop = 1.5; ///< for each that is open
constexpr double kCondition = 0.3, kMostConditions = 8, kQuotient = 0.1;
constexpr double kMostEarly = 60; ///< words that are loaded before they are needed, at most
constexpr double kEarlyWord = 1; ///< of each of these
constexpr double kCall = 1, kDivision = 1, kMostTemporaries = 40; ///< what functions need in between
constexpr double kNeeded = 0.3; ///< of what is wanted beyond the least, the part that is not given up for more blocks

struct Wanted
{
    double least = 0; ///< where all is loaded as late as can be
    double most = 0; ///< and as early
};

Wanted wantedBy(const CodePiece& piece)
{
    const auto others = [](std::int32_t all, std::int32_t own) { return static_cast<double>(all - own); };
    double late = kSharedAddress * piece.sharedAddresses, early = late;
    if (piece.loops > 0) {
        late += kGlobalAddress * piece.globalAddresses
                + kOtherGlobalAddress * others(piece.allGlobalAddresses, piece.globalAddresses)
                + kOtherSharedAddress * others(piece.allSharedAddresses, piece.sharedAddresses);
        early = late;
    } else {
        late += kPassingAddress * piece.liveAddresses;
        early += kPassingAddress * piece.globalAddresses;
    }
    const double own = kOfThread + piece.live.front() + kLoop * piece.loops
                       + kCondition * std::min<double>(piece.conditions, kMostConditions) + kQuotient * piece.quotients;
    const double loads = kEarlyWord * (piece.live[5] - piece.live.front());
    const double temporaries = kCall * piece.calls + kDivision * piece.divisions;
    const double least = own + std::min(late, kMostAddresses);
    return {least, std::max(least, own + std::min(early, kMostAddresses) + std::min(loads, kMostEarly)
                                       + std::min(temporaries, kMostTemporaries))};
}

} // namespace

std::optional<NvidiaRoom> NvidiaRoom::of(const Hardware& hardware)
{
    const std::int64_t capability = hardware.get("compute_capability");
    // OpenCL's drivers tell no capability, but only NVIDIA's devices have so many registers for a thread.
    if (capability <= 0 && hardware.get("registers_per_thread") != std::int64_t{runtime::kNvidiaThreadRegisters})
        return std::nullopt;
    NvidiaRoom room;
    if (const runtime::NvidiaCore* const core = runtime::findNvidiaCore(static_cast<std::uint64_t>(capability)))
        room = {static_cast<std::int64_t>(core->threads), static_cast<std::int64_t>(core->blocks),
                static_cast<std::int64_t>(core->sharedBytes), false};
    const auto take = [&hardware](const char* name, std::int64_t& value) {
        if (const std::int64_t told = hardware.get(name); told > 0)
            value = told;
    };
    take("threads_per_core", room.threads);
    take("blocks_per_core", room.blocks);
    take("shared_memory_per_core", room.sharedBytes);
    room.hasAsyncCopies = hardware.get("async_copies") > 0;
    return room;
}

std::vector<std::int32_t> nvidiaRegisterSteps(const NvidiaRoom& room, std::int64_t threads, std::int64_t sharedBytes)
{
    const std::int64_t warps = ir::ceilDivide(std::max<std::int64_t>(threads, 1), kWarpThreads);
    std::int64_t blocks = std::min(room.blocks, room.threads / (warps * kWarpThreads));
    if (sharedBytes > 0)
        blocks = std::min(blocks, room.sharedBytes / (sharedBytes + kDriverShared));
    const auto all = static_cast<std::int64_t>(runtime::kNvidiaRegisters) / kSchedulers / kWarpThreads;
    const auto most = static_cast<std::int64_t>(runtime::kNvidiaThreadRegisters);
    std::vector<std::int32_t> steps;
    for (blocks = std::max<std::int64_t>(blocks, 1); blocks > 0; --blocks) {
        const std::int64_t each = all / ir::ceilDivide(blocks * warps, kSchedulers) / kRegisterUnit * kRegisterUnit;
        const auto step = static_cast<std::int32_t>(std::min(each, most));
        if (steps.empty() || steps.back() < step)
            steps.push_back(step);
    }
    return steps;
}

NvidiaRegisters estimateNvidiaRegisters(const ir::LoopNest& nest, const ir::Launch& launch, const NvidiaRoom& room)
{
    Wanted wanted;
    for (const CodePiece& piece : piecesOf(nest, launch, room.hasAsyncCopies)) {
        const Wanted here = wantedBy(piece);
        wanted = {std::max(wanted.least, here.least), std::max(wanted.most, here.most)};
    }
    const std::int64_t sharedBytes = ir::sharedBytes(nest, launch);
    const std::vector<std::int32_t> steps = nvidiaRegisterSteps(room,
                                                                launch.block[0] * launch.block[1] * launch.block[2],
                                                                sharedBytes <= kMostDeclared ? sharedBytes : 0);
    double taken = std::min<double>(wanted.most, steps.back());
    if (taken > steps.front()) {
        // Fewer blocks at a time for the sake of what is needed alone.
        const double needed = wanted.least + kNeeded * (taken - wanted.least);
        const auto step = std::ranges::find_if(steps, [needed](std::int32_t count) { return count >= needed; });
        taken = std::min<double>(taken, step == steps.end() ? steps.back() : *step);
    }
    return {static_cast<std::int32_t>(std::lround(taken)), static_cast<std::int32_t>(std::lround(wanted.least))};
}

} // namespace lathe::schedule
