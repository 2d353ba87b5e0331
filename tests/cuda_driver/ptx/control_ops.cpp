#include "tests/cuda_driver/ptx/lanes.h"

// Branches, calls, the end, barriers.

namespace lathe::ptx {

namespace {

void branchRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    jump(warp, lanes, i.target);
}

/// Each lane to its own place: lanes with the same one go together.
void scatter(Warp& warp, LaneMask lanes, const std::array<uint32_t, kLanes>& targets)
{
    while (lanes != 0) {
        const uint32_t target = targets[static_cast<size_t>(std::countr_zero(lanes))];
        LaneMask same = 0;
        forEachLane(lanes, [&](unsigned lane) { same |= static_cast<LaneMask>(targets[lane] == target) << lane; });
        if (same == warp.active) {
            warp.next = target;
            return;
        }
        warp.groups.push_back({target, same, Group::State::Ready});
        warp.active &= ~same;
        lanes &= ~same;
        warp.leaves = true;
        if (warp.active == 0)
            return;
    }
}

/// brx.idx: a is the index, list and imm the targets.
void branchIndexedRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const Program& program = warp.block->launch->program;
    std::array<uint32_t, kLanes> targets{};
    forEachLane(lanes, [&](unsigned lane) {
        const uint32_t index = warp.row<uint32_t>(i.a)[lane];
        if (index >= i.imm)
            throw Fault(FaultKind::InvalidProgramCounter, i.line,
                        "PTX line " + std::to_string(i.line) + ": " + nameOfThread(*warp.block, warp.threadOf(lane))
                            + " branches to entry " + std::to_string(index) + " of a list of " + std::to_string(i.imm)
                            + ".");
        targets[lane] = program.lists[i.list + index];
    });
    scatter(warp, lanes, targets);
}

/// d: the row of places to return to.
void callRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) { warp.row<uint32_t>(i.d)[lane] = warp.next; });
    jump(warp, lanes, i.target);
}

void returnRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    std::array<uint32_t, kLanes> targets;
    std::memcpy(targets.data(), warp.row<uint32_t>(i.d), sizeof(targets));
    scatter(warp, lanes, targets);
}

void exitRun(Warp& warp, const Instruction&, LaneMask lanes)
{
    warp.alive &= ~lanes;
    warp.active &= ~lanes;
    warp.leaves = warp.active == 0;
}

void trapRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    throw Fault(FaultKind::Trap, i.line,
                "PTX line " + std::to_string(i.line) + ": "
                    + nameOfThread(*warp.block, warp.threadOf(static_cast<unsigned>(std::countr_zero(lanes))))
                    + " ran into a trap.");
}

/// Copies `size` bytes of local memory from offset imm to offset target: arguments and results of calls.
void copyLocalRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    Block& block = *warp.block;
    const size_t stride = block.launch->request.kernel->localBytes;
    forEachLane(lanes, [&](unsigned lane) {
        const size_t base = stride * warp.threadOf(lane);
        const auto from = base + static_cast<size_t>(i.imm), to = base + i.target;
        std::memmove(block.local.data() + to, block.local.data() + from, i.list);
        std::memmove(block.localInitialized.data() + to, block.localInitialized.data() + from, i.list);
    });
}

void barrierRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const auto first = static_cast<size_t>(std::countr_zero(lanes));
    const uint32_t number = warp.row<uint32_t>(i.a)[first];
    const uint32_t expected = i.b == kNoRow ? 0 : warp.row<uint32_t>(i.b)[first];
    if (number >= warp.block->barriers.size())
        throw Fault(FaultKind::Trap, i.line,
                    "PTX line " + std::to_string(i.line) + ": there is no barrier " + std::to_string(number)
                        + ", only 16.");
    arrive(warp, i, lanes, number, expected, !i.strong); // strong: arrives without waiting
}

void warpBarrierRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const LaneMask mask = warp.row<uint32_t>(i.e)[static_cast<size_t>(std::countr_zero(lanes))];
    if (haveLanesCome(warp, i, lanes, mask))
        orderLanes(warp, lanes);
}

void nothingRun(Warp&, const Instruction&, LaneMask) {}

void decodeBranch(Decoding& decoding)
{
    Instruction& made = decoding.made();
    if (decoding.name() == "bra") {
        decoding.take("uni");
        decoding.finish(1);
        const Operand& label = decoding.operand(0);
        if (label.kind != Operand::Kind::Name)
            decoding.refuse("the target is no label");
        made.target = decoding.labelled(label.name); // a statement; the module's decoder makes instructions of them
        decoding.emit(branchRun);
        return;
    }
    if (!decoding.take("idx"))
        decoding.refuseInstruction();
    decoding.take("uni");
    decoding.finish(2);
    made.a = decoding.source(0, Type::U32);
    const Operand& list = decoding.operand(1);
    if (list.kind != Operand::Kind::Name)
        decoding.refuse("the targets are no list of labels");
    const std::vector<std::string> labels = decoding.branchTargets(list.name);
    made.list = static_cast<uint32_t>(decoding.module().program.lists.size());
    made.imm = static_cast<int64_t>(labels.size());
    for (const std::string& label : labels)
        decoding.module().program.lists.push_back(decoding.labelled(label));
    decoding.emit(branchIndexedRun);
}

void decodeCall(Decoding& decoding)
{
    ModuleDecoder& module = decoding.module();
    const Statement& statement = decoding.statement();
    decoding.take("uni");
    decoding.finishModifiers();
    std::vector<uint32_t> results, arguments;
    std::string callee;
    const auto listed = [&](const Operand& list, std::vector<uint32_t>& into) {
        for (const Operand& element : list.elements) {
            if (element.kind != Operand::Kind::Variable)
                decoding.refuse("an argument or result of the call is no .param variable");
            into.push_back(element.index);
        }
    };
    for (const Operand& operand : statement.operands) {
        if (operand.kind == Operand::Kind::Name && callee.empty())
            callee = operand.name;
        else if (operand.kind == Operand::Kind::List)
            listed(operand, callee.empty() ? results : arguments);
        else
            decoding.refuse("calls of functions through pointers are not taken");
    }
    const auto& functions = module.syntax.functions;
    const auto found = std::find_if(functions.begin(), functions.end(),
                                    [&](const Function& f) { return f.name == callee && !f.isDeclared && !f.isEntry; });
    if (found == functions.end())
        decoding.refuse("the function " + callee + " has no body in this module");
    if (found->parameters.size() != arguments.size() || found->results.size() != results.size())
        decoding.refuse("the function " + callee + " has another number of parameters or results");
    const auto index = static_cast<uint32_t>(found - functions.begin());
    const auto copy = [&](uint32_t from, uint32_t to) {
        const Variable &a = module.syntax.variables[from], &b = module.syntax.variables[to];
        if (a.size != b.size)
            decoding.refuse("an argument or result of " + callee + " has " + std::to_string(a.size)
                            + " bytes instead of " + std::to_string(b.size));
        Instruction made = decoding.made();
        made.run = made.quick = copyLocalRun;
        made.imm = static_cast<int64_t>(module.sharedOffset[from]);
        made.target = static_cast<uint32_t>(module.sharedOffset[to]);
        made.list = static_cast<uint32_t>(a.size);
        decoding.emit(made);
    };
    for (size_t i = 0; i < arguments.size(); ++i)
        copy(arguments[i], found->parameters[i]);
    Instruction& made = decoding.made();
    made.d = module.returnRow[index] * 2;
    module.calls.push_back({static_cast<uint32_t>(module.program.code.size()), index});
    decoding.emit(callRun);
    for (size_t i = 0; i < results.size(); ++i)
        copy(found->results[i], results[i]);
}

void decodeBarrier(Decoding& decoding)
{
    Instruction& made = decoding.made();
    const bool isBar = decoding.name() == "bar";
    if (decoding.take("warp")) {
        if (!decoding.take("sync"))
            decoding.refuseInstruction();
        decoding.finish(1);
        made.e = decoding.source(0, Type::B32);
        decoding.emit(warpBarrierRun);
        return;
    }
    decoding.take("cta");
    made.aligned = decoding.take("aligned") || isBar;
    const bool reduces = decoding.take("red");
    made.strong = !reduces && decoding.take("arrive");
    if (!reduces && !made.strong && !decoding.take("sync"))
        decoding.refuseInstruction();
    size_t at = 0;
    if (reduces) {
        made.mode = decoding.take("popc") ? 3 : decoding.take("and") ? 1 : decoding.take("or") ? 2 : 0;
        if (made.mode == 0)
            decoding.refuseInstruction();
        made.type = decoding.takeType();
        made.d = made.mode == 3 ? decoding.destination(0, Type::U32)
                                : decoding.predicateDestination(decoding.operand(0));
        at = 1;
    }
    decoding.finishModifiers();
    made.a = decoding.source(at, Type::U32);
    const size_t last = decoding.operandCount() - (reduces ? 1 : 0);
    if (last == at + 2)
        made.b = decoding.source(at + 1, Type::U32);
    else if (last != at + 1 || made.strong)
        decoding.refuse("has a wrong number of operands");
    if (reduces)
        made.c = decoding.predicate(decoding.operand(last), made.negatedC);
    decoding.emit(barrierRun);
}

} // namespace

bool decodeControl(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    Instruction& made = decoding.made();
    if (name == "bra" || name == "brx") {
        decodeBranch(decoding);
    } else if (name == "call") {
        decodeCall(decoding);
    } else if (name == "bar" || name == "barrier") {
        decodeBarrier(decoding);
    } else if (name == "ret" || name == "exit") {
        decoding.take("uni");
        decoding.finish(0);
        const bool ends = name == "exit" || decoding.functionSyntax().isEntry;
        made.d = ends ? kNoRow : decoding.module().returnRow[decoding.function()] * 2;
        decoding.emit(ends ? exitRun : returnRun);
    } else if (name == "trap") {
        decoding.finish(0);
        decoding.emit(trapRun);
    } else if (name == "nanosleep") {
        decoding.takeType();
        decoding.finish(1);
        decoding.emit(nothingRun);
    } else if (name == "pragma") {
        return true;
    } else {
        return false;
    }
    return true;
}

} // namespace lathe::ptx
