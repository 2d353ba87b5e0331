#include "plugins/cuda/model/sass_walk.h"

#include "core/support/message.h"
#include "plugins/cuda/model/sass_lanes.h"

#include <algorithm>

namespace lathe::cuda {

struct SassWalk::Program
{
    const SassKernel* kernel;
    const SassProfile* profile;
    SassLaunch launch;
    std::size_t end = 0;
    std::vector<LaneStep> steps; ///< of each instruction
    std::vector<bool> isExit, isJump;
    std::vector<std::size_t> target; ///< of a branch: index; kNowhere for none
    ConstantBank constants;
};

namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
constexpr std::size_t kMostSteps = 4'000'000; ///< of one warp

/// Where the parameters of a kernel begin in constant bank 0: as the compiler for each processor has it.
std::uint32_t parametersAt(std::int32_t capability)
{
    return capability >= 100 ? 0x380 : capability >= 90 ? 0x210 : 0x160;
}

/// The warp's position: threads of the block along x first.
WarpPlace placeOf(const SassLaunch& launch, std::int64_t block, std::int64_t warp)
{
    WarpPlace place;
    const auto& b = launch.block;
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane) {
        const std::int64_t thread = warp * 32 + static_cast<std::int64_t>(lane);
        if (thread < launch.threads())
            place.lanes |= 1U << lane;
        place.thread[0][lane] = static_cast<std::uint32_t>(thread % b[0]);
        place.thread[1][lane] = static_cast<std::uint32_t>(thread / b[0] % b[1]);
        place.thread[2][lane] = static_cast<std::uint32_t>(thread / (b[0] * b[1]));
    }
    place.block = {static_cast<std::uint32_t>(block % launch.grid[0]),
                   static_cast<std::uint32_t>(block / launch.grid[0] % launch.grid[1]),
                   static_cast<std::uint32_t>(block / (launch.grid[0] * launch.grid[1]))};
    return place;
}

} // namespace

SassWalk::SassWalk(std::unique_ptr<const Program> program)
    : m_program(std::move(program))
{
}
SassWalk::SassWalk(SassWalk&&) noexcept = default;
SassWalk::~SassWalk() = default;

Result<SassWalk> SassWalk::create(const SassModule& module, const SassKernel& kernel, const SassProfile& profile,
                                  const SassLaunch& launch)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    for (const auto& extents : {launch.grid, launch.block})
        for (const std::int64_t extent : extents)
            if (extent < 1 || extent >= kMost)
                return makeError(Errc::InvalidArgument, say(Msg::CudaModelNoLaunch));
    if (launch.block[0] > 1024 || launch.block[1] > 1024 || launch.block[2] > 1024 || launch.threads() > 1024)
        return makeError(Errc::InvalidArgument, say(Msg::CudaModelBlock, 1024));
    auto program = std::make_unique<Program>();
    program->kernel = &kernel;
    program->profile = &profile;
    program->launch = launch;
    program->end = sassCodeEnd(kernel);
    const auto& code = kernel.instructions;
    for (const SassInstruction& instruction : code) {
        const std::string_view base = instruction.base();
        program->steps.push_back(laneStepOf(instruction));
        program->isExit.push_back(base == "EXIT");
        program->isJump.push_back(base == "BRA" || base == "CALL");
        std::size_t at = kNowhere;
        for (const SassOperand& operand : instruction.operands)
            if (operand.kind == SassOperandKind::Label) {
                const auto address = static_cast<std::uint32_t>(operand.value);
                const auto found = std::lower_bound(
                    code.begin(), code.end(), address,
                    [](const SassInstruction& c, std::uint32_t a) { return c.address < a; });
                at = found == code.end() ? kNowhere : static_cast<std::size_t>(found - code.begin());
            }
        program->target.push_back(at);
    }
    auto& constants = program->constants;
    for (std::size_t d = 0; d < 3; ++d) {
        // The launch's extents stand in front on processors before sm_100, behind the first 0x360 bytes there.
        const std::uint32_t base = module.capability >= 100 ? 0x360 : 0;
        constants[base + static_cast<std::uint32_t>(4 * d)] = static_cast<std::uint32_t>(launch.block[d]);
        constants[base + 12 + static_cast<std::uint32_t>(4 * d)] = static_cast<std::uint32_t>(launch.grid[d]);
    }
    for (std::size_t i = 0; i < launch.parameters.size(); ++i)
        constants[parametersAt(module.capability) + static_cast<std::uint32_t>(4 * i)] = launch.parameters[i];
    return SassWalk(std::move(program));
}

void SassWalk::run(std::int64_t block, std::int64_t warp, std::int32_t passes,
                   const std::function<void(const WalkAccess&)>& onAccess) const
{
    const Program& program = *m_program;
    const auto& code = program.kernel->instructions;
    const auto& loops = program.profile->loops();
    LaneMachine machine(program.constants, placeOf(program.launch, block, warp));
    std::vector<std::int32_t> passOf(loops.size(), 0);
    const auto isInside = [&loops](std::size_t at, std::int32_t loop) {
        const SassLoop& l = loops[static_cast<std::size_t>(loop)];
        return at >= l.first && at <= l.last;
    };
    std::size_t steps = 0;
    std::size_t previous = kNowhere;
    for (std::size_t at = 0; at < program.end && steps < kMostSteps; ++steps) {
        const SassInstruction& instruction = code[at];
        // Loops that begin here: one more pass, or the first after coming from outside.
        for (std::size_t l = 0; l < loops.size(); ++l)
            if (loops[l].first == at)
                passOf[l] = previous != kNowhere && isInside(previous, static_cast<std::int32_t>(l)) ? passOf[l] + 1
                                                                                                     : 1;
        previous = at;
        const std::int32_t loop = program.profile->loopOf(at);
        const GuardState guard = machine.guard(instruction);
        if (instruction.kind == SassClass::Branch) {
            if (program.isExit[at]) {
                if (guard.isKnown && !machine.leave(guard.lanes))
                    return;
                if (!guard.isKnown && instruction.guard == kTruePredicate)
                    return;
            }
            const std::size_t to = program.target[at];
            const bool jumps = to != kNowhere && program.isJump[at];
            if (jumps) {
                const bool isAlways = guard.isAlways && !guard.isOperand;
                bool taken = guard.isKnown && guard.lanes == machine.lanes();
                const bool isBack = to <= at;
                const bool isEnough = loop >= 0 && passOf[static_cast<std::size_t>(loop)] >= passes;
                if (isBack && isEnough)
                    taken = false;
                else if (isBack && !guard.isKnown)
                    taken = true; // loops go on for as many passes as were asked for
                else if (!isBack && loop >= 0 && !isInside(to, loop) && !isAlways)
                    taken = isEnough || taken;
                if (taken) {
                    at = to;
                    continue;
                }
            }
            ++at;
            continue;
        }
        if (instruction.bytes > 0 && instruction.kind != SassClass::ConstantLoad
            && instruction.kind != SassClass::LocalLoad && instruction.kind != SassClass::LocalStore) {
            WalkAccess access;
            access.instruction = at;
            access.pass = loop >= 0 ? passOf[static_cast<std::size_t>(loop)] : 0;
            bool isFirst = true;
            for (const SassOperand& operand : instruction.operands) {
                if (operand.kind != SassOperandKind::Memory)
                    continue;
                const bool isCopy = instruction.kind == SassClass::AsyncCopy;
                const bool isAtomicShared = instruction.base() == "ATOMS";
                access.space = instruction.kind == SassClass::SharedLoad || instruction.kind == SassClass::SharedStore
                                       || (isCopy && isFirst) || isAtomicShared
                                   ? WalkSpace::Shared
                                   : WalkSpace::Global;
                access.isStore = instruction.kind == SassClass::SharedStore
                                 || instruction.kind == SassClass::GlobalStore || instruction.kind == SassClass::Atomic
                                 || (isCopy && isFirst);
                access.access.bytes = instruction.bytes;
                access.access.lanes = guard.isKnown ? guard.lanes : machine.lanes();
                if (isCopy && !isFirst)
                    access.access.lanes &= machine.copiedLanes(instruction);
                access.isKnown = machine.addresses(operand, access.access.at);
                onAccess(access);
                if (!isCopy)
                    break;
                isFirst = false;
            }
        }
        machine.execute(instruction, program.steps[at], guard);
        ++at;
    }
}

} // namespace lathe::cuda
