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
    /// mapped, and must not be cut short while they are open: reading what is gone raises SIGBUS (sayWhichWasCutShort).
    ///
    /// Errors: NotFound, or BadFile if it is no regular file, unreadable or does not fit into memory.
    static Result<MappedFile> open(const std::filesystem::path& path, std::size_t copied = 0);
    MappedFile() = default;
    std::span<const std::byte> bytes() const;

    /// From now on SIGBUS over a file that was cut short ends the program with a sentence that names it and exit code
    /// 1; anywhere else it ends the program as before. `program` must stay valid.
    static void sayWhichWasCutShort(const char* program);

private:
    struct Mapping;
    std::shared_ptr<const Mapping> m_mapping;
};

} // namespace lathe
