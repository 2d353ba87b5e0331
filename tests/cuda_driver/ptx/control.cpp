#include "tests/cuda_driver/ptx/block.h"

namespace lathe::ptx {

void putAside(Warp& warp, Group::State state, uint32_t at, const Instruction& waiting)
{
    Group group;
    group.at = at;
    group.lanes = warp.active;
    group.state = state;
    group.waitsAt = warp.block->launch->indexOf(waiting);
    warp.groups.push_back(group);
    warp.active = 0;
    warp.leaves = true;
}

void jump(Warp& warp, LaneMask lanes, uint32_t target)
{
    if (lanes == warp.active) {
        warp.next = target;
        return;
    }
    ++warp.block->launch->report.counters.divergentBranches;
    warp.groups.push_back({target, lanes, Group::State::Ready});
    warp.groups.push_back({warp.next, warp.active & ~lanes, Group::State::Ready});
    warp.active = 0;
    warp.leaves = true;
}

bool haveLanesCome(Warp& warp, const Instruction& instruction, LaneMask lanes, LaneMask mask)
{
    Launch& launch = *warp.block->launch;
    if ((mask & lanes) != lanes) {
        if (Finding* const finding = launch.report.findings.add(Finding::Kind::DivergentShuffle, instruction.line, 0)) {
            const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes & ~mask));
            finding->text = "PTX line " + std::to_string(instruction.line) + ": "
                            + nameOfThread(*warp.block, warp.threadOf(lane))
                            + " is not in the mask of lanes that it names.";
        }
    }
    const LaneMask missing = mask & warp.alive & ~lanes;
    if (missing == 0) {
        if ((mask & warp.existing & ~warp.alive) != 0)
            if (Finding* const finding = launch.report.findings.add(Finding::Kind::DivergentShuffle, instruction.line,
                                                                    0)) {
                const unsigned lane = static_cast<unsigned>(std::countr_zero(mask & warp.existing & ~warp.alive));
                finding->text = "PTX line " + std::to_string(instruction.line) + ": "
                                + nameOfThread(*warp.block, warp.threadOf(lane))
                                + ", which the mask of lanes names, has ended already.";
            }
        return true;
    }
    // Lanes that a guard keeps from this instruction do not wait for it.
    if (lanes != warp.active)
        warp.groups.push_back({warp.next, warp.active & ~lanes, Group::State::Ready});
    warp.active = lanes;
    putAside(warp, Group::State::Lanes, launch.indexOf(instruction), instruction);
    warp.groups.back().needs = mask;
    return false;
}

void orderLanes(Warp& warp, LaneMask lanes)
{
    const uint32_t now = warp.tick;
    warp.tick = std::min(warp.tick + 1, Access::kMostTicks);
    if (lanes == warp.existing || lanes == warp.alive) {
        if (!warp.lanesSeen.empty())
            for (auto& seen : warp.lanesSeen)
                seen.fill(now);
        warp.seen[warp.index] = now;
        return;
    }
    if (warp.lanesSeen.empty()) {
        warp.lanesSeen.resize(kLanes);
        for (auto& seen : warp.lanesSeen)
            seen.fill(warp.seen[warp.index]);
    }
    std::array<uint32_t, kLanes> joined{};
    forEachLane(lanes, [&](unsigned lane) {
        for (unsigned other = 0; other < kLanes; ++other)
            joined[other] = std::max(joined[other], warp.lanesSeen[lane][other]);
        joined[lane] = now;
    });
    forEachLane(lanes, [&](unsigned lane) { warp.lanesSeen[lane] = joined; });
}

} // namespace lathe::ptx
