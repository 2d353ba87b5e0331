#include "tests/cuda_driver/ptx/accesses.h"

#include <cstdio>

namespace lathe::ptx {

namespace {

std::string hexadecimal(uint64_t number)
{
    char text[32];
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

const char* verbOf(Touch touch)
{
    return touch == Touch::Read ? "reads" : touch == Touch::Write ? "writes" : "changes atomically";
}

std::string whoOf(const Warp& warp, unsigned lane)
{
    return nameOfThread(*warp.block, warp.threadOf(lane));
}

std::string bytesOf(uint64_t first, unsigned count)
{
    return count == 1 ? "byte " + std::to_string(first)
                      : "bytes " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

std::string nameOfPlace(const Place& place, uint64_t offset, unsigned bytes)
{
    switch (place.space) {
    case Space::Shared: return "shared " + bytesOf(offset, bytes);
    case Space::Local: return "local " + bytesOf(offset, bytes);
    case Space::Param: return "parameter " + bytesOf(offset, bytes);
    default:
        return bytesOf(offset, bytes) + " of the " + std::to_string(place.allocation->size) + " bytes at "
               + hexadecimal(place.allocation->base);
    }
}

[[noreturn]] void fail(FaultKind kind, const Warp& warp, const Instruction& instruction, unsigned lane,
                       const std::string& what)
{
    throw Fault(kind, instruction.line,
                "PTX line " + std::to_string(instruction.line) + ": " + whoOf(warp, lane) + " " + what + ".");
}

[[noreturn]] void failOutside(Warp& warp, const Instruction& instruction, unsigned lane, Space space, uint64_t address,
                              unsigned bytes, Touch touch, uint64_t size)
{
    const std::string verb = verbOf(touch);
    if (space == Space::Shared || space == Space::Local || space == Space::Param) {
        const char* const name = space == Space::Shared ? "shared" : space == Space::Local ? "local" : "parameter";
        fail(FaultKind::IllegalAddress, warp, instruction, lane,
             verb + " " + name + " " + bytesOf(address, bytes) + ", but there are " + std::to_string(size)
                 + " bytes of " + name + " memory");
    }
    const Launch& launch = *warp.block->launch;
    std::string what = verb + " " + std::to_string(bytes) + " bytes of global memory at " + hexadecimal(address);
    if (launch.memory.wasReleased(address))
        what += ", which was freed before the launch";
    else if (const Allocation* const below = launch.memory.below(address))
        what += address - below->base < below->size
                    ? ", which run over the end of the " + std::to_string(below->size) + " bytes at "
                          + hexadecimal(below->base)
                    : ", " + std::to_string(address - below->base - below->size) + " bytes behind the end of the "
                          + std::to_string(below->size) + " bytes at " + hexadecimal(below->base);
    else
        what += ", where nothing was allocated";
    fail(FaultKind::IllegalAddress, warp, instruction, lane, what);
}

bool waitedFor(const Warp& warp, unsigned lane, const Access& access)
{
    const unsigned other = access.thread() / kLanes;
    if (other == warp.index && !warp.lanesSeen.empty())
        return access.tick() <= warp.lanesSeen[lane][access.thread() % kLanes];
    return access.tick() <= warp.seen[other];
}

bool wasReleased(const Launch& launch, uint64_t address, uint32_t block, const Access& access, int depth)
{
    const auto found = launch.released.find(address);
    if (found == launch.released.end())
        return false;
    if (const auto by = found->second.blocks.find(block); by != found->second.blocks.end()) {
        const Released& released = by->second;
        if (access.tick() <= released.ticks[access.thread() / kLanes]
            || (access.thread() == released.thread && access.tick() <= released.threadTick))
            return true;
    }
    if (depth < 4)
        for (const uint64_t further : found->second.further)
            if (further != address && wasReleased(launch, further, block, access, depth + 1))
                return true;
    return false;
}

class Checker
{
public:
    Checker(Warp& warp, const Instruction& instruction, unsigned lane, const Place& place, Touch touch)
        : m_warp(warp)
        , m_instruction(instruction)
        , m_place(place)
        , m_lane(lane)
        , m_touch(touch)
        , m_thread(warp.threadOf(lane))
        , m_strong(touch == Touch::Atomic || instruction.strong)
        , m_now(Access::make(warp.tick, m_thread,
                             warp.block->launch->indexOf(instruction) | (m_strong ? Access::kStrong : 0)))
    {
    }

    void shared(ShadowWord& word, uint64_t offset, unsigned bytes)
    {
        against(word.write, m_warp.block->number, true, offset, bytes);
        if (m_touch == Touch::Read) {
            word.noteRead(m_now);
            return;
        }
        against(word.read, m_warp.block->number, false, offset, bytes);
        against(word.otherRead, m_warp.block->number, false, offset, bytes);
        word.write = m_now;
    }

    void global(GlobalShadowWord& shadow, uint64_t offset, unsigned bytes)
    {
        ShadowWord& word = shadow.word;
        const uint32_t block = m_warp.block->number;
        against(word.write, shadow.writeBlock, true, offset, bytes);
        if (m_touch == Touch::Read) {
            if (shadow.readBlock != block) {
                if (word.read.tick() != 0) {
                    shadow.earlierRead = word.read;
                    shadow.earlierReadBlock = shadow.readBlock;
                }
                word.read = m_now;
                word.otherRead = {};
                shadow.readBlock = block;
            } else {
                word.noteRead(m_now);
            }
            return;
        }
        against(word.read, shadow.readBlock, false, offset, bytes);
        against(word.otherRead, shadow.readBlock, false, offset, bytes);
        against(shadow.earlierRead, shadow.earlierReadBlock, false, offset, bytes);
        word.write = m_now;
        shadow.writeBlock = block;
    }

private:
    void against(const Access& other, uint32_t block, bool otherWrote, uint64_t offset, unsigned bytes)
    {
        if (other.tick() == 0 || (m_strong && other.strong()))
            return;
        const bool inFlight = other.tick() == Access::kInFlight;
        if (block == m_warp.block->number) {
            if (!inFlight && ((other.thread() == m_thread && !other.several()) || waitedFor(m_warp, m_lane, other)))
                return;
        } else {
            const Launch& launch = *m_warp.block->launch;
            for (const uint64_t address : m_warp.block->acquired)
                if (wasReleased(launch, address, block, other, 0))
                    return;
        }
        report(other, block, otherWrote, inFlight, offset, bytes);
    }

    void report(const Access& other, uint32_t block, bool otherWrote, bool inFlight, uint64_t offset, unsigned bytes)
    {
        Launch& launch = *m_warp.block->launch;
        const unsigned line = launch.program.code[other.at()].line;
        Finding* const finding = launch.report.findings.add(inFlight ? Finding::Kind::AsyncCopy : Finding::Kind::Race,
                                                            m_instruction.line, line);
        if (!finding)
            return;
        std::string text = "PTX line " + std::to_string(m_instruction.line) + ": " + whoOf(m_warp, m_lane) + " "
                           + verbOf(m_touch) + " " + nameOfPlace(m_place, offset, bytes) + ", which ";
        std::string who = "thread " + std::to_string(other.thread()) + " of block " + nameOfBlock(launch, block);
        if (block == m_warp.block->number)
            who = other.thread() != m_thread ? nameOfThread(*m_warp.block, other.thread())
                  : other.several()          ? "other threads of its warp"
                                             : "it";
        text += who
                + (inFlight                      ? " fills with a cp.async"
                   : !otherWrote                 ? " read"
                   : other.strong() && !m_strong ? " wrote (atomic or volatile)"
                                                 : " wrote")
                + " at line " + std::to_string(line);
        text += inFlight                        ? " that was not waited for"
                : block == m_warp.block->number ? " without a barrier in between"
                                                : ", and nothing orders the two blocks";
        finding->text = text + ".";
    }

    Warp& m_warp;
    const Instruction& m_instruction;
    const Place& m_place;
    unsigned m_lane;
    Touch m_touch;
    unsigned m_thread;
    bool m_strong;
    Access m_now;
};

bool allInitialized(const uint8_t* flags, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; ++i)
        if (flags[i] == 0)
            return false;
    return true;
}

void splitShared(Block& block)
{
    std::vector<ShadowWord> bytes(block.shared.size());
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = block.sharedShadow[i / 4];
    block.sharedShadow = std::move(bytes);
    block.sharedPerByte = true;
}

void checkGlobal(Checker& checker, const Warp& warp, const Place& place, unsigned bytes)
{
    const uint64_t launch = warp.block->launch->number;
    for (uint64_t at = place.offset; at < place.offset + bytes;) {
        std::unique_ptr<ShadowPage>& page = place.allocation->shadow[at / ShadowPage::kBytes];
        if (!page)
            page = std::make_unique<ShadowPage>();
        if (page->launch != launch)
            page->beginLaunch(launch);
        const bool whole = at % 4 == 0 && place.offset + bytes - at >= 4;
        if (!whole && !page->perByte)
            page->split();
        const uint64_t within = at % ShadowPage::kBytes;
        if (page->perByte) {
            checker.global(page->words[within], at, 1);
            at += 1;
        } else {
            checker.global(page->words[within / 4], at, 4);
            at += 4;
        }
    }
}

} // namespace

Place placeOf(Warp& warp, const Instruction& instruction, unsigned lane, Space space, uint64_t address, unsigned bytes,
              Touch touch, unsigned alignment)
{
    Block& block = *warp.block;
    Launch& launch = *block.launch;
    if (space == Space::Generic) {
        space = Space::Global;
        for (const auto& [window, meant] :
             {std::pair(kSharedWindow, Space::Shared), std::pair(kLocalWindow, Space::Local),
              std::pair(kParamWindow, Space::Param)})
            if (address - window < kWindowSize) {
                space = meant;
                address -= window;
            }
    }
    if (alignment == 0)
        alignment = bytes;
    if (address % alignment != 0)
        fail(FaultKind::MisalignedAddress, warp, instruction, lane,
             std::string(verbOf(touch)) + " " + std::to_string(bytes) + " bytes at " + hexadecimal(address)
                 + ", which is no multiple of " + std::to_string(alignment));
    Place place;
    place.space = space;
    const auto inside = [&](uint64_t size) {
        if (address >= size || size - address < bytes)
            failOutside(warp, instruction, lane, space, address, bytes, touch, size);
        place.offset = address;
        place.room = size - address;
    };
    switch (space) {
    case Space::Shared:
        inside(block.shared.size());
        place.bytes = block.shared.data() + address;
        place.initialized = block.sharedInitialized.data() + address;
        return place;
    case Space::Local: {
        const size_t size = launch.request.kernel->localBytes;
        inside(size);
        const size_t at = size * warp.threadOf(lane) + address;
        place.bytes = block.local.data() + at;
        place.initialized = block.localInitialized.data() + at;
        return place;
    }
    case Space::Param:
        if (touch != Touch::Read)
            fail(FaultKind::IllegalAddress, warp, instruction, lane, "writes a parameter of the kernel");
        inside(launch.parameters.size());
        place.bytes = launch.parameters.data() + address;
        place.initialized = launch.parametersInitialized.data() + address;
        return place;
    default: break;
    }
    Allocation*& hit = launch.lastHit[launch.indexOf(instruction)];
    if (!hit || address - hit->base >= hit->size)
        hit = launch.memory.find(address);
    if (!hit || hit->size - (address - hit->base) < bytes)
        failOutside(warp, instruction, lane, space, address, bytes, touch, 0);
    if (hit->readOnly && touch != Touch::Read)
        fail(FaultKind::IllegalAddress, warp, instruction, lane, "writes constant memory");
    if (touch != Touch::Write)
        hit->readIn = launch.number;
    if (touch != Touch::Read)
        hit->writtenIn = launch.number;
    place.space = Space::Global;
    place.allocation = hit;
    place.offset = address - hit->base;
    place.room = hit->size - place.offset;
    place.bytes = hit->bytes.get() + place.offset;
    place.initialized = hit->initialized.get() + place.offset;
    return place;
}

void check(Warp& warp, const Instruction& instruction, unsigned lane, const Place& place, unsigned bytes, Touch touch)
{
    Block& block = *warp.block;
    if (!block.launch->request.checked) {
        if (touch != Touch::Read)
            std::memset(place.initialized, 1, bytes);
        return;
    }
    if (place.space == Space::Shared) {
        if ((bytes % 4 != 0 || place.offset % 4 != 0) && !block.sharedPerByte)
            splitShared(block);
        Checker checker(warp, instruction, lane, place, touch);
        const unsigned step = block.sharedPerByte ? 1 : 4;
        for (unsigned i = 0; i < bytes; i += step)
            checker.shared(block.sharedShadow[(place.offset + i) / step], place.offset + i, step);
    } else if (place.allocation && !place.allocation->readOnly) {
        Checker checker(warp, instruction, lane, place, touch);
        checkGlobal(checker, warp, place, bytes);
    }
    // What a copy in flight will bring is no uninitialized read: the race with the copy was told above.
    if (touch != Touch::Write && !allInitialized(place.initialized, bytes))
        if (Finding* const finding = block.launch->report.findings.add(Finding::Kind::UninitializedRead,
                                                                       instruction.line, 0))
            finding->text = "PTX line " + std::to_string(instruction.line) + ": " + whoOf(warp, lane) + " "
                            + verbOf(touch) + " " + nameOfPlace(place, place.offset, bytes) + ", which nobody wrote.";
    if (touch != Touch::Read)
        std::memset(place.initialized, 1, bytes);
}

void synchronize(Warp& warp, unsigned lane, uint64_t address, bool writes, bool reads)
{
    Block& block = *warp.block;
    Launch& launch = *block.launch;
    if (reads && launch.released.contains(address)
        && std::find(block.acquired.begin(), block.acquired.end(), address) == block.acquired.end())
        block.acquired.push_back(address);
    if (!writes || !block.fenced)
        return;
    ReleasedAt& at = launch.released[address];
    Released& mine = at.blocks[block.number];
    mine.ticks = warp.seen;
    mine.thread = warp.threadOf(lane);
    mine.threadTick = warp.tick;
    for (const uint64_t further : block.acquired)
        if (further != address && std::find(at.further.begin(), at.further.end(), further) == at.further.end())
            at.further.push_back(further);
}

} // namespace lathe::ptx
