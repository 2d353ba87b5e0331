#include "core/broker/private_file.h"

#include "core/support/message.h"
#include "core/support/open_file.h"
#include "core/support/prepared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace fs = std::filesystem;

namespace lathe::broker {

namespace {

Error notWritten(const fs::path& path, int code)
{
    const bool full = code == ENOSPC || code == EDQUOT || code == EIO || code == EFBIG;
    return makeError(full ? Errc::StoreFailed : Errc::InvalidArgument,
                     say(Msg::FileNotWrittenWhy, path.string(), std::strerror(code)));
}

/// The text in a file beside `path`, which goes with this object.
class FileBeside
{
public:
    static Result<FileBeside> write(const fs::path& path, std::string_view text)
    {
        const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
        const std::string start = fmt::format(".{}.", path.filename().string());
        removeLeftByKilled(folder, start);
        std::string name = (folder / fmt::format("{}{}.XXXXXX", start, ::getpid())).string();
        const OpenFile file(::mkostemp(name.data(), O_CLOEXEC)); // which makes it with the mode 0600
        if (file.get() < 0)
            return notWritten(path, errno);
        FileBeside beside(std::move(name));
        while (!text.empty()) {
            const ssize_t n = ::write(file.get(), text.data(), text.size());
            if (n < 0 && errno != EINTR)
                return notWritten(path, errno);
            text.remove_prefix(n < 0 ? 0 : static_cast<std::size_t>(n));
        }
        if (::fsync(file.get()) != 0)
            return notWritten(path, errno);
        return beside;
    }
    ~FileBeside()
    {
        if (!m_name.empty())
            ::unlink(m_name.c_str());
    }
    FileBeside(FileBeside&& other) noexcept
        : m_name(std::exchange(other.m_name, {}))
    {
    }
    FileBeside& operator=(FileBeside&&) = delete;

    const std::string& name() const { return m_name; }

private:
    explicit FileBeside(std::string name)
        : m_name(std::move(name))
    {
    }
    std::string m_name;
};

} // namespace

Result<> writePrivateFile(const fs::path& path, std::string_view text)
{
    LATHE_TRY_ASSIGN(const FileBeside beside, FileBeside::write(path, text));
    return replaceFile(beside.name(), path);
}

Result<> writeNewPrivateFile(const fs::path& path, std::string_view text)
{
    LATHE_TRY_ASSIGN(const FileBeside beside, FileBeside::write(path, text));
    if (::renameat2(AT_FDCWD, beside.name().c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0)
        return {};
    // Some file systems (NFS) cannot rename so, and have links instead.
    if (errno == EINVAL && ::link(beside.name().c_str(), path.c_str()) == 0)
        return {};
    return notWritten(path, errno);
}

} // namespace lathe::broker
