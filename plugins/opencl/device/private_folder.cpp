#include "plugins/opencl/device/private_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace lathe::opencl {
namespace {

namespace fs = std::filesystem;

/// Empty: there is no cache folder. Of programs that run with another user's rights, the environment is not to be
/// believed.
fs::path baseFolder()
{
    const char* const cache = ::secure_getenv("XDG_CACHE_HOME");
    const char* const home = ::secure_getenv("HOME");
    if (cache != nullptr && cache[0] == '/') // the specification ignores relative ones
        return fs::path(cache) / "lathe" / "opencl-work";
    if (home != nullptr && home[0] == '/')
        return fs::path(home) / ".cache" / "lathe" / "opencl-work";
    return {};
}

/// The folder, held as long as the descriptor is open; -1: another process holds it, or it is gone.
int hold(const std::string& folder)
{
    const int held = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat ours = {}, there = {};
    if (held >= 0
        && (::flock(held, LOCK_EX | LOCK_NB) != 0 || ::fstat(held, &ours) != 0 || ::lstat(folder.c_str(), &there) != 0
            || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev)) {
        ::close(held);
        return -1;
    }
    return held;
}

void removeAbandoned(const fs::path& base)
{
    std::error_code ignored;
    for (fs::directory_iterator entry(base, ignored), end; entry != end; entry.increment(ignored)) {
        struct stat info = {};
        if (::lstat(entry->path().c_str(), &info) != 0 || info.st_uid != ::geteuid())
            continue;
        if (const int held = hold(entry->path()); held >= 0) {
            fs::remove_all(entry->path(), ignored);
            ::close(held);
        }
    }
}

class Folder
{
public:
    Folder()
    {
        std::error_code code;
        const fs::path base = baseFolder();
        if (base.empty() || (fs::create_directories(base, code), code))
            return;
        removeAbandoned(base);
        // Another process may take a folder for abandoned between its making and its locking: then there is a next one.
        for (int attempt = 0; attempt < 100 && m_held < 0; ++attempt) {
            m_path = base / "XXXXXX";
            m_held = ::mkdtemp(m_path.data()) != nullptr ? hold(m_path) : -1;
        }
        if (m_held < 0)
            m_path.clear();
    }
    ~Folder()
    {
        std::error_code ignored;
        if (m_held < 0)
            return;
        fs::remove_all(m_path, ignored);
        ::close(m_held);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const char* path() const { return m_path.c_str(); }

private:
    std::string m_path;
    int m_held = -1;
};

} // namespace

const char* privateFolder()
{
    static const Folder folder;
    return folder.path();
}

bool isPrivateFolder(const char* path)
{
    return fs::path(path).parent_path() == baseFolder();
}

} // namespace lathe::opencl
