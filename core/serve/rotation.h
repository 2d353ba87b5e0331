#pragma once

#include "core/serve/device.h"
#include "core/wire/artifact.h"

#include <span>
#include <vector>

namespace lathe::serve {

/// Launches of one kernel that take its constants from another place each time, as a network does whose other weights have
/// pushed these out of the caches. The values there are any: nothing of what they compute is looked at.
///
/// The memory is kept for the next trials, whose constants mostly have the same sizes.
class Rotation
{
public:
    /// At most so many copies: small constants need no more to be out of the caches nearest to a core.
    static constexpr std::size_t kMaxCopies = 64;
    /// And at least so many: a few runs of a kernel with large constants would else be with its own, which it has just read.
    static constexpr std::size_t kLeastCopies = 4;

    /// The launches to time in place of `launch`; only one, itself, where it has no constants of float type or these alone
    /// have `bytes`. Valid until the next call. Errors: those of allocation.
    Result<std::span<const LatheLaunch>> around(Device& device, const LatheLaunch& launch, std::span<const ArgSpec> parameters,
                                                std::uint64_t bytes);

    /// `count` of the launches that around() made, fewer than all: those that follow the ones before, also of an earlier trial. So a
    /// few at a time still go around all the copies; the same ones each time would soon be in the caches.
    std::span<const LatheLaunch> next(std::size_t count);

private:
    Result<DeviceBuffer*> place(Device& device, std::size_t bytes, std::size_t index);

    struct Copies
    {
        std::size_t bytes = 0;
        std::vector<DeviceBuffer> buffers;
    };
    std::vector<Copies> m_copies; ///< by size; those of the last trial last
    std::vector<std::vector<void*>> m_pointers;
    std::vector<LatheLaunch> m_launches;
    std::size_t m_next = 1;
};

} // namespace lathe::serve
