#pragma once

#include "core/support/result.h"

#include <filesystem>

namespace lathe::store {

/// One writer per project: an flock on a file beside it, gone when its holder ends, however it ends.
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

private:
    void release();
    int m_fd = -1;
    std::filesystem::path m_file;
};

} // namespace lathe::store
