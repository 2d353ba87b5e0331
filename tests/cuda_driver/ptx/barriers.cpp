#include "tests/cuda_driver/ptx/quick.h"

namespace lathe::ptx {

namespace {

unsigned lineOf(const Block& block, uint32_t instruction)
{
    return block.launch->program.code[instruction].line;
}

/// Barriers of the aligned kind want all threads of a warp at the same instruction, and those without a number of
/// threads want all threads of the block, those included that have ended: a device may let these pass, or not.
void findDivergence(Block& block, unsigned number)
{
    const Block::Barrier& barrier = block.barriers[number];
    const auto add = [&](uint32_t at, unsigned otherLine, const std::string& text) {
        const unsigned line = lineOf(block, at);
        if (Finding* const finding = block.launch->report.findings.add(Finding::Kind::DivergentBarrier, line,
                                                                       otherLine))
            finding->text = "PTX line " + std::to_string(line) + ": " + text;
    };
    for (const Warp& warp : block.warps) {
        const Group* first = nullptr;
        LaneMask here = 0;
        for (const Group& group : warp.groups) {
            if (group.state != Group::State::Barrier || group.barrier != number)
                continue;
            const unsigned lane = static_cast<unsigned>(std::countr_zero(group.lanes));
            if (!first)
                first = &group;
            else if (barrier.aligned && group.waitsAt != first->waitsAt)
                add(first->waitsAt, lineOf(block, group.waitsAt),
                    "threads of one warp wait at barriers of different lines: "
                        + nameOfThread(block, warp.threadOf(static_cast<unsigned>(std::countr_zero(first->lanes))))
                        + " here, " + nameOfThread(block, warp.threadOf(lane)) + " at line "
                        + std::to_string(lineOf(block, group.waitsAt)) + ".");
            here |= group.lanes;
        }
        const LaneMask wanted = barrier.expected == 0 ? warp.existing : first && barrier.aligned ? warp.existing : here;
        if (const LaneMask missing = wanted & ~here)
            add(barrier.firstAt, 0,
                nameOfThread(block, warp.threadOf(static_cast<unsigned>(std::countr_zero(missing))))
                    + " ended without coming to the barrier for which others wait.");
    }
}

/// The predicate or number that bar.red gives to all: of the threads that arrived.
void reduce(Block& block, unsigned number)
{
    uint32_t holding = 0, all = 0;
    const auto forEachArrival = [&](auto&& f) {
        for (Warp& warp : block.warps)
            for (Group& group : warp.groups)
                if (group.state == Group::State::Barrier && group.barrier == number)
                    f(warp, group, block.launch->program.code[group.waitsAt]);
    };
    forEachArrival([&](Warp& warp, Group& group, const Instruction& instruction) {
        if (instruction.c == kNoRow)
            return;
        const LaneMask predicate = warp.mask(instruction.c) ^ (instruction.negatedC ? kAllLanes : 0);
        holding += countOf(predicate & group.lanes);
        all += countOf(group.lanes);
    });
    forEachArrival([&](Warp& warp, Group& group, const Instruction& instruction) {
        if (instruction.d == kNoRow)
            return;
        if (instruction.type == Type::Pred) {
            const bool holds = instruction.mode == 1 ? holding == all : holding > 0; // 1: and, 2: or
            LaneMask& mask = warp.mask(instruction.d);
            mask = (mask & ~group.lanes) | (holds ? group.lanes : 0);
        } else {
            forEachLane(group.lanes, [&](unsigned lane) { warp.row<uint32_t>(instruction.d)[lane] = holding; });
        }
    });
}

bool haveAllCome(const Block& block, unsigned number)
{
    return std::all_of(block.warps.begin(), block.warps.end(), [number](const Warp& warp) {
        LaneMask here = 0;
        for (const Group& group : warp.groups)
            if (group.state == Group::State::Barrier && group.barrier == number)
                here |= group.lanes;
        return here == warp.existing;
    });
}

/// All that the warps did before they arrived comes before all that they do from here on.
void order(Block& block, unsigned number)
{
    if (block.launch->quick && haveAllCome(block, number))
        beginEpoch(*block.launch->quick);
    std::array<uint32_t, kLanes> joined = block.arrivedClocks[number];
    const auto waits = [&](const Warp& warp) {
        return std::any_of(warp.groups.begin(), warp.groups.end(), [&](const Group& group) {
            return group.state == Group::State::Barrier && group.barrier == number;
        });
    };
    for (const Warp& warp : block.warps) {
        if (!waits(warp))
            continue;
        for (unsigned i = 0; i < kLanes; ++i)
            joined[i] = std::max(joined[i], warp.seen[i]);
        joined[warp.index] = std::max(joined[warp.index], warp.tick);
    }
    for (Warp& warp : block.warps) {
        if (!waits(warp))
            continue;
        warp.seen = joined;
        warp.lanesSeen.clear();
        warp.tick = std::min(warp.tick + 1, Access::kMostTicks);
    }
    block.arrivedClocks[number] = {};
}

} // namespace

void arrive(Warp& warp, const Instruction& instruction, LaneMask lanes, unsigned number, uint32_t expected, bool waits)
{
    Block& block = *warp.block;
    Block::Barrier& barrier = block.barriers[number];
    if (barrier.arrived == 0) {
        barrier.firstAt = block.launch->indexOf(instruction);
        barrier.expected = expected;
        barrier.aligned = instruction.aligned;
    }
    ++block.launch->report.counters.barriers;
    if (!waits) {
        // Counted by warps, as the hardware does: 32 for a warp.
        barrier.arrived += countOf(lanes);
        auto& clocks = block.arrivedClocks[number];
        for (unsigned i = 0; i < kLanes; ++i)
            clocks[i] = std::max(clocks[i], warp.seen[i]);
        clocks[warp.index] = std::max(clocks[warp.index], warp.tick);
        warp.tick = std::min(warp.tick + 1, Access::kMostTicks);
        return;
    }
    barrier.arrived += countOf(lanes);
    if (lanes != warp.active)
        warp.groups.push_back({warp.next, warp.active & ~lanes, Group::State::Ready});
    warp.active = lanes;
    putAside(warp, Group::State::Barrier, warp.next, instruction);
    warp.groups.back().barrier = static_cast<uint8_t>(number);
}

bool releaseBarriers(Block& block)
{
    uint32_t alive = 0;
    for (const Warp& warp : block.warps)
        alive += countOf(warp.alive);
    bool released = false;
    for (unsigned number = 0; number < block.barriers.size(); ++number) {
        Block::Barrier& barrier = block.barriers[number];
        if (barrier.arrived == 0 || barrier.arrived < (barrier.expected != 0 ? barrier.expected : alive))
            continue;
        findDivergence(block, number);
        reduce(block, number);
        order(block, number);
        for (Warp& warp : block.warps)
            for (Group& group : warp.groups)
                if (group.state == Group::State::Barrier && group.barrier == number)
                    group.state = Group::State::Ready;
        barrier = {};
        released = true;
    }
    return released;
}

void reportDeadlock(Block& block)
{
    std::string text;
    uint32_t first = 0;
    unsigned places = 0;
    std::vector<uint32_t> told;
    for (const Warp& warp : block.warps)
        for (const Group& group : warp.groups) {
            if (group.lanes == 0 || std::find(told.begin(), told.end(), group.waitsAt) != told.end() || places == 3)
                continue;
            told.push_back(group.waitsAt);
            if (places++ == 0)
                first = group.waitsAt;
            text += (places == 1 ? "" : ", ")
                    + nameOfThread(block, warp.threadOf(static_cast<unsigned>(std::countr_zero(group.lanes))))
                    + " waits at line " + std::to_string(lineOf(block, group.waitsAt))
                    + (group.state == Group::State::Barrier ? " for a barrier" : " for other lanes");
        }
    const unsigned line = lineOf(block, first);
    const bool barrier = std::any_of(block.barriers.begin(), block.barriers.end(),
                                     [](const auto& b) { return b.arrived > 0; });
    text = "PTX line " + std::to_string(line) + ": the block waits for ever: " + text + ".";
    if (Finding* const finding = block.launch->report.findings.add(
            barrier ? Finding::Kind::DivergentBarrier : Finding::Kind::DivergentShuffle, line, 0))
        finding->text = text;
    throw Fault(FaultKind::Timeout, line, text);
}

} // namespace lathe::ptx
