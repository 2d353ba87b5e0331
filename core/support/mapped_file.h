#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace lathe {

/// Read-only view of a file; empty files give an empty span.
class MappedFile
{
public:
    /// A file of at most `copied` bytes is read into memory: what happens to it afterwards is not seen. Larger ones are
    /// mapped. Where such a file is cut short while it is open, what is gone reads as zeros from then on, in every
    /// thread, and intact() and check() say so: who reads from a mapping asks behind its work. (The first mapping takes
    /// the signal SIGBUS for that; over addresses in no mapping it does what it did before.)
    ///
    /// Errors: NotFound, or BadFile if it is no regular file, unreadable or does not fit into memory.
    static Result<MappedFile> open(const std::filesystem::path& path, std::size_t copied = 0);
    MappedFile() = default;
    std::span<const std::byte> bytes() const;

    /// Whether the file still is what was opened. Errors: BadFile (cut short, or written to; a file that was replaced
    /// by another of its name is still there). Any thread.
    Result<> intact() const;
    /// The same for the mapping that an address lies in; where it lies in none there is nothing to fear.
    static Result<> check(const void* address);

private:
    struct Mapping;
    std::shared_ptr<const Mapping> m_mapping;
};

} // namespace lathe
