#pragma once

#include "core/support/result.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <utility>

namespace lathe {

/// A file descriptor, closed on scope exit.
class OpenFile
{
public:
    explicit OpenFile(int fd)
        : m_fd(fd)
    {
    }
    ~OpenFile()
    {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    OpenFile(OpenFile&& other) noexcept
        : m_fd(other.release())
    {
    }
    OpenFile& operator=(OpenFile&& other) noexcept
    {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    int get() const { return m_fd; }
    int release() { return std::exchange(m_fd, -1); }

private:
    int m_fd;
};

struct RegularFile
{
    OpenFile file;
    std::uint64_t bytes = 0;
};

/// Opens for reading. Errors: NotFound, or BadFile if it is no regular file or unreadable.
Result<RegularFile> openRegularFile(const std::filesystem::path& path);

} // namespace lathe
