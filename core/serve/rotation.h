#pragma once

#include "core/serve/device.h"
#include "core/support/hash.h"
#include "core/wire/artifact.h"

#include <span>
#include <vector>

namespace lathe::serve {

/// Launches of one kernel that take its constants from another place each time, as a network does whose other weights
/// have pushed these out of the caches. Nothing of what they compute is looked at, so floats have any values there; all
/// others may be indices, which decide what is read, and have the job's own.
///
/// The memory is kept for the next trials, whose constants mostly have the same sizes.
class Rotation
{
public:
    /// A parameter of the kernel, and the job's memory for it.
    struct Parameter
    {
        ArgSpec spec;
        const DeviceBuffer* own = nullptr;
    };

    /// At most so many copies: small constants need no more to be out of the caches nearest to a core.
    static constexpr std::size_t kMaxCopies = 64;
    /// And at least so many: a few runs of a kernel with large constants would else be with its own, which it has just
    /// read.
    static constexpr std::size_t kLeastCopies = 4;

    /// The launches to time in place of `launch`: only `launch` itself if it has no constants, or if these are at least
    /// `bytes` large by themselves. `parameters` are the kernel's, in its order. Valid until the next call. Errors:
    /// those of the device.
    Result<std::span<const LatheLaunch>> around(Device& device, const LatheLaunch& launch,
                                                std::span<const Parameter> parameters, std::uint64_t bytes);

    /// `count` of the launches that around() made, fewer than all of them, beginning after those of the previous call,
    /// even if that was for an earlier trial. So a few at a time still go through all the copies; the same few each
    /// time would soon be in the caches.
    std::span<const LatheLaunch> next(std::size_t count);

private:
    /// What a constant's copies hold, by a hash, and the bytes themselves once they were needed.
    struct Contents
    {
        Hash128 hash;
        std::vector<std::byte> bytes; ///< empty for floats until a copy is filled
    };
    static Result<Contents> contentsOf(Device& device, const Parameter& parameter);
    Result<DeviceBuffer*> place(Device& device, const ArgSpec& spec, Contents& contents, std::size_t index);

    struct Copy
    {
        DeviceBuffer buffer;
        Hash128 holds;
    };
    struct Copies
    {
        std::size_t bytes = 0;
        std::vector<Copy> buffers;
    };
    std::vector<Copies> m_copies; ///< by size; those of the last trial last
    std::vector<std::vector<void*>> m_pointers;
    std::vector<LatheLaunch> m_launches;
    std::size_t m_next = 1;
};

} // namespace lathe::serve
