#include "tests/cuda_driver/ptx/fused_ops.h"
#include "tests/cuda_driver/ptx/lanes.h"
#include "tests/cuda_driver/ptx/quick.h"
#include "tests/cuda_driver/ptx/small_float.h"

// atom and red: lanes one after the other, from the lowest, as no device promises.

namespace lathe::ptx {

namespace {

enum class AtomicOp : uint8_t
{
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
};

constexpr std::array<std::pair<std::string_view, AtomicOp>, 10> kAtomicOps = {{
    {"add", AtomicOp::Add},
    {"min", AtomicOp::Min},
    {"max", AtomicOp::Max},
    {"and", AtomicOp::And},
    {"or", AtomicOp::Or},
    {"xor", AtomicOp::Xor},
    {"exch", AtomicOp::Exchange},
    {"cas", AtomicOp::CompareAndSwap},
    {"inc", AtomicOp::Increment},
    {"dec", AtomicOp::Decrement},
}};

template<typename T>
T applied(AtomicOp op, T old, T b, T c)
{
    if constexpr (std::is_floating_point_v<T>) {
        return old + b; // there are no others
    } else {
        using U = std::make_unsigned_t<T>;
        switch (op) {
        case AtomicOp::Add: return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
        case AtomicOp::Min: return std::min(old, b);
        case AtomicOp::Max: return std::max(old, b);
        case AtomicOp::And: return static_cast<T>(old & b);
        case AtomicOp::Or: return static_cast<T>(old | b);
        case AtomicOp::Xor: return static_cast<T>(old ^ b);
        case AtomicOp::Exchange: return b;
        case AtomicOp::CompareAndSwap: return old == b ? c : old;
        case AtomicOp::Increment: return static_cast<U>(old) >= static_cast<U>(b) ? 0 : static_cast<T>(old + 1);
        case AtomicOp::Decrement:
            return old == 0 || static_cast<U>(old) > static_cast<U>(b) ? b : static_cast<T>(old - 1);
        }
        return old;
    }
}

/// The new bits of a pair of halves, or of one: only sums are there.
uint32_t addedHalves(uint32_t old, uint32_t by, Type type, bool pair)
{
    const SmallFormat format = formatOf(type);
    const auto sum = [&](uint32_t a, uint32_t b) {
        return encode(decode(a & 0xffff, format) + decode(b & 0xffff, format), format, Rounding::Nearest);
    };
    return sum(old, by) | (pair ? sum(old >> 16, by >> 16) << 16 : 0);
}

/// Sums of float32 in global memory take subnormal numbers for zeros, and give zeros for them; those in shared memory
/// do not (PTX, atom).
float addedFloats(float old, float by, Space space)
{
    const auto flushed = [space](float value) {
        const bool tiny = space == Space::Global && std::fabs(value) < std::numeric_limits<float>::min();
        return tiny ? std::copysign(0.0F, value) : value;
    };
    return canonical(flushed(flushed(old) + flushed(by)));
}

/// One lane's change of what lies at `bytes`.
template<typename T>
void change(Warp& warp, const Instruction& i, unsigned lane, uint8_t* bytes, [[maybe_unused]] Space space)
{
    using Slot = SlotOf<T>;
    T old;
    std::memcpy(&old, bytes, sizeof(T));
    const T b = valueOf<T>(warp.row<Slot>(i.b)[lane]);
    const T c = i.c == kNoRow ? T() : valueOf<T>(warp.row<Slot>(i.c)[lane]);
    T result = T();
    if (i.type == Type::F16 || i.type == Type::Bf16 || i.type == Type::F16x2 || i.type == Type::Bf16x2)
        result = valueOf<T>(static_cast<Slot>(addedHalves(
            static_cast<uint32_t>(slotOf<T>(old)), static_cast<uint32_t>(slotOf<T>(b)), i.type, sizeof(T) == 4)));
    else if constexpr (std::is_same_v<T, float>)
        result = addedFloats(old, b, space);
    else
        result = applied<T>(static_cast<AtomicOp>(i.mode), old, b, c);
    std::memcpy(bytes, &result, sizeof(T));
    if (i.d != kNoRow)
        warp.row<Slot>(i.d)[lane] = slotOf<T>(old);
}

template<typename T>
void atomicRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    uint64_t addresses[kLanes];
    forEachLane(lanes, [&](unsigned lane) {
        addresses[lane] = (i.wide ? warp.row<uint64_t>(i.a)[lane] : warp.row<uint32_t>(i.a)[lane])
                          + static_cast<uint64_t>(i.imm);
        if (!i.wide)
            addresses[lane] &= 0xffffffff;
    });
    Space space = i.space;
    forEachLane(lanes, [&](unsigned lane) {
        const Place place = placeOf(warp, i, lane, i.space, addresses[lane], sizeof(T), Touch::Atomic);
        if (place.space == Space::Local)
            throw Fault(FaultKind::InvalidAddressSpace, i.line,
                        "PTX line " + std::to_string(i.line) + ": an atomic instruction on local memory.");
        if (i.aligned) // acquire, release: as with a fence
            warp.block->fenced = true;
        if (place.space == Space::Global)
            synchronize(warp, lane, addresses[lane], true, true);
        check(warp, i, lane, place, sizeof(T), Touch::Atomic);
        change<T>(warp, i, lane, place.bytes, place.space);
        space = place.space;
    });
    if (space == Space::Shared)
        countShared(warp, lanes, addresses, sizeof(T));
    else
        countGlobal(warp, lanes, addresses, sizeof(T), Touch::Atomic);
}

/// Of global memory, in launches that are run the quick way.
template<typename T>
void quickAtomicRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    Launch& launch = *warp.block->launch;
    Located located;
    Allocation* const allocation = locate(warp, i.a, i.wide, i.imm, lanes, sizeof(T), i.access, located)
                                           && located.isAligned()
                                       ? quickAllocation(launch, i.access, located, Touch::Atomic)
                                       : nullptr;
    if (!launch.request.checked || !allocation || allocation->readOnly
        || !changeGlobal(warp, *allocation, located, i.access)) {
        leaveToExact(warp, i, lanes);
        return;
    }
    uint8_t* const bytes = allocation->bytes.get() + (located.first - allocation->base);
    forEachLane(
        lanes, [&](unsigned lane) { change<T>(warp, i, lane, bytes + located.pattern->offsets[lane], Space::Global); });
    countGlobalAccess(warp, located, Touch::Atomic);
}

struct Handlers
{
    Handler exact = nullptr, quick = nullptr;
};

template<typename T>
Handlers handlersFor()
{
    return {atomicRun<T>, quickAtomicRun<T>};
}

Handlers handlersOf(Type type, AtomicOp op)
{
    if (isFloat(type) && op != AtomicOp::Add)
        return {};
    switch (type) {
    case Type::F32: return handlersFor<float>();
    case Type::F64: return handlersFor<double>();
    case Type::S32: return handlersFor<int32_t>();
    case Type::S64: return handlersFor<int64_t>();
    case Type::U64:
    case Type::B64: return handlersFor<uint64_t>();
    case Type::U32:
    case Type::B32:
    case Type::F16x2:
    case Type::Bf16x2: return handlersFor<uint32_t>();
    case Type::B16: return op == AtomicOp::CompareAndSwap ? handlersFor<uint16_t>() : Handlers{};
    case Type::F16:
    case Type::Bf16: return handlersFor<uint16_t>();
    default: return {};
    }
}

} // namespace

bool decodeAtomic(Decoding& decoding)
{
    const bool returns = decoding.name() == "atom";
    if (!returns && decoding.name() != "red")
        return false;
    Instruction& made = decoding.made();
    Space space = Space::Generic;
    if (decoding.take("global"))
        space = Space::Global;
    else if (decoding.take("shared") || decoding.take("shared::cta"))
        space = Space::Shared;
    made.aligned = decoding.take("acquire") || decoding.take("release") || decoding.take("acq_rel");
    decoding.take("relaxed");
    for (const std::string_view scope : {"cta", "cluster", "gpu", "sys"})
        if (decoding.take(scope))
            break;
    bool found = false;
    for (const auto& [name, op] : kAtomicOps)
        if (!found && decoding.take(name)) {
            made.mode = static_cast<uint8_t>(op);
            found = true;
        }
    decoding.take("noftz");
    made.type = decoding.takeType();
    const auto op = static_cast<AtomicOp>(made.mode);
    const Handlers handlers = handlersOf(made.type, op);
    if (!found || !handlers.exact)
        decoding.refuseInstruction();
    const size_t first = returns ? 1 : 0;
    const bool swap = op == AtomicOp::CompareAndSwap;
    decoding.finish(first + 2 + (swap ? 1 : 0));
    decoding.address(first, space);
    made.space = space;
    made.size = static_cast<uint8_t>(sizeOf(made.type));
    if (returns)
        made.d = decoding.destination(0, made.type);
    made.b = decoding.source(first + 1, made.type);
    if (swap)
        made.c = decoding.source(first + 2, made.type);
    made.flops = isFloat(made.type) ? 1 : 0;
    decoding.number(1);
    // Orders are not known to the quick way, nor are atomics of shared memory.
    decoding.emit(handlers.exact, space == Space::Global && !made.aligned ? handlers.quick : nullptr);
    return true;
}

} // namespace lathe::ptx
