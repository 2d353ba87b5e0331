#include "core/store/write_lock.h"

#include "core/support/message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lathe::store {

WriteLock::WriteLock(WriteLock&& other) noexcept
    : m_fd(std::exchange(other.m_fd, -1))
    , m_file(std::move(other.m_file))
{
}

WriteLock& WriteLock::operator=(WriteLock&& other) noexcept
{
    if (this != &other) {
        release();
        m_fd = std::exchange(other.m_fd, -1);
        m_file = std::move(other.m_file);
    }
    return *this;
}

WriteLock::~WriteLock()
{
    release();
}

Result<WriteLock> WriteLock::tryAcquire(const std::filesystem::path& file)
{
    WriteLock lock;
    lock.m_file = file;
    // A holder unlinks its file before it lets go, so the file that was locked may be gone from the folder: then try
    // again.
    for (int attempt = 0; attempt < 100; ++attempt) {
        const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
            return makeError(Errc::StoreFailed, say(Msg::MakingFailed, file.string(), std::strerror(errno)));
        if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
            ::close(fd);
            return lock;
        }
        struct stat ours
        {
        };
        struct stat there
        {
        };
        if (::fstat(fd, &ours) == 0 && ::stat(file.c_str(), &there) == 0 && ours.st_ino == there.st_ino
            && ours.st_dev == there.st_dev) {
            lock.m_fd = fd;
            return lock;
        }
        ::close(fd);
    }
    return lock;
}

void WriteLock::release()
{
    if (m_fd < 0)
        return;
    ::unlink(m_file.c_str());
    ::close(m_fd);
    m_fd = -1;
}

} // namespace lathe::store
