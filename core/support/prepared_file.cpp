#include "core/support/prepared_file.h"

#include "core/support/message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace lathe {

namespace {

Errc writeErrc(int code)
{
    switch (code) {
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case EISDIR:
    case EROFS: return Errc::InvalidArgument;
    default: return Errc::StoreFailed;
    }
}

Error failed(const fs::path& path, const char* doing, int code)
{
    return makeError(writeErrc(code), say(Msg::CannotDo, phrase(doing), path.string(), std::strerror(code)));
}

fs::path folderOf(const fs::path& path)
{
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// What names of files on their way to `path` begin with; a process's number and something random come behind it.
std::string startOf(const fs::path& path)
{
    return fmt::format(".{}.", path.filename().string());
}

std::string placeBeside(const fs::path& path, std::string_view random)
{
    return (folderOf(path) / fmt::format("{}{}.{}", startOf(path), ::getpid(), random)).string();
}

/// Gives a file without a name one beside `path`, which is put into `name`. Zero, or errno.
int nameBeside(int fd, const fs::path& path, std::string& name)
{
    std::random_device random;
    for (int attempt = 0; attempt < 100; ++attempt) {
        name = placeBeside(path, fmt::format("{:06x}", random() & 0xffffffu));
        if (::linkat(AT_FDCWD, fmt::format("/proc/self/fd/{}", fd).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW)
            == 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    name.clear();
    return errno;
}

} // namespace

PreparedFile::PreparedFile(fs::path path, std::string temporary, OpenFile file)
    : m_path(std::move(path))
    , m_temporary(std::move(temporary))
    , m_file(std::move(file))
{
}

PreparedFile::~PreparedFile()
{
    if (!m_temporary.empty())
        ::unlink(m_temporary.c_str());
}

PreparedFile::PreparedFile(PreparedFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_temporary(std::exchange(other.m_temporary, {}))
    , m_file(std::move(other.m_file))
{
}

PreparedFile& PreparedFile::operator=(PreparedFile&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_temporary, other.m_temporary);
    std::swap(m_file, other.m_file);
    return *this;
}

Result<PreparedFile> PreparedFile::write(fs::path path, std::span<const std::byte> bytes)
{
    return write(std::move(path), bytes, {});
}

Result<> PreparedFile::append(std::span<const std::byte> bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::write(m_file.get(), bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(m_path, "write", errno);
        done += static_cast<std::size_t>(n);
    }
    return {};
}

Result<PreparedFile> PreparedFile::write(fs::path path, std::span<const std::byte> beginning,
                                         std::span<const std::byte> rest)
{
    // Without a name until all of it is on the disk, where the file system can do that: a program that is killed
    // meanwhile leaves nothing behind.
    std::string temporary;
    removeLeftByKilled(folderOf(path), startOf(path));
    OpenFile file(::open(folderOf(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
    if (file.get() < 0) {
        temporary = placeBeside(path, "XXXXXX");
        file = OpenFile(::mkostemp(temporary.data(), O_CLOEXEC));
        if (file.get() < 0)
            return failed(path, "create a file beside", errno);
        // mkstemp makes the file private; the result gets the mode that open() would have given.
        const mode_t mask = ::umask(0);
        ::umask(mask);
        ::fchmod(file.get(), 0666 & ~mask);
    }
    PreparedFile prepared(std::move(path), std::move(temporary), std::move(file));
    LATHE_TRY(prepared.append(beginning));
    LATHE_TRY(prepared.append(rest));
    if (::fsync(prepared.m_file.get()) != 0)
        return failed(prepared.m_path, "sync", errno);
    return prepared;
}

Result<> PreparedFile::giveName()
{
    if (m_temporary.empty()) {
        if (const int code = nameBeside(m_file.get(), m_path, m_temporary); code != 0)
            return failed(m_path, "create a file beside", code);
    }
    return {};
}

Result<> PreparedFile::put()
{
    LATHE_TRY(giveName());
    if (::close(m_file.release()) != 0)
        return failed(m_path, "close", errno);
    LATHE_TRY(replaceFile(m_temporary, m_path));
    m_temporary.clear();
    return {};
}

Result<> PreparedFile::putAll(std::span<PreparedFile> files)
{
    for (PreparedFile& file : files)
        LATHE_TRY(file.giveName());
    for (PreparedFile& file : files)
        LATHE_TRY(file.put());
    return {};
}

void removeLeftByKilled(const fs::path& folder, std::string_view start)
{
    std::error_code ignored;
    std::vector<fs::path> gone;
    for (fs::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
        const std::string file = entry->path().filename().string();
        if (!file.starts_with(start))
            continue;
        char* rest = nullptr;
        const long process = std::strtol(file.c_str() + start.size(), &rest, 10);
        if (process > 0 && *rest == '.' && ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH)
            gone.push_back(entry->path());
    }
    for (const fs::path& file : gone)
        fs::remove(file, ignored);
}

Result<> syncFile(const fs::path& file)
{
    const OpenFile opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (opened.get() < 0 || ::fsync(opened.get()) != 0)
        return failed(file, "sync", errno);
    return {};
}

Result<> replaceFile(const fs::path& from, const fs::path& path)
{
    if (::rename(from.c_str(), path.c_str()) != 0)
        return failed(path, "replace", errno);
    const OpenFile parent(::open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() >= 0)
        ::fsync(parent.get()); // the rename itself; some file systems refuse this, and then it is not needed
    return {};
}

} // namespace lathe
