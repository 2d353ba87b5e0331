#include "core/support/open_file.h"

#include "core/support/message.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace lathe {

Result<RegularFile> openRegularFile(const std::filesystem::path& path)
{
    // A pipe or a device must not make us wait.
    OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) {
        const int code = errno;
        return makeError(code == ENOENT || code == ENOTDIR ? Errc::NotFound : Errc::BadFile,
                         say(Msg::FileNotOpened, path.string(), std::strerror(code)));
    }
    struct stat info = {};
    if (::fstat(file.get(), &info) != 0)
        return makeError(Errc::BadFile, say(Msg::FileUnreadable, path.string(), std::strerror(errno)));
    if (!S_ISREG(info.st_mode))
        return makeError(Errc::BadFile, say(Msg::FileNotRegular, path.string()));
    return RegularFile{std::move(file), static_cast<std::uint64_t>(info.st_size)};
}

} // namespace lathe
