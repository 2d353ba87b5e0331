#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace lathe::ptx {

/// An access that a race is told from: who, when, where. The tick is the clock of the warp at that time (block.h).
struct Access
{
    uint32_t tickAndThread = 0; // tick << 10 | thread of the block; tick 0: none
    uint32_t instruction = 0; // index, and two flags

    static constexpr uint32_t kMostTicks = (1u << 22) - 2;
    static constexpr uint32_t kInFlight = (1u << 22) - 1; // the tick of a copy that nobody waited for yet
    static constexpr uint32_t kStrong = 1u << 31; // atomic, volatile
    static constexpr uint32_t kSeveral = 1u << 30; // a read that other lanes of the warp did at the same tick

    static Access make(uint32_t tick, uint32_t thread, uint32_t instruction)
    {
        return {tick << 10 | thread, instruction};
    }
    uint32_t tick() const { return tickAndThread >> 10; }
    uint32_t thread() const { return tickAndThread & 1023; }
    uint32_t warp() const { return tickAndThread >> 5 & 31; }
    uint32_t at() const { return instruction & ~(kStrong | kSeveral); }
    bool strong() const { return (instruction & kStrong) != 0; }
    bool several() const { return (instruction & kSeveral) != 0; }
};

/// The last write of a word or byte, its last read, and the last read by another warp than that.
struct ShadowWord
{
    Access write, read, otherRead;

    void noteRead(const Access& now)
    {
        const uint32_t difference = read.tickAndThread ^ now.tickAndThread;
        if (difference < 32) { // the same warp at the same tick
            read.instruction |= difference != 0 ? Access::kSeveral : 0;
            return;
        }
        if ((difference >> 5 & 31) != 0)
            otherRead = read;
        read = now;
    }
};

/// The reads are those of one block; of the blocks before it that read the word there is the last read.
struct GlobalShadowWord
{
    ShadowWord word;
    Access earlierRead;
    uint32_t writeBlock = 0, readBlock = 0, earlierReadBlock = 0;
};

/// The shadow of 4096 bytes of global memory: a word for four bytes each, or for each byte once something smaller than
/// four bytes was accessed there. Stale from one launch to the next.
struct ShadowPage
{
    static constexpr uint64_t kBytes = 4096;
    uint64_t launch = 0;
    bool perByte = false;
    std::vector<GlobalShadowWord> words;

    void beginLaunch(uint64_t number);
    void split();
};

struct FreeMemory
{
    void operator()(void* memory) const { std::free(memory); }
};
/// Zeros that take room only once they are touched.
using ZeroedBytes = std::unique_ptr<uint8_t[], FreeMemory>;
using ZeroedWords = std::unique_ptr<uint64_t[], FreeMemory>;

/// A piece of global memory, with what is known about each byte.
struct Allocation
{
    uint64_t base = 0, size = 0;
    bool readOnly = false; // .const
    ZeroedBytes bytes; // the contents
    ZeroedBytes initialized; // 1 or 0, for each byte
    uint64_t version = 0; // a new one with each write, by a launch or from outside
    uint64_t readIn = 0, writtenIn = 0; // the last launches that did so
    std::vector<std::unique_ptr<ShadowPage>> shadow;
    // Of launches that are run the quick way (quick.h): the last write and read of each word, and the launch that saved
    // a page last. Null and empty until something is written.
    ZeroedWords quickWrites, quickReads;
    std::vector<uint64_t> savedAt;
};

/// The memory of a device. Addresses are those of no host memory: an access through them outside a device ends the
/// program.
class DeviceMemory
{
public:
    explicit DeviceMemory(uint64_t capacity)
        : m_capacity(capacity)
    {
    }

    /// Null where there is no room. Aligned to 512 bytes, with a gap behind it, so that what runs over an end hits
    /// nothing.
    Allocation* allocate(uint64_t size);
    /// False if no allocation begins there.
    bool release(uint64_t base);
    /// The allocation that holds this address; null if none does.
    Allocation* find(uint64_t address);
    /// The one that ends nearest below the address, for messages; null if there is none.
    const Allocation* below(uint64_t address) const;
    /// Whether something was released there, and nothing new has this place.
    bool wasReleased(uint64_t address) const;

    uint64_t capacity() const { return m_capacity; }
    uint64_t used() const { return m_used; }
    std::map<uint64_t, Allocation>& all() { return m_all; }

    /// Of a write: a version that no allocation had before.
    void touch(Allocation& allocation) { allocation.version = ++m_versions; }

    uint64_t quickEpoch = 0; ///< the last one of the launches so far (quick.h)

private:
    uint64_t m_capacity, m_used = 0;
    uint64_t m_versions = 0;
    uint64_t m_next = uint64_t(0x7f) << 32;
    std::map<uint64_t, Allocation> m_all;
    std::map<uint64_t, uint64_t> m_released; // base to size
};

} // namespace lathe::ptx
