#include "tests/cuda_driver/ptx/machine.h"

#include "tests/cuda_driver/ptx/block.h"
#include "tests/cuda_driver/ptx/quick.h"

#include <atomic>
#include <utility>

namespace lathe::ptx {

namespace {

/// After so many instructions another warp has its turn, or another group of this warp: for code that spins.
constexpr uint32_t kTurn = 1 << 16, kTurnOfGroup = 1 << 10;

std::atomic<uint64_t> launchesBegun{0};

/// Makes the group that is furthest behind run; false if all of this warp wait or have ended.
bool choose(Warp& warp, uint32_t notAt)
{
    std::vector<Group>& groups = warp.groups;
    std::erase_if(groups, [](const Group& group) { return group.lanes == 0; });
    // Lanes that have come to where others of their warp wait go on with them.
    for (size_t i = 0; i < groups.size(); ++i)
        for (size_t j = groups.size(); j-- > i + 1;) {
            const bool meet = groups[i].at == groups[j].at && groups[i].state != Group::State::Barrier
                              && groups[j].state != Group::State::Barrier;
            if (!meet)
                continue;
            groups[i].lanes |= groups[j].lanes;
            groups[i].state = Group::State::Ready;
            groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
        }
    size_t best = groups.size();
    bool isBestAvoided = true;
    for (size_t i = 0; i < groups.size(); ++i) {
        if (groups[i].state != Group::State::Ready)
            continue;
        const bool isAvoided = groups[i].at == notAt;
        if (best == groups.size() || (isBestAvoided && !isAvoided)
            || (isBestAvoided == isAvoided && groups[i].at < groups[best].at)) {
            best = i;
            isBestAvoided = isAvoided;
        }
    }
    if (best == groups.size())
        return false;
    warp.active = groups[best].lanes;
    warp.next = groups[best].at;
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(best));
    warp.limit = UINT32_MAX;
    for (const Group& group : groups)
        if (group.at > warp.next && group.state != Group::State::Barrier)
            warp.limit = std::min(warp.limit, group.at);
    return true;
}

/// Lanes that wait for others which have ended meanwhile go on.
bool resumeThoseLeftAlone(Warp& warp)
{
    bool any = false;
    for (Group& group : warp.groups)
        if (group.state == Group::State::Lanes && (group.needs & warp.alive & ~group.lanes) == 0) {
            group.state = Group::State::Ready;
            any = true;
        }
    return any;
}

/// Runs a warp until all of it waits or has ended, or its turn is over. False if it did nothing.
template<bool IsQuick>
bool runWarp(Warp& warp, Launch& launch)
{
    const Instruction* const code = launch.program.code.data();
    Counters& counters = launch.report.counters;
    uint32_t left = warp.groups.size() > 1 ? kTurnOfGroup : kTurn;
    bool did = false;
    while (choose(warp, std::exchange(warp.avoid, UINT32_MAX))) {
        did = true;
        warp.leaves = false;
        uint64_t instructions = 0, lanesRun = 0, flops = 0;
        LaneMask counted = 0;
        unsigned count = 0; // of these lanes
        while (!warp.leaves && warp.next < warp.limit && left > 0) {
            const Instruction& instruction = code[warp.next++];
            LaneMask lanes = warp.active;
            if (instruction.guard != kNoRow)
                lanes &= warp.mask(instruction.guard) ^ (instruction.guardNegated ? kAllLanes : 0);
            if (lanes != counted) {
                counted = lanes;
                count = countOf(lanes);
            }
            ++instructions;
            --left;
            lanesRun += count;
            flops += static_cast<uint64_t>(count) * instruction.flops;
            if (lanes != 0)
                (IsQuick ? instruction.quick : instruction.run)(warp, instruction, lanes);
        }
        counters.warpInstructions += instructions;
        counters.threadInstructions += lanesRun;
        counters.flops += flops;
        launch.remaining -= std::min(launch.remaining, instructions);
        if (launch.ranOut())
            throw Fault(FaultKind::Timeout, code[std::min<size_t>(warp.next, launch.program.code.size() - 1)].line,
                        "PTX line "
                            + std::to_string(code[std::min<size_t>(warp.next, launch.program.code.size() - 1)].line)
                            + ": the launch does not end: its warps ran "
                            + std::to_string(launch.request.mostWarpInstructions) + " instructions.");
        if (warp.active != 0) { // met others, or the turn is over
            warp.groups.push_back({warp.next, warp.active, Group::State::Ready});
            warp.active = 0;
            if (left == 0) {
                // Others come first, else a group that spins would keep the warp, or the block, for ever.
                warp.avoid = warp.next;
                return true;
            }
        }
    }
    return did;
}

bool isOfBlock(Constant::Kind kind)
{
    return kind == Constant::Kind::BlockIndex || kind == Constant::Kind::Multiprocessor;
}

/// `isFirst`: of the launch; for the others only what is different in each.
void fillConstants(Launch& launch, const Block& block, bool isFirst)
{
    const LaunchRequest& request = launch.request;
    const auto part = [](const Size3& size, uint32_t index) {
        return index == 0 ? size.x : index == 1 ? size.y : size.z;
    };
    for (const Constant& constant : launch.program.constants) {
        if (!isFirst && !isOfBlock(constant.kind))
            continue;
        uint64_t value = constant.bits;
        switch (constant.kind) {
        case Constant::Kind::Value: break;
        case Constant::Kind::GlobalAddress: value += request.globals[constant.index]; break;
        case Constant::Kind::DynamicShared: {
            const uint32_t align = std::max(request.kernel->dynamicAlign, 1u);
            value += (request.kernel->staticShared + align - 1) / align * align;
            break;
        }
        case Constant::Kind::BlockIndex: value = block.at[constant.index]; break;
        case Constant::Kind::GridSize: value = part(request.grid, constant.index); break;
        case Constant::Kind::BlockSize: value = part(request.block, constant.index); break;
        case Constant::Kind::Multiprocessor: value = block.number % request.multiprocessors; break;
        case Constant::Kind::Multiprocessors: value = request.multiprocessors; break;
        case Constant::Kind::DynamicSharedSize: value = request.dynamicShared; break;
        case Constant::Kind::TotalSharedSize: value = block.shared.size(); break;
        case Constant::Kind::WarpCount: value = block.warps.size(); break;
        case Constant::Kind::GridId: value = 1; break;
        }
        std::byte* const row = launch.constants.data() + static_cast<size_t>(constant.row) * 128;
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            if (constant.wide)
                std::memcpy(row + lane * 8, &value, 8);
            else
                std::memcpy(row + lane * 4, &value, 4);
        }
    }
}

void fillWarp(Warp& warp, const Size3& size)
{
    const auto row = [&](WarpRow which) { return warp.row<uint32_t>(static_cast<uint32_t>(which) * 2); };
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        const uint32_t thread = warp.threadOf(lane);
        row(WarpRow::ThreadX)[lane] = thread % size.x;
        row(WarpRow::ThreadY)[lane] = thread / size.x % size.y;
        row(WarpRow::ThreadZ)[lane] = thread / size.x / size.y;
        row(WarpRow::Lane)[lane] = lane;
        row(WarpRow::WarpIndex)[lane] = warp.index;
        const uint32_t equal = 1u << lane;
        row(WarpRow::MaskEqual)[lane] = equal;
        row(WarpRow::MaskLess)[lane] = equal - 1;
        row(WarpRow::MaskLessEqual)[lane] = equal | (equal - 1);
        row(WarpRow::MaskGreater)[lane] = ~(equal | (equal - 1));
        row(WarpRow::MaskGreaterEqual)[lane] = ~(equal - 1);
    }
}

void prepare(Block& block, Launch& launch)
{
    const LaunchRequest& request = launch.request;
    const Kernel& kernel = *request.kernel;
    block.launch = &launch;
    block.threads = static_cast<uint32_t>(request.block.count());
    block.warps.resize((block.threads + kLanes - 1) / kLanes);
    const size_t bytesPerWarp = static_cast<size_t>(launch.program.warpRows) * 128;
    block.registers.resize(block.warps.size() * bytesPerWarp);
    const uint32_t align = std::max(kernel.dynamicAlign, 1u);
    const size_t shared = request.dynamicShared == 0
                              ? kernel.staticShared
                              : (kernel.staticShared + align - 1) / align * align + request.dynamicShared;
    block.shared.resize(shared);
    block.sharedInitialized.resize(shared);
    block.local.resize(size_t(kernel.localBytes) * block.threads);
    block.localInitialized.resize(block.local.size());
    block.asyncCopies.resize(block.warps.size() * kLanes);
    for (uint32_t w = 0; w < block.warps.size(); ++w) {
        Warp& warp = block.warps[w];
        warp.block = &block;
        warp.index = w;
        warp.bank[0] = block.registers.data() + w * bytesPerWarp;
        warp.bank[1] = launch.constants.data();
        fillWarp(warp, request.block);
    }
}

void begin(Block& block, Launch& launch, uint32_t number)
{
    const Size3& grid = launch.request.grid;
    block.number = number;
    block.at = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
    // Shared memory holds what the last block left, as on a device; only the knowledge of it is gone.
    std::fill(block.sharedInitialized.begin(), block.sharedInitialized.end(), uint8_t(0));
    std::fill(block.localInitialized.begin(), block.localInitialized.end(), uint8_t(0));
    if (launch.quick)
        beginBlock(*launch.quick, block);
    if (!launch.quick || !launch.request.checked) {
        block.sharedPerByte = false;
        if (launch.request.checked)
            block.sharedShadow.assign((block.shared.size() + 3) / 4, ShadowWord{});
        if (launch.request.kernel->copiesAsynchronously)
            for (AsyncQueue& queue : block.asyncCopies)
                queue = {};
    }
    block.fenced = false;
    block.acquired.clear();
    block.barriers = {};
    block.arrivedClocks = {};
    for (Warp& warp : block.warps) {
        const uint32_t before = warp.index * kLanes;
        const uint32_t here = std::min(block.threads - before, kLanes);
        warp.existing = warp.alive = here == kLanes ? kAllLanes : (1u << here) - 1;
        warp.tick = 1;
        warp.seen = {};
        warp.lanesSeen.clear();
        warp.groups.assign(1, {launch.request.kernel->entry, warp.existing, Group::State::Ready});
        warp.active = 0;
        warp.avoid = UINT32_MAX;
    }
    fillConstants(launch, block, number == 0);
}

void runBlock(Block& block, Launch& launch)
{
    while (true) {
        bool moved = false, alive = false;
        for (Warp& warp : block.warps)
            moved |= launch.quick ? runWarp<true>(warp, launch) : runWarp<false>(warp, launch);
        for (const Warp& warp : block.warps)
            alive |= warp.alive != 0;
        if (!alive)
            return;
        moved |= releaseBarriers(block);
        if (moved)
            continue;
        for (Warp& warp : block.warps)
            moved |= resumeThoseLeftAlone(warp);
        if (!moved)
            reportDeadlock(block);
    }
}

} // namespace

std::string nameOfBlock(const Launch& launch, uint32_t number)
{
    const Size3& grid = launch.request.grid;
    return "(" + std::to_string(number % grid.x) + "," + std::to_string(number / grid.x % grid.y) + ","
           + std::to_string(number / grid.x / grid.y) + ")";
}

std::string nameOfThread(const Block& block, unsigned thread)
{
    const Size3& size = block.launch->request.block;
    return "thread (" + std::to_string(thread % size.x) + "," + std::to_string(thread / size.x % size.y) + ","
           + std::to_string(thread / size.x / size.y) + ") of block " + nameOfBlock(*block.launch, block.number);
}

namespace {

void tellTouched(Launch& launch)
{
    for (auto& [base, allocation] : launch.memory.all()) {
        if (allocation.readIn == launch.number)
            launch.report.read.push_back(base);
        if (allocation.writtenIn == launch.number) {
            launch.report.written.push_back(base);
            launch.memory.touch(allocation);
        }
    }
}

/// One of the ways to run a launch: `quick` is null for the exact one. Nothing: a doubt, and all that was written is
/// undone.
std::optional<LaunchReport> runOnce(const LaunchRequest& request, DeviceMemory& memory, Quick* quick)
{
    Launch launch(request, memory);
    launch.number = ++launchesBegun;
    launch.remaining = request.mostWarpInstructions;
    launch.lastHit.assign(launch.program.code.size(), nullptr);
    launch.constants.resize(static_cast<size_t>(launch.program.constantRows) * 128);
    launch.parameters.assign(request.parameters.begin(), request.parameters.end());
    launch.parametersInitialized.assign(launch.parameters.size(), 1);
    launch.quick = quick;
    Block block;
    bool isCertain = true;
    try {
        prepare(block, launch);
        if (quick)
            beginLaunch(*quick, launch, block.warps.size());
        for (uint64_t number = 0; number < request.grid.count(); ++number) {
            begin(block, launch, static_cast<uint32_t>(number));
            runBlock(block, launch);
        }
    } catch (const Fault& fault) {
        launch.report.fault = LaunchReport::Ended{fault.kind, fault.line, fault.what()};
        isCertain = launch.ranOut(); // all others are told by the exact way
    } catch (const Doubt&) {
        isCertain = false;
    }
    launch.report.wasQuick = quick != nullptr;
    tellTouched(launch);
    if (!quick || !request.checked)
        return std::move(launch.report);
    memory.quickEpoch = quick->epoch;
    isCertain = isCertain && launch.report.findings.all().empty() && (quick->tracesReads || !mayOverlap(*quick));
    if (isCertain)
        return std::move(launch.report);
    undo(*quick);
    return std::nullopt;
}

} // namespace

LaunchReport runLaunch(const LaunchRequest& request, DeviceMemory& memory)
{
    constexpr uint8_t kTraced = 1, kExact = 2;
    const Kernel& kernel = *request.kernel;
    for (uint8_t way = kernel.isQuick && request.quick ? kernel.way->load() : kExact; way < kExact; ++way) {
        Quick quick(*request.program, way == kTraced);
        if (std::optional<LaunchReport> report = runOnce(request, memory, &quick))
            return *std::move(report);
        kernel.way->store(way + 1);
    }
    return *runOnce(request, memory, nullptr);
}

} // namespace lathe::ptx
