#include "tests/cuda_driver/ptx/lanes.h"

// Instructions of a warp: shfl, vote, match, redux, elect, activemask. All but the last wait for the lanes of their
// mask.

namespace lathe::ptx {

namespace {

enum : uint8_t
{
    kUp,
    kDown,
    kButterfly,
    kIndex
};
enum : uint8_t
{
    kAll,
    kAny,
    kUniform,
    kBallot
};
enum : uint8_t
{
    kSum,
    kLeast,
    kMost,
    kAnd,
    kOr,
    kXor
};

/// The mask of lanes, of row e. False: the group waits.
bool ready(Warp& warp, const Instruction& i, LaneMask lanes)
{
    const LaneMask mask = warp.row<uint32_t>(i.e)[std::countr_zero(lanes)];
    return haveLanesCome(warp, i, lanes, mask);
}

void shuffleRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!ready(warp, i, lanes))
        return;
    std::array<uint32_t, kLanes> values;
    std::memcpy(values.data(), warp.row<uint32_t>(i.a), sizeof(values));
    LaneMask inside = 0;
    forEachLane(lanes, [&](unsigned lane) {
        const uint32_t b = warp.row<uint32_t>(i.b)[lane] & 31, c = warp.row<uint32_t>(i.c)[lane];
        const uint32_t clamp = c & 31, segment = c >> 8 & 31;
        const auto highest = static_cast<int>((lane & segment) | (clamp & ~segment));
        int from = static_cast<int>(lane);
        bool holds = false;
        switch (i.mode) {
        case kUp:
            from -= static_cast<int>(b);
            holds = from >= highest;
            break;
        case kDown:
            from += static_cast<int>(b);
            holds = from <= highest;
            break;
        case kButterfly:
            from ^= static_cast<int>(b);
            holds = from <= highest;
            break;
        default:
            from = static_cast<int>((lane & segment) | (b & ~segment));
            holds = from <= highest;
            break;
        }
        if (!holds)
            from = static_cast<int>(lane);
        else
            inside |= 1u << lane;
        if ((lanes >> from & 1) == 0)
            if (Finding* const finding = warp.block->launch->report.findings.add(Finding::Kind::DivergentShuffle,
                                                                                 i.line, 0))
                finding->text = "PTX line " + std::to_string(i.line) + ": "
                                + nameOfThread(*warp.block, warp.threadOf(lane)) + " takes the value of lane "
                                + std::to_string(from) + ", which is not at this instruction.";
        warp.row<uint32_t>(i.d)[lane] = values[static_cast<size_t>(from)];
    });
    if (i.d2 != kNoRow) {
        LaneMask& p = warp.mask(i.d2);
        p = (p & ~lanes) | inside;
    }
}

void voteRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!ready(warp, i, lanes))
        return;
    const LaneMask votes = (warp.mask(i.c) ^ (i.negatedC ? kAllLanes : 0)) & lanes;
    if (i.mode == kBallot) {
        forEachLane(lanes, [&](unsigned lane) { warp.row<uint32_t>(i.d)[lane] = votes; });
        return;
    }
    const bool result = i.mode == kAll ? votes == lanes : i.mode == kAny ? votes != 0 : votes == lanes || votes == 0;
    LaneMask& d = warp.mask(i.d);
    d = (d & ~lanes) | (result ? lanes : 0);
}

template<typename T>
void matchRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!ready(warp, i, lanes))
        return;
    std::array<T, kLanes> values;
    std::memcpy(values.data(), warp.row<T>(i.a), sizeof(values));
    LaneMask agree = 0;
    forEachLane(lanes, [&](unsigned lane) {
        LaneMask same = 0;
        forEachLane(lanes,
                    [&](unsigned other) { same |= static_cast<LaneMask>(values[other] == values[lane]) << other; });
        if (same == lanes)
            agree |= 1u << lane;
        warp.row<uint32_t>(i.d)[lane] = i.mode == kAny ? same : same == lanes ? lanes : 0;
    });
    if (i.d2 != kNoRow) {
        LaneMask& p = warp.mask(i.d2);
        p = (p & ~lanes) | agree;
    }
}

template<typename T>
void reduceRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!ready(warp, i, lanes))
        return;
    T result = valueOf<T>(warp.row<uint32_t>(i.a)[std::countr_zero(lanes)]);
    forEachLane(lanes & (lanes - 1), [&](unsigned lane) {
        const T value = valueOf<T>(warp.row<uint32_t>(i.a)[lane]);
        switch (i.mode) {
        case kSum: result = static_cast<T>(static_cast<uint32_t>(result) + static_cast<uint32_t>(value)); break;
        case kLeast: result = std::min(result, value); break;
        case kMost: result = std::max(result, value); break;
        case kAnd: result &= value; break;
        case kOr: result |= value; break;
        default: result ^= value; break;
        }
    });
    forEachLane(lanes, [&](unsigned lane) { warp.row<uint32_t>(i.d)[lane] = slotOf<T>(result); });
}

void electRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    if (!ready(warp, i, lanes))
        return;
    const auto elected = static_cast<unsigned>(std::countr_zero(lanes));
    forEachLane(lanes, [&](unsigned lane) { warp.row<uint32_t>(i.d)[lane] = elected; });
    LaneMask& p = warp.mask(i.d2);
    p = (p & ~lanes) | 1u << elected;
}

void activeMaskRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) { warp.row<uint32_t>(i.d)[lane] = lanes; });
}

/// Sets d and, of a pair d|p, d2.
void destinationPair(Decoding& decoding)
{
    Operand first = decoding.operand(0);
    const std::shared_ptr<Operand> second = std::move(first.second);
    decoding.made().d = decoding.destination(first, Type::B32);
    if (second)
        decoding.made().d2 = decoding.predicateDestination(*second);
}

uint8_t takeOneOf(Decoding& decoding, std::initializer_list<std::string_view> words)
{
    uint8_t index = 0;
    for (const std::string_view word : words) {
        if (decoding.take(word))
            return index;
        ++index;
    }
    decoding.refuseInstruction();
}

} // namespace

bool decodeLanes(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    Instruction& made = decoding.made();
    if (name == "activemask") {
        decoding.takeType();
        decoding.finish(1);
        made.d = decoding.destination(0, Type::B32);
        decoding.emit(activeMaskRun);
        return true;
    }
    if (name != "shfl" && name != "vote" && name != "match" && name != "redux" && name != "elect")
        return false;
    if (!decoding.take("sync"))
        decoding.refuse("is taken with .sync alone");
    if (name == "shfl") {
        made.mode = takeOneOf(decoding, {"up", "down", "bfly", "idx"});
        decoding.takeType();
        decoding.finish(5);
        destinationPair(decoding);
        made.a = decoding.source(1, Type::B32);
        made.b = decoding.source(2, Type::B32);
        made.c = decoding.source(3, Type::B32);
        made.e = decoding.source(4, Type::B32);
        decoding.emit(shuffleRun);
    } else if (name == "vote") {
        made.mode = takeOneOf(decoding, {"all", "any", "uni", "ballot"});
        decoding.takeType();
        decoding.finish(3);
        made.d = made.mode == kBallot ? decoding.destination(0, Type::B32)
                                      : decoding.predicateDestination(decoding.operand(0));
        made.c = decoding.predicate(decoding.operand(1), made.negatedC);
        made.e = decoding.source(2, Type::B32);
        decoding.emit(voteRun);
    } else if (name == "match") {
        made.mode = takeOneOf(decoding, {"all", "any"});
        const Type type = decoding.takeType();
        decoding.finish(3);
        destinationPair(decoding);
        made.a = decoding.source(1, type);
        made.e = decoding.source(2, Type::B32);
        decoding.emit(sizeOf(type) == 8 ? matchRun<uint64_t> : matchRun<uint32_t>);
    } else if (name == "redux") {
        made.mode = takeOneOf(decoding, {"add", "min", "max", "and", "or", "xor"});
        const Type type = decoding.takeType();
        decoding.finish(3);
        if (sizeOf(type) != 4 || isFloat(type))
            decoding.refuseInstruction();
        operandsOf(decoding, type, type, 1);
        made.e = decoding.source(2, Type::B32);
        decoding.emit(type == Type::S32 ? reduceRun<int32_t> : reduceRun<uint32_t>);
    } else {
        decoding.finish(2);
        destinationPair(decoding);
        if (made.d2 == kNoRow)
            decoding.refuseInstruction();
        made.e = decoding.source(1, Type::B32);
        decoding.emit(electRun);
    }
    return true;
}

} // namespace lathe::ptx
