#include "core/store/write_lock.h"

#include "core/support/files.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/support/this_machine.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace lathe::store {

namespace {

using nlohmann::json;

/// An flock cannot be asked for without being taken; a lock on the file's range, held beside it, can.
struct flock wholeFile()
{
    struct flock range = {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    return range;
}

/// Says in the file who holds it. Where that fails, the lock holds all the same.
void sign(int fd)
{
    const json who = {{"program", executablePath().filename().string()}, {"pid", ::getpid()}, {"host", hostName()}};
    const std::string text = who.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    [[maybe_unused]] const bool said = ::ftruncate(fd, 0) == 0
                                       && ::pwrite(fd, text.data(), text.size(), 0) == std::ssize(text);
    struct flock range = wholeFile();
    (void)::fcntl(fd, F_OFD_SETLK, &range);
}

} // namespace

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
            sign(fd);
            return lock;
        }
        ::close(fd);
    }
    return lock;
}

std::optional<LockHolder> WriteLock::holder(const std::filesystem::path& file)
{
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    struct flock range = wholeFile();
    const bool held = ::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
    std::array<char, 1024> text{};
    const ssize_t size = held ? ::pread(fd, text.data(), text.size(), 0) : 0;
    struct stat facts = {};
    const bool dated = held && ::fstat(fd, &facts) == 0;
    ::close(fd);
    if (!held)
        return std::nullopt;
    const json who = json::parse(text.data(), text.data() + std::max<ssize_t>(size, 0), nullptr, false);
    const std::int64_t since = dated ? facts.st_mtim.tv_sec * 1000 + facts.st_mtim.tv_nsec / 1'000'000 : 0;
    return LockHolder{textIn(who, "program"), std::max<std::int64_t>(0, wholeIn(who, "pid")), textIn(who, "host"),
                      since};
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
