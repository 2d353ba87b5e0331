#include "core/support/files.h"

#include "core/support/message.h"
#include "core/support/open_file.h"
#include "core/support/prepared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fs = std::filesystem;

namespace lathe {

namespace {

/// The folder's descriptor with an flock on it; -1 if another holds one or the folder is gone.
int lockFolder(const fs::path& folder)
{
    OpenFile opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat ours = {}, there = {};
    if (opened.get() < 0 || ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(opened.get(), &ours) != 0
        || ::lstat(folder.c_str(), &there) != 0 || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev)
        return -1;
    return opened.release();
}

/// Removes temporary folders that no living program holds.
void removeAbandoned(const fs::path& base, std::string_view prefix)
{
    constexpr std::size_t kRandom = 6; // of mkdtemp
    const std::string start = fmt::format("{}.", prefix);
    std::error_code ignored;
    for (fs::directory_iterator entry(base, ignored), end; entry != end; entry.increment(ignored)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(start) || name.size() != start.size() + kRandom)
            continue;
        struct stat info = {};
        if (::lstat(entry->path().c_str(), &info) != 0 || info.st_uid != ::geteuid())
            continue;
        if (const OpenFile held(lockFolder(entry->path())); held.get() >= 0)
            fs::remove_all(entry->path(), ignored);
    }
}

} // namespace

std::vector<fs::path> filesEndingWith(const fs::path& folder, std::string_view ending)
{
    std::vector<fs::path> files;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code))
        if (entry->path().filename().string().ends_with(ending))
            files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<fs::path> pathFolders()
{
    std::vector<fs::path> folders;
    const char* const set = std::getenv("PATH");
    std::string_view path = set != nullptr ? set : "";
    while (!path.empty()) {
        const std::size_t end = std::min(path.find(':'), path.size());
        if (path.front() == '/')
            folders.emplace_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return folders;
}

fs::path userDataFolder()
{
    const auto rooted = [](const char* variable) {
        const char* const set = std::getenv(variable);
        return set != nullptr && set[0] == '/' ? fs::path(set) : fs::path();
    };
    if (const fs::path data = rooted("XDG_DATA_HOME"); !data.empty())
        return data / "lathe";
    const fs::path home = rooted("HOME");
    return home.empty() ? home : home / ".local/share/lathe";
}

Result<std::string> readFile(const fs::path& path, std::uint64_t maxBytes)
{
    LATHE_TRY_ASSIGN(const RegularFile opened, openRegularFile(path));
    const auto& [file, size] = opened;
    if (size > maxBytes)
        return makeError(Errc::BadFile, say(Msg::FileTooLarge, path.string(), size, maxBytes));
    std::string text(size, '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t n = ::read(file.get(), text.data() + got, text.size() - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return makeError(Errc::BadFile, say(Msg::FileUnreadable, path.string(), std::strerror(errno)));
        if (n == 0)
            break; // it became shorter meanwhile
        got += static_cast<std::size_t>(n);
    }
    text.resize(got);
    return text;
}

Result<> writeFileAtomically(const fs::path& path, std::span<const std::byte> bytes)
{
    LATHE_TRY_ASSIGN(PreparedFile prepared, PreparedFile::write(path, bytes));
    return prepared.put();
}

Result<> writeFileAtomically(const fs::path& path, std::string_view text)
{
    return writeFileAtomically(path, std::as_bytes(std::span(text)));
}

Result<TempDir> TempDir::create(std::string_view prefix)
{
    std::error_code code;
    const fs::path base = fs::temp_directory_path(code);
    if (code)
        return makeError(Errc::StoreFailed, say(Msg::NoTemporaryFolder, code.message()));
    removeAbandoned(base, prefix);
    // Another program may take a folder for abandoned between its making and its locking: then there is a next one.
    for (int attempt = 0; attempt < 100; ++attempt) {
        std::string name = (base / fmt::format("{}.XXXXXX", prefix)).string();
        if (!::mkdtemp(name.data()))
            return makeError(Errc::StoreFailed, say(Msg::FolderNotCreated, base.string(), std::strerror(errno)));
        if (const int lock = lockFolder(name); lock >= 0)
            return TempDir(name, lock);
    }
    return makeError(Errc::StoreFailed, say(Msg::FolderNotKept, base.string()));
}

TempDir::~TempDir()
{
    std::error_code ignored;
    if (!m_path.empty())
        fs::remove_all(m_path, ignored);
    if (m_lock >= 0)
        ::close(m_lock);
}

TempDir::TempDir(TempDir&& other) noexcept
    : m_path(std::exchange(other.m_path, {}))
    , m_lock(std::exchange(other.m_lock, -1))
{
}

TempDir& TempDir::operator=(TempDir&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_lock, other.m_lock);
    return *this;
}

fs::path executablePath()
{
    std::error_code code;
    fs::path path = fs::read_symlink("/proc/self/exe", code);
    return code ? fs::path() : path;
}

fs::path installPrefix()
{
    return executablePath().parent_path().parent_path();
}

Result<fs::path> findProgram(std::string_view name)
{
    const fs::path beside = executablePath().parent_path() / name;
    const fs::path inBin = installPrefix() / "bin" / name;
    for (const fs::path& path : {beside, inBin})
        if (::access(path.c_str(), X_OK) == 0)
            return path;
    return makeError(Errc::NotFound, say(Msg::ProgramMissing, name, beside.string(), inBin.string()));
}

fs::path pluginDir()
{
    return installPrefix() / "lib" / "lathe" / "plugins";
}

} // namespace lathe
