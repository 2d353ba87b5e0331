#include "tests/cuda_driver/ptx/quick_shadows.h"

#include "tests/cuda_driver/ptx/processor.h"
#include "tests/cuda_driver/ptx/quick.h"

#include <cstring>
#include <type_traits>

namespace lathe::ptx {

namespace {

constexpr uint32_t kFirstShared = 1u << Quick::kSharedShift;

// Each as a class with one function, so that it can be compiled for several processors (processor.h).

struct SharedRead
{
    LATHE_PTX_INLINE static bool run(const uint32_t* writes, uint32_t* reads, const uint32_t* who, size_t words,
                                     SharedEpoch now)
    {
        uint32_t bad = 0;
        LATHE_PTX_LANES
        for (size_t i = 0; i < words; ++i) {
            const uint32_t me = now.me + who[i], write = writes[i], read = reads[i];
            bad |= static_cast<uint32_t>(write < kFirstShared) // nobody wrote it
                   | (static_cast<uint32_t>(write >= now.begin) & static_cast<uint32_t>(write != me));
            const bool byOthers = (read >= now.begin) & (read != me);
            reads[i] = byOthers ? now.begin | Quick::kSeveral : me;
        }
        return bad != 0;
    }
};

struct SharedWrite
{
    LATHE_PTX_INLINE static bool run(uint32_t* writes, const uint32_t* reads, const uint32_t* who, size_t words,
                                     SharedEpoch now)
    {
        uint32_t bad = 0;
        LATHE_PTX_LANES
        for (size_t i = 0; i < words; ++i) {
            const uint32_t me = now.me + who[i], write = writes[i], read = reads[i];
            bad |= (static_cast<uint32_t>(write >= now.begin) & static_cast<uint32_t>(write != me))
                   | (static_cast<uint32_t>(read >= now.begin) & static_cast<uint32_t>(read != me));
            writes[i] = me;
        }
        return bad != 0;
    }
};

/// What was done at this time is another's: of an earlier block, or of another thread since the last barrier.
LATHE_PTX_INLINE uint64_t isOthers(uint64_t what, uint64_t me, const GlobalEpoch& now)
{
    const uint64_t ofLaunch = what >= now.launch, ofBlock = what >= now.block, ofEpoch = what >= now.begin;
    // Where several lanes touched a word their bytes may be the same ones, or not.
    const uint64_t another = static_cast<uint64_t>(what != me) | static_cast<uint64_t>((me & Quick::kSeveral) != 0);
    return (ofLaunch & (ofBlock ^ 1)) | (ofEpoch & another);
}

struct GlobalRead
{
    LATHE_PTX_INLINE static bool run(const uint64_t* writes, uint64_t* reads, const uint32_t* who, size_t words,
                                     const GlobalEpoch& now)
    {
        uint64_t bad = 0;
        LATHE_PTX_LANES
        for (size_t i = 0; i < words; ++i) {
            const uint64_t me = now.me + who[i], read = reads[i], plain = read & ~uint64_t(Quick::kOtherBlock);
            bad |= isOthers(writes[i], me, now);
            uint64_t made = (plain >= now.begin) & (plain != me) ? now.begin | Quick::kSeveral : me;
            const bool other = (read >= now.launch) & ((read < now.block) | ((read & Quick::kOtherBlock) != 0));
            reads[i] = made | (other ? Quick::kOtherBlock : 0);
        }
        return bad != 0;
    }
};

struct GlobalWrite
{
    LATHE_PTX_INLINE static bool run(uint64_t* writes, const uint64_t* reads, const uint32_t* who, size_t words,
                                     const GlobalEpoch& now)
    {
        uint64_t bad = 0;
        LATHE_PTX_LANES
        for (size_t i = 0; i < words; ++i) {
            const uint64_t me = now.me + who[i], read = reads[i];
            bad |= isOthers(writes[i], me, now) | isOthers(read & ~uint64_t(Quick::kOtherBlock), me, now)
                   | (static_cast<uint64_t>(read >= now.launch)
                      & static_cast<uint64_t>((read & Quick::kOtherBlock) != 0));
            writes[i] = me;
        }
        return bad != 0;
    }
};

struct GlobalWriteUntraced
{
    LATHE_PTX_INLINE static bool run(uint64_t* writes, const uint32_t* who, size_t words, const GlobalEpoch& now)
    {
        uint64_t bad = 0;
        LATHE_PTX_LANES
        for (size_t i = 0; i < words; ++i) {
            const uint64_t me = now.me + who[i];
            bad |= isOthers(writes[i], me, now);
            writes[i] = me;
        }
        return bad != 0;
    }
};

template<typename T>
struct Compare
{
    LATHE_PTX_INLINE static bool run(const T* addresses, T first, const int32_t* offsets, const uint32_t* active)
    {
        T differ = 0;
        LATHE_PTX_LANES
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const T offset = static_cast<T>(static_cast<std::make_signed_t<T>>(offsets[lane]));
            const T mask = static_cast<T>(static_cast<std::make_signed_t<T>>(static_cast<int32_t>(active[lane])));
            differ |= ((addresses[lane] - first) ^ offset) & mask;
        }
        return differ == 0;
    }
};

} // namespace

bool isPattern(const uint64_t* addresses, uint64_t first, const Pattern& pattern)
{
    static const auto run =
        forThisProcessor<Compare<uint64_t>, bool, const uint64_t*, uint64_t, const int32_t*, const uint32_t*>();
    return run(addresses, first, pattern.offsets.data(), pattern.active.data());
}

bool isPattern(const uint32_t* addresses, uint32_t first, const Pattern& pattern)
{
    static const auto run =
        forThisProcessor<Compare<uint32_t>, bool, const uint32_t*, uint32_t, const int32_t*, const uint32_t*>();
    return run(addresses, first, pattern.offsets.data(), pattern.active.data());
}

bool doubtSharedRead(const uint32_t* writes, uint32_t* reads, const uint32_t* who, size_t words, SharedEpoch now)
{
    static const auto run =
        forThisProcessor<SharedRead, bool, const uint32_t*, uint32_t*, const uint32_t*, size_t, SharedEpoch>();
    return run(writes, reads, who, words, now);
}

bool doubtSharedWrite(uint32_t* writes, const uint32_t* reads, const uint32_t* who, size_t words, SharedEpoch now)
{
    static const auto run =
        forThisProcessor<SharedWrite, bool, uint32_t*, const uint32_t*, const uint32_t*, size_t, SharedEpoch>();
    return run(writes, reads, who, words, now);
}

bool doubtGlobalRead(const uint64_t* writes, uint64_t* reads, const uint32_t* who, size_t words, const GlobalEpoch& now)
{
    static const auto run =
        forThisProcessor<GlobalRead, bool, const uint64_t*, uint64_t*, const uint32_t*, size_t, const GlobalEpoch&>();
    return run(writes, reads, who, words, now);
}

bool doubtGlobalWrite(uint64_t* writes, const uint64_t* reads, const uint32_t* who, size_t words,
                      const GlobalEpoch& now)
{
    static const auto traced =
        forThisProcessor<GlobalWrite, bool, uint64_t*, const uint64_t*, const uint32_t*, size_t, const GlobalEpoch&>();
    static const auto untraced =
        forThisProcessor<GlobalWriteUntraced, bool, uint64_t*, const uint32_t*, size_t, const GlobalEpoch&>();
    return reads != nullptr ? traced(writes, reads, who, words, now) : untraced(writes, who, words, now);
}

bool anyZero(const uint8_t* flags, size_t count)
{
    // Each flag is 0 or 1.
    constexpr uint64_t kAll = 0x0101010101010101;
    uint64_t all = kAll;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t eight = 0;
        std::memcpy(&eight, flags + i, 8);
        all &= eight;
    }
    for (; i < count; ++i)
        all &= flags[i] != 0 ? kAll : 0;
    return all != kAll;
}

} // namespace lathe::ptx
