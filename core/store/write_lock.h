#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace lathe::store {

/// Who holds a lock: the program's file name, its process and the machine. A version that wrote no name into its lock
/// has an empty one and process 0.
struct LockHolder
{
    std::string program;
    std::int64_t pid = 0;
    std::string host;
    std::int64_t sinceMs = 0; ///< UNIX
    friend bool operator==(const LockHolder&, const LockHolder&) = default;
};

/// One writer per project: an flock on a file beside it, gone when its holder ends, however it ends. The file says who
/// that is: {"host": "...", "pid": 1, "program": "..."}.
/// (Not on the database itself: closing a second descriptor of it would drop SQLite's own locks.)
class WriteLock
{
public:
    WriteLock() = default;
    WriteLock(WriteLock&& other) noexcept;
    WriteLock& operator=(WriteLock&& other) noexcept;
    ~WriteLock();

    /// Held or not: `held()` tells. Errors: StoreFailed if the lock file cannot be made.
    static Result<WriteLock> tryAcquire(const std::filesystem::path& file);
    bool held() const { return m_fd >= 0; }
    /// Who holds the lock on `file` now, though not in this process; nothing: nobody does, whatever a killed one left
    /// there. Takes no lock, so that it is in nobody's way.
    static std::optional<LockHolder> holder(const std::filesystem::path& file);

private:
    void release();
    int m_fd = -1;
    std::filesystem::path m_file;
};

} // namespace lathe::store
