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

// Registers of a thread. What they stand for is seen in the compiler's machine code; how many they are was set by what
// it takes of random candidates (register_model_nvidia.h). None matters much: a tenth more or less of any changes what
// is within a quarter by one in a hundred.
constexpr double kOfThread = 7.3; ///< numbers of the thread and the block, what is made of them, a value on its way
constexpr double kWithoutLoops = -1; ///< straight code keeps one of these less
constexpr double kSinceHopper = 1; ///< more for all, from sm_90 on, where accesses have descriptors beside addresses
constexpr double kFewest = 10, kFewestSinceHopper = 12; ///< that any kernel takes
constexpr double kLoop = 2.4; ///< a counter, and what its addresses go on from
constexpr double kGlobalAddress = 1.1; ///< mostly an index of 32 bits, of which the 64 are made when they are needed
constexpr double kSharedAddress = 2.3; ///< with what fills it: where it comes from and what guards it
constexpr double kOtherSharedAddress = 0.5; ///< that the loops around come to elsewhere
constexpr double kOuterAddress = 1.1, kMostOuter = 8; ///< for what comes behind a loop; more are made there
constexpr double kMostAddresses = 40; ///< more are made one after the other
constexpr double kFewestAddresses = 8; ///< as many where registers are lacking: the others are made each time
constexpr double kFunctions = 2, kFunctionsInLoop = 9; ///< of functions, in between: those of all copies of a loop

constexpr double kByResults = 1.2; ///< what it keeps alive of what an order by results asks for: it loads ahead
constexpr double kAboveLeast = 1.25; ///< where it gives up some blocks: what it takes of what is needed
// Code within a branch whose loads have conditions of their own, each a little branch, it leaves as it stands.
constexpr std::int32_t kGuarded = 8;
constexpr double kAsItStands = 1.1;
// A sum and what is added to it are kept in different banks of registers, odd and even ones. Other values fill the gaps
// between so many; for more there are none, and each takes two registers as long as these cost nothing.
constexpr std::int32_t kGaps = 8;

struct Wanted
{
    double least = 0; ///< where all is loaded as late as can be
    double most = 0; ///< and as early
    double apart = 0; ///< likewise, and kept in different banks
};

Wanted wantedBy(const CodePiece& piece, const NvidiaRoom& room)
{
    const double own = kOfThread + (room.hasDescriptors ? kSinceHopper : 0)
                       + (piece.loops > 0 ? kLoop * piece.loops : kWithoutLoops);
    const double shared = kSharedAddress * piece.sharedAddresses;
    double addresses = kGlobalAddress * piece.globalAddresses + shared, fewest = shared;
    if (piece.loops > 0) {
        addresses += kOtherSharedAddress * (piece.allSharedAddresses - piece.sharedAddresses)
                     + kOuterAddress * std::min<double>(piece.outerAddresses, kMostOuter);
        fewest = addresses;
    }
    double values = std::min<double>(piece.least, kByResults * piece.byResults);
    if (piece.guardedInBranches >= kGuarded)
        values = std::max(values, kAsItStands * piece.late);
    const double early = std::max<double>(values, piece.early); // all that is loaded comes first
    double functions = 0;
    if (piece.hasFunctions)
        functions = piece.loops > 0 ? kFunctionsInLoop : kFunctions;
    Wanted wanted;
    wanted.least = own + values + std::min(fewest, kFewestAddresses);
    wanted.most = std::max(wanted.least, own + early + std::min(addresses, kMostAddresses) + functions);
    wanted.apart = wanted.most + std::max(0, std::min(piece.addends, piece.early - piece.late) - kGaps);
    return wanted;
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
    room.hasDescriptors = capability >= 90;
    return room;
}

namespace {

/// Of a thread, where a multiprocessor holds so many blocks of so many warps.
std::int32_t registersOfBlocks(std::int64_t blocks, std::int64_t warps)
{
    const auto all = static_cast<std::int64_t>(runtime::kNvidiaRegisters) / kSchedulers / kWarpThreads;
    const std::int64_t each = all / ir::ceilDivide(blocks * warps, kSchedulers) / kRegisterUnit * kRegisterUnit;
    return static_cast<std::int32_t>(std::min(each, static_cast<std::int64_t>(runtime::kNvidiaThreadRegisters)));
}

} // namespace

std::vector<std::int32_t> nvidiaRegisterSteps(const NvidiaRoom& room, std::int64_t threads, std::int64_t sharedBytes)
{
    const std::int64_t warps = ir::ceilDivide(std::max<std::int64_t>(threads, 1), kWarpThreads);
    std::int64_t blocks = std::min(room.blocks, room.threads / (warps * kWarpThreads));
    if (sharedBytes > 0)
        blocks = std::min(blocks, room.sharedBytes / (sharedBytes + kDriverShared));
    std::vector<std::int32_t> steps;
    for (blocks = std::max<std::int64_t>(blocks, 1); blocks > 0; --blocks) {
        const std::int32_t step = registersOfBlocks(blocks, warps);
        if (steps.empty() || steps.back() < step)
            steps.push_back(step);
    }
    return steps;
}

NvidiaRegisters estimateNvidiaRegisters(const ir::LoopNest& nest, const ir::Launch& launch, const NvidiaRoom& room)
{
    Wanted wanted;
    for (const CodePiece& piece : piecesOf(nest, launch, {room.hasAsyncCopies})) {
        const Wanted here = wantedBy(piece, room);
        wanted = {std::max(wanted.least, here.least), std::max(wanted.most, here.most),
                  std::max(wanted.apart, here.apart)};
    }
    const std::int64_t sharedBytes = ir::sharedBytes(nest, launch);
    const std::vector<std::int32_t> steps = nvidiaRegisterSteps(
        room, launch.block[0] * launch.block[1] * launch.block[2], sharedBytes <= kMostDeclared ? sharedBytes : 0);
    const double free = steps.front(), all = steps.back();
    double taken = std::min(wanted.apart, free);
    const std::int64_t warps = ir::ceilDivide(launch.block[0] * launch.block[1] * launch.block[2], kWarpThreads);
    const double ofBlocks = launch.leastBlocks > 0 ? registersOfBlocks(launch.leastBlocks, warps) : 0;
    if (ofBlocks
        >= wanted.least) { // more blocks than that are not the compiler's affair; for fewer registers it is not told so
        taken = std::min({wanted.most, all, ofBlocks});
    } else if (wanted.most > free) {
        // Fewer blocks at a time for the sake of what is needed alone.
        const auto step = std::ranges::find_if(steps, [&wanted](std::int32_t count) { return count >= wanted.least; });
        taken = std::min({wanted.most, step == steps.end() ? all : *step, std::max(free, kAboveLeast * wanted.least)});
    }
    taken = std::max(taken, room.hasDescriptors ? kFewestSinceHopper : kFewest);
    return {static_cast<std::int32_t>(std::lround(taken)), static_cast<std::int32_t>(std::lround(wanted.least))};
}

} // namespace lathe::schedule
