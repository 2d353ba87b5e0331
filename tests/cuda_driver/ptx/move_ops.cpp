#include "tests/cuda_driver/ptx/lanes.h"

// mov, cvta and isspacep.

namespace lathe::ptx {

namespace {

template<typename T>
T same(T a)
{
    return a;
}

void moveMask(Warp& warp, const Instruction& i, LaneMask lanes)
{
    LaneMask& d = warp.mask(i.d);
    d = (d & ~lanes) | (warp.mask(i.a) & lanes);
}

/// {a, b, ...} into one register: `size` bytes each.
void packRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const RowRef* const parts = warp.block->launch->program.lists.data() + i.list;
    const uint64_t mask = i.size == 4 ? 0xffffffff : (uint64_t(1) << 8 * i.size) - 1;
    forEachLane(lanes, [&](unsigned lane) {
        uint64_t whole = 0;
        for (unsigned k = 0; k < i.elements; ++k)
            whole |= (warp.row<uint32_t>(parts[k])[lane] & mask) << 8 * i.size * k;
        if (i.wide)
            warp.row<uint64_t>(i.d)[lane] = whole;
        else
            warp.row<uint32_t>(i.d)[lane] = static_cast<uint32_t>(whole);
    });
}

void unpackRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const RowRef* const parts = warp.block->launch->program.lists.data() + i.list;
    const uint64_t mask = i.size == 4 ? 0xffffffff : (uint64_t(1) << 8 * i.size) - 1;
    forEachLane(lanes, [&](unsigned lane) {
        const uint64_t whole = i.wide ? warp.row<uint64_t>(i.a)[lane] : warp.row<uint32_t>(i.a)[lane];
        for (unsigned k = 0; k < i.elements; ++k)
            warp.row<uint32_t>(parts[k])[lane] = static_cast<uint32_t>(whole >> 8 * i.size * k & mask);
    });
}

/// The instructions that the launch has run: a clock that never goes back, and the same in each run.
template<typename T>
void clockRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const Launch& launch = *warp.block->launch;
    const T now = static_cast<T>(launch.request.mostWarpInstructions - launch.remaining
                                 + launch.report.counters.warpInstructions);
    forEachLane(lanes, [&](unsigned lane) { warp.row<T>(i.d)[lane] = now; });
}

/// imm is added: from a space to generic addresses, or back.
struct AddOffset
{
    LATHE_PTX_INLINE static void run(Warp& warp, const Instruction& i, LaneMask lanes)
    {
        const auto* const a = warp.row<uint64_t>(i.a);
        const auto by = static_cast<uint64_t>(i.imm);
        assignLanes(warp, lanes, warp.row<uint64_t>(i.d), [=](unsigned lane) LATHE_PTX_LAMBDA { return a[lane] + by; });
    }
};
const Handler addOffset = handlerFor<AddOffset>();

uint64_t windowOf(Space space)
{
    switch (space) {
    case Space::Shared: return kSharedWindow;
    case Space::Local: return kLocalWindow;
    case Space::Param: return kParamWindow;
    default: return 0;
    }
}

void isSpaceRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    LaneMask result = 0;
    forEachLane(lanes, [&](unsigned lane) {
        const uint64_t address = warp.row<uint64_t>(i.a)[lane];
        bool holds = address - windowOf(i.space) < kWindowSize;
        if (i.space == Space::Global || i.space == Space::Const) {
            const Allocation* const found = warp.block->launch->memory.find(address);
            warp.block->launch->report.isRepeatable = false; // another module may bring constants
            holds = i.space == Space::Const ? found && found->readOnly
                                            : !(address >= kSharedWindow && address < kParamWindow + kWindowSize)
                                                  && !(found && found->readOnly);
        }
        result |= holds ? 1u << lane : 0;
    });
    LaneMask& d = warp.mask(i.d);
    d = (d & ~lanes) | result;
}

Space takeSpace(Decoding& decoding)
{
    if (decoding.take("global"))
        return Space::Global;
    if (decoding.take("shared") || decoding.take("shared::cta"))
        return Space::Shared;
    if (decoding.take("local"))
        return Space::Local;
    if (decoding.take("const"))
        return Space::Const;
    if (decoding.take("param") || decoding.take("param::entry"))
        return Space::Param;
    return Space::Generic;
}

void decodeVectorMove(Decoding& decoding, Type type)
{
    Instruction& made = decoding.made();
    const bool pack = decoding.operand(1).kind == Operand::Kind::Vector;
    const Operand& vector = decoding.operand(pack ? 1 : 0);
    made.elements = static_cast<uint8_t>(vector.elements.size());
    if (made.elements != 2 && made.elements != 4)
        decoding.refuse("a vector has " + std::to_string(vector.elements.size()) + " elements, not 2 or 4");
    made.size = static_cast<uint8_t>(sizeOf(type) / made.elements);
    made.wide = sizeOf(type) == 8;
    if (made.size == 0 || made.size > 4)
        decoding.refuseInstruction();
    const Type part = made.size == 4 ? Type::B32 : made.size == 2 ? Type::B16 : Type::B8;
    made.list = static_cast<uint32_t>(decoding.module().program.lists.size());
    for (const Operand& element : vector.elements)
        decoding.module().program.lists.push_back(pack ? decoding.source(element, part)
                                                       : decoding.destination(element, part));
    if (pack)
        made.d = decoding.destination(0, type);
    else
        made.a = decoding.source(1, type);
    decoding.emit(pack ? packRun : unpackRun);
}

void decodePlainMove(Decoding& decoding)
{
    Instruction& made = decoding.made();
    const Type type = decoding.takeType();
    decoding.finish(2);
    const Operand& from = decoding.operand(1);
    const bool wide = sizeOf(type) == 8;
    if (from.kind == Operand::Kind::Vector || decoding.operand(0).kind == Operand::Kind::Vector) {
        decodeVectorMove(decoding, type);
    } else if (type == Type::Pred) {
        made.d = decoding.predicateDestination(decoding.operand(0));
        made.a = decoding.predicate(from);
        decoding.emit(moveMask);
    } else if (from.kind == Operand::Kind::Special
               && (from.name == "%clock" || from.name == "%clock64" || from.name == "%clock_hi"
                   || from.name == "%globaltimer" || from.name == "%globaltimer_lo")) {
        made.d = decoding.destination(0, type);
        decoding.emit(wide ? clockRun<uint64_t> : clockRun<uint32_t>);
    } else {
        if (from.kind == Operand::Kind::Name)
            decoding.refuse("the name " + from.name + " is not known here; addresses of functions are not taken");
        operandsOf(decoding, type, type, 1);
        decoding.emit(wide ? unary<uint64_t, uint64_t, same<uint64_t>> : unary<uint32_t, uint32_t, same<uint32_t>>);
    }
}

} // namespace

bool decodeMove(Decoding& decoding)
{
    Instruction& made = decoding.made();
    if (decoding.name() == "mov") {
        decodePlainMove(decoding);
    } else if (decoding.name() == "cvta") {
        const bool to = decoding.take("to");
        const Space space = takeSpace(decoding);
        const Type type = decoding.takeType();
        decoding.finish(2);
        if (space == Space::Generic || sizeOf(type) != 8)
            decoding.refuseInstruction();
        operandsOf(decoding, type, type, 1);
        made.imm = static_cast<int64_t>(to ? 0 - windowOf(space) : windowOf(space));
        decoding.emit(addOffset);
    } else if (decoding.name() == "isspacep") {
        made.space = takeSpace(decoding);
        decoding.finish(2);
        made.d = decoding.predicateDestination(decoding.operand(0));
        made.a = decoding.source(1, Type::B64);
        decoding.emit(isSpaceRun);
    } else {
        return false;
    }
    return true;
}

} // namespace lathe::ptx
