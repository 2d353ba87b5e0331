#include "tests/cuda_driver/ptx/accesses.h"
#include "tests/cuda_driver/ptx/lanes.h"
#include "tests/cuda_driver/ptx/quick.h"

// ld, st, fences, prefetch and cp.async.

namespace lathe::ptx {

namespace {

/// The addresses of the lanes: a row plus an offset, of 64 bits or of 32.
void gather(const Warp& warp, RowRef base, bool wide, int64_t offset, LaneMask lanes, uint64_t* addresses)
{
    if (wide) {
        const uint64_t* const row = warp.row<uint64_t>(base);
        forEachLane(lanes, [=](unsigned lane) { addresses[lane] = row[lane] + static_cast<uint64_t>(offset); });
    } else {
        const uint32_t* const row = warp.row<uint32_t>(base);
        forEachLane(lanes, [=](unsigned lane) { addresses[lane] = row[lane] + static_cast<uint32_t>(offset); });
    }
}

void count(Warp& warp, Space space, LaneMask lanes, uint64_t* addresses, unsigned bytes, Touch touch)
{
    if (space == Space::Shared)
        countShared(warp, lanes, addresses, bytes);
    else if (space == Space::Global)
        countGlobal(warp, lanes, addresses, bytes, touch);
}

void loadRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    uint64_t addresses[kLanes];
    gather(warp, i.a, i.wide, i.imm, lanes, addresses);
    const RowRef* const rows = warp.block->launch->program.lists.data() + i.list;
    const unsigned bytes = unsigned(i.size) * i.elements;
    Space space = i.space;
    forEachLane(lanes, [&](unsigned lane) {
        const Place place = placeOf(warp, i, lane, i.space, addresses[lane], bytes, Touch::Read);
        check(warp, i, lane, place, bytes, Touch::Read);
        for (unsigned k = 0; k < i.elements; ++k)
            loadValue(warp, i, rows[k], lane, place.bytes + k * i.size);
        space = place.allocation && place.allocation->readOnly ? Space::Const : place.space;
        if (i.strong && place.space == Space::Global)
            synchronize(warp, lane, addresses[lane], false, true);
    });
    count(warp, space, lanes, addresses, bytes, Touch::Read);
}

/// A load that leaves some of its bytes unused, as a compiler says of one that it made of several with gaps between.
/// Bytes that are not used are no reads of the program's: others may write them at the same time, and nobody needs to
/// have written them. They may also lie behind the end of what the others are in: memory ends where pages, and the
/// pieces in which shared memory is given away, do, so that no device faults there.
void loadUsedRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    uint64_t addresses[kLanes];
    gather(warp, i.a, i.wide, i.imm, lanes, addresses);
    const RowRef* const rows = warp.block->launch->program.lists.data() + i.list;
    const unsigned bytes = unsigned(i.size) * i.elements;
    const auto end = static_cast<unsigned>(std::bit_width(i.used)); // of what is used
    Space space = i.space;
    forEachLane(lanes, [&](unsigned lane) {
        const Place place = placeOf(warp, i, lane, i.space, addresses[lane], end, Touch::Read, bytes);
        for (unsigned first = 0, behind = 0; first < end; first = behind) {
            if ((i.used >> first & 1) == 0) {
                behind = first + 1;
                continue;
            }
            behind = first + static_cast<unsigned>(std::countr_one(unsigned(i.used) >> first));
            Place part = place;
            part.bytes += first;
            part.initialized += first;
            part.offset += first;
            check(warp, i, lane, part, behind - first, Touch::Read);
        }
        uint8_t value[16] = {};
        std::memcpy(value, place.bytes, std::min<uint64_t>(bytes, place.room));
        for (unsigned k = 0; k < i.elements; ++k)
            loadValue(warp, i, rows[k], lane, value + k * i.size);
        space = place.allocation && place.allocation->readOnly ? Space::Const : place.space;
        if (i.strong && place.space == Space::Global)
            synchronize(warp, lane, addresses[lane], false, true);
    });
    count(warp, space, lanes, addresses, bytes, Touch::Read);
}

/// Words of four bytes from shared memory, where most instructions of a tiled kernel read: what check() does, without
/// calls where nothing is to be told.
void loadSharedWordsRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    Block& block = *warp.block;
    if (block.sharedPerByte || !warp.lanesSeen.empty() || !block.launch->request.checked) {
        loadRun(warp, i, lanes);
        return;
    }
    uint64_t addresses[kLanes];
    gather(warp, i.a, i.wide, i.imm, lanes, addresses);
    const RowRef* const rows = block.launch->program.lists.data() + i.list;
    const unsigned words = i.elements, bytes = words * 4;
    const uint64_t size = block.shared.size();
    const uint32_t at = block.launch->indexOf(i);
    const uint8_t* const memory = block.shared.data();
    const uint8_t* const initialized = block.sharedInitialized.data();
    uint64_t last = ~uint64_t(0);
    forEachLane(lanes, [&](unsigned lane) {
        const uint64_t address = addresses[lane];
        const uint32_t thread = warp.threadOf(lane);
        const Access now = Access::make(warp.tick, thread, at);
        if (address == last) { // a broadcast, by lanes that follow each other
            for (unsigned k = 0; k < words; ++k) {
                block.sharedShadow[address / 4 + k].noteRead(now);
                std::memcpy(&warp.row<uint32_t>(rows[k])[lane], memory + address + 4 * k, 4);
            }
            return;
        }
        if (address % bytes != 0 || address >= size || size - address < bytes)
            placeOf(warp, i, lane, Space::Shared, address, bytes, Touch::Read); // throws
        ShadowWord* const shadow = block.sharedShadow.data() + address / 4;
        bool slow = false;
        for (unsigned k = 0; k < words; ++k) {
            uint32_t flags = 0;
            std::memcpy(&flags, initialized + address + 4 * k, 4);
            slow |= flags != 0x01010101 || shadow[k].write.tick() > warp.seen[shadow[k].write.warp()];
        }
        if (slow) {
            check(warp, i, lane, placeOf(warp, i, lane, Space::Shared, address, bytes, Touch::Read), bytes,
                  Touch::Read);
        } else {
            last = address;
            for (unsigned k = 0; k < words; ++k)
                shadow[k].noteRead(now);
        }
        for (unsigned k = 0; k < words; ++k)
            std::memcpy(&warp.row<uint32_t>(rows[k])[lane], memory + address + 4 * k, 4);
    });
    countShared(warp, lanes, addresses, bytes);
}

void storeRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    uint64_t addresses[kLanes];
    gather(warp, i.a, i.wide, i.imm, lanes, addresses);
    const RowRef* const rows = warp.block->launch->program.lists.data() + i.list;
    const unsigned bytes = unsigned(i.size) * i.elements;
    Space space = i.space;
    forEachLane(lanes, [&](unsigned lane) {
        const Place place = placeOf(warp, i, lane, i.space, addresses[lane], bytes, Touch::Write);
        if (i.strong && place.space == Space::Global)
            synchronize(warp, lane, addresses[lane], true, false);
        check(warp, i, lane, place, bytes, Touch::Write);
        for (unsigned k = 0; k < i.elements; ++k)
            storeValue(warp, i, rows[k], lane, place.bytes + k * i.size);
        space = place.space;
    });
    count(warp, space, lanes, addresses, bytes, Touch::Write);
}

void fenceRun(Warp& warp, const Instruction&, LaneMask)
{
    warp.block->fenced = true;
}

void nothingRun(Warp&, const Instruction&, LaneMask) {}

/// Of cp.async: d is the place in shared memory (aligned: of 64 bits), target its offset; a and imm the source.
void copyRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    uint64_t from[kLanes], to[kLanes];
    gather(warp, i.a, i.wide, i.imm, lanes, from);
    gather(warp, i.d, i.aligned, static_cast<int32_t>(i.target), lanes, to);
    LaneMask reading = 0;
    forEachLane(lanes, [&](unsigned lane) {
        AsyncCopy copy;
        copy.from = from[lane];
        copy.to = static_cast<uint32_t>(std::min<uint64_t>(to[lane], UINT32_MAX));
        copy.size = i.size;
        copy.fromSize = i.c == kNoRow ? i.size
                                      : static_cast<uint8_t>(std::min<uint32_t>(warp.row<uint32_t>(i.c)[lane], i.size));
        copy.instruction = warp.block->launch->indexOf(i);
        issueCopy(warp, i, lane, copy);
        reading |= copy.fromSize > 0 ? 1u << lane : 0;
    });
    if (reading != 0)
        countGlobal(warp, reading, from, i.size, Touch::Read);
}

void commitRun(Warp& warp, const Instruction&, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) { commitCopies(warp, lane); });
}

/// imm: how many groups may be left; -1: none, nor what is in no group yet.
void waitRun(Warp& warp, const Instruction& i, LaneMask lanes)
{
    forEachLane(lanes, [&](unsigned lane) {
        if (i.imm < 0)
            commitCopies(warp, lane);
        waitForCopies(warp, lane, i.imm < 0 ? 0 : static_cast<size_t>(i.imm));
    });
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
    if (decoding.take("param") || decoding.take("param::entry") || decoding.take("param::func"))
        return Space::Param;
    return Space::Generic;
}

/// Advice on caches, which changes no result.
void takeCacheWords(Decoding& decoding)
{
    for (const std::string_view word : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"})
        decoding.take(word);
    for (const std::string_view word : decoding.statement().opcode)
        if ((word.starts_with("L1::") || word.starts_with("L2::")) && word != "L2::cache_hint")
            decoding.take(word);
}

void decodeAccess(Decoding& decoding, bool load)
{
    Instruction& made = decoding.made();
    Space space = takeSpace(decoding);
    const bool ordered = decoding.take("relaxed") || decoding.take("acquire") || decoding.take("release");
    made.strong = ordered || decoding.take("volatile") || decoding.take("mmio");
    decoding.take("weak");
    if (ordered)
        for (const std::string_view scope : {"cta", "cluster", "gpu", "sys"})
            decoding.take(scope);
    takeCacheWords(decoding);
    made.elements = decoding.take("v2") ? 2 : decoding.take("v4") ? 4 : 1;
    made.type = decoding.takeType();
    if (made.type == Type::None || made.type == Type::Pred)
        decoding.refuseInstruction();
    made.size = static_cast<uint8_t>(sizeOf(made.type));
    decoding.finish(2);
    const size_t value = load ? 0 : 1;
    decoding.address(1 - value, space);
    made.space = space;
    const Operand& operand = decoding.operand(value);
    std::vector<Operand> parts;
    if (operand.kind == Operand::Kind::Vector)
        parts = operand.elements;
    else
        parts.push_back(operand);
    if (parts.size() != made.elements || made.size * parts.size() > 16)
        decoding.refuse("the vector has " + std::to_string(parts.size()) + " elements of " + std::to_string(made.size)
                        + " bytes");
    std::vector<RowRef> rows;
    made.aligned = made.size == 8
                   || std::any_of(parts.begin(), parts.end(), [&](const Operand& p) { return decoding.isWide(p); });
    for (const Operand& part : parts) {
        if (part.kind == Operand::Kind::Register && decoding.isWide(part) != made.aligned)
            decoding.refuse("registers of one vector are of different sizes");
        rows.push_back(load ? decoding.destination(part, made.type, true)
                            : decoding.source(part, made.aligned ? Type::B64 : made.type));
    }
    made.list = static_cast<uint32_t>(decoding.module().program.lists.size());
    decoding.module().program.lists.insert(decoding.module().program.lists.end(), rows.begin(), rows.end());
    const bool words = load && space == Space::Shared && made.size == 4 && !made.aligned && !made.strong;
    const unsigned bytes = unsigned(made.size) * made.elements;
    const uint32_t all = (uint32_t(1) << bytes) - 1, used = decoding.statement().usedBytes & all;
    if (load && used != all) // a mask without any of its bytes says nothing
        made.used = static_cast<uint16_t>(used);
    // The quick way looks at the used words of a load one by one.
    decoding.number(made.used != 0 ? 1 + bytes / 4 : 1);
    if (load)
        decoding.emit(made.used != 0 ? loadUsedRun : words ? loadSharedWordsRun : loadRun, quickLoadOf(made));
    else
        decoding.emit(storeRun, quickStoreOf(made));
}

void decodeFence(Decoding& decoding)
{
    decoding.take("sc") || decoding.take("acq_rel") || decoding.take("acquire") || decoding.take("release");
    const bool ofBlock = decoding.take("cta");
    if (!ofBlock && !decoding.take("gl") && !decoding.take("sys") && !decoding.take("gpu") && !decoding.take("cluster"))
        decoding.refuseInstruction();
    decoding.finish(0);
    decoding.emit(ofBlock ? nothingRun : fenceRun);
}

} // namespace

/// What is read is as wide as the register: with the sign of the type, or zeros.
void loadValue(const Warp& warp, const Instruction& i, RowRef row, unsigned lane, const uint8_t* bytes)
{
    uint64_t value = 0;
    std::memcpy(&value, bytes, i.size);
    if (i.type == Type::S8)
        value = static_cast<uint64_t>(int64_t(static_cast<int8_t>(value)));
    else if (i.type == Type::S16)
        value = static_cast<uint64_t>(int64_t(static_cast<int16_t>(value)));
    else if (i.type == Type::S32)
        value = static_cast<uint64_t>(int64_t(static_cast<int32_t>(value)));
    if (i.aligned) // the register has 64 bits
        warp.row<uint64_t>(row)[lane] = value;
    else
        warp.row<uint32_t>(row)[lane] = static_cast<uint32_t>(value);
}

void storeValue(const Warp& warp, const Instruction& i, RowRef row, unsigned lane, uint8_t* bytes)
{
    if (i.aligned)
        std::memcpy(bytes, &warp.row<uint64_t>(row)[lane], i.size);
    else
        std::memcpy(bytes, &warp.row<uint32_t>(row)[lane], i.size);
}

bool decodeMemory(Decoding& decoding)
{
    const std::string_view name = decoding.name();
    if (name == "ld" || name == "ldu" || name == "st") {
        decodeAccess(decoding, name != "st");
    } else if (name == "membar" || name == "fence") {
        decodeFence(decoding);
    } else if (name == "prefetch" || name == "prefetchu") {
        decoding.emit(nothingRun);
    } else {
        return false;
    }
    return true;
}

bool decodeAsyncCopy(Decoding& decoding)
{
    if (decoding.name() != "cp" || !decoding.take("async"))
        return false;
    Instruction& made = decoding.made();
    if (decoding.take("commit_group")) {
        decoding.finish(0);
        decoding.emit(commitRun, quickCommitRun);
        return true;
    }
    if (decoding.take("wait_all") || decoding.take("wait_group")) {
        decoding.finishModifiers();
        made.imm = decoding.operandCount() == 0 ? -1 : decoding.immediate(0);
        if (decoding.operandCount() > 1 || made.imm < -1)
            decoding.refuse("takes one number of groups");
        decoding.emit(waitRun, quickWaitRun);
        return true;
    }
    const bool past1 = decoding.take("cg");
    if (!past1 && !decoding.take("ca"))
        decoding.refuseInstruction();
    if ((!decoding.take("shared") && !decoding.take("shared::cta")) || !decoding.take("global"))
        decoding.refuseInstruction();
    takeCacheWords(decoding);
    decoding.finishModifiers();
    if (decoding.operandCount() != 3 && decoding.operandCount() != 4)
        decoding.refuse("has " + std::to_string(decoding.operandCount()) + " operands instead of 3 or 4");
    const int64_t size = decoding.immediate(2);
    if (size != 16 && (past1 || (size != 4 && size != 8)))
        decoding.refuse("cannot copy " + std::to_string(size) + " bytes");
    Space space = Space::Shared;
    decoding.address(0, space);
    made.d = made.a;
    made.aligned = made.wide;
    if (made.imm != static_cast<int32_t>(made.imm))
        decoding.refuse("the offset of the place in shared memory is too large");
    made.target = static_cast<uint32_t>(made.imm);
    space = Space::Global;
    decoding.address(1, space);
    made.space = Space::Global;
    made.size = static_cast<uint8_t>(size);
    if (decoding.operandCount() == 4) {
        if (decoding.operand(3).kind == Operand::Kind::Register
            && decoding.functionSyntax().registers[decoding.operand(3).index] == Type::Pred)
            decoding.refuse("a predicate that ignores the source is not taken");
        made.c = decoding.source(3, Type::U32);
    }
    decoding.module().program.asyncCopyLine = made.line;
    decoding.number(2);
    decoding.emit(copyRun, quickCopyRun);
    return true;
}

} // namespace lathe::ptx
