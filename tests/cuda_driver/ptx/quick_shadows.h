#pragma once

#include "tests/cuda_driver/ptx/pattern.h"

#include <cstddef>
#include <cstdint>

namespace lathe::ptx {

// Checks of words that lie side by side (quick.h tells what shadows hold). All write down the access and answer whether
// there is a doubt. `who`: Pattern::who of these words; `me`: the epoch and the first thread of the warp, to which a
// lane is added. Compiled for several generations of processors.

struct SharedEpoch
{
    uint32_t begin; // the epoch, shifted
    uint32_t me;
};

bool doubtSharedRead(const uint32_t* writes, uint32_t* reads, const uint32_t* who, size_t words, SharedEpoch now);
bool doubtSharedWrite(uint32_t* writes, const uint32_t* reads, const uint32_t* who, size_t words, SharedEpoch now);

struct GlobalEpoch
{
    uint64_t launch, block, begin; // epochs, shifted: those at which the launch and the block began, and this one
    uint64_t me;
};

bool doubtGlobalRead(const uint64_t* writes, uint64_t* reads, const uint32_t* who, size_t words,
                     const GlobalEpoch& now);
bool doubtGlobalWrite(uint64_t* writes, const uint64_t* reads, const uint32_t* who, size_t words,
                      const GlobalEpoch& now);

/// Whether the lanes of the pattern are where it says, of these addresses without what is added to all of them.
bool isPattern(const uint64_t* addresses, uint64_t first, const Pattern& pattern);
bool isPattern(const uint32_t* addresses, uint32_t first, const Pattern& pattern);

/// Whether one of these bytes is 0; they are 0 or 1.
bool anyZero(const uint8_t* flags, size_t count);

} // namespace lathe::ptx
