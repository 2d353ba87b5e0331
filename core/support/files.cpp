#include "core/support/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace lathe {

namespace {

/// Closes on scope exit.
class OpenFile
{
public:
    explicit OpenFile(int fd) : m_fd(fd) { }
    ~OpenFile()
    {
        if (m_fd >= 0)
            ::close(m_fd);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    int get() const { return m_fd; }
    int release() { return std::exchange(m_fd, -1); }

private:
    int m_fd;
};

Errc readErrc(int code)
{
    return code == ENOENT || code == ENOTDIR ? Errc::NotFound : Errc::BadFile;
}

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

Result<std::uint64_t> regularFileSize(int fd, const fs::path& path)
{
    struct stat info = {};
    if (::fstat(fd, &info) != 0)
        return makeError(Errc::BadFile, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
    if (!S_ISREG(info.st_mode))
        return makeError(Errc::BadFile, fmt::format("{} is not a regular file", path.string()));
    return static_cast<std::uint64_t>(info.st_size);
}

} // namespace

Result<std::string> readFile(const fs::path& path, std::uint64_t maxBytes)
{
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0)
        return makeError(readErrc(errno), fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
    LATHE_TRY_ASSIGN(const std::uint64_t size, regularFileSize(file.get(), path));
    if (size > maxBytes)
        return makeError(Errc::BadFile, fmt::format("{} has {} bytes, more than the {} that are allowed", path.string(),
                                                    size, maxBytes));
    std::string text(size, '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t n = ::read(file.get(), text.data() + got, text.size() - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return makeError(Errc::BadFile, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
        if (n == 0)
            break; // it became shorter meanwhile
        got += static_cast<std::size_t>(n);
    }
    text.resize(got);
    return text;
}

Result<> writeFileAtomically(const fs::path& path, std::span<const std::byte> bytes)
{
    const auto failed = [&](const char* doing, int code) {
        return makeError(writeErrc(code), fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(code)));
    };
    std::string temporary = path.string() + ".XXXXXX";
    OpenFile file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0)
        return failed("create a file beside", errno);
    const auto abandon = [&](const char* doing, int code) {
        ::unlink(temporary.c_str());
        return failed(doing, code);
    };
    // mkstemp makes the file private; the result gets the mode that open() would have given.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(file.get(), 0666 & ~mask);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n = ::write(file.get(), bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return abandon("write", errno);
        done += static_cast<std::size_t>(n);
    }
    if (::fsync(file.get()) != 0)
        return abandon("sync", errno);
    if (::close(file.release()) != 0)
        return abandon("close", errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0)
        return abandon("replace", errno);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const OpenFile parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (parent.get() >= 0)
        ::fsync(parent.get()); // the rename itself; some file systems refuse this, and then it is not needed
    return {};
}

Result<> writeFileAtomically(const fs::path& path, std::string_view text)
{
    return writeFileAtomically(path, std::as_bytes(std::span(text)));
}

Result<MappedFile> MappedFile::open(const fs::path& path)
{
    const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0)
        return makeError(readErrc(errno), fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
    LATHE_TRY_ASSIGN(const std::uint64_t size, regularFileSize(file.get(), path));
    MappedFile mapped;
    if (size == 0)
        return mapped;
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED)
        return makeError(Errc::BadFile, fmt::format("cannot map {}: {}", path.string(), std::strerror(errno)));
    mapped.m_data = static_cast<const std::byte*>(data);
    mapped.m_size = size;
    return mapped;
}

MappedFile::~MappedFile()
{
    if (m_data)
        ::munmap(const_cast<std::byte*>(m_data), m_size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : m_data(std::exchange(other.m_data, nullptr)), m_size(std::exchange(other.m_size, 0))
{
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept
{
    std::swap(m_data, other.m_data);
    std::swap(m_size, other.m_size);
    return *this;
}

Result<TempDir> TempDir::create(std::string_view prefix)
{
    std::error_code code;
    const fs::path base = fs::temp_directory_path(code);
    if (code)
        return makeError(Errc::StoreFailed, fmt::format("there is no folder for temporary files: {}", code.message()));
    std::string name = (base / fmt::format("{}-XXXXXX", prefix)).string();
    if (!::mkdtemp(name.data()))
        return makeError(Errc::StoreFailed,
                         fmt::format("cannot create a folder in {}: {}", base.string(), std::strerror(errno)));
    return TempDir(name);
}

TempDir::~TempDir()
{
    std::error_code ignored;
    if (!m_path.empty())
        fs::remove_all(m_path, ignored);
}

TempDir::TempDir(TempDir&& other) noexcept : m_path(std::exchange(other.m_path, {})) { }

TempDir& TempDir::operator=(TempDir&& other) noexcept
{
    std::swap(m_path, other.m_path);
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
    return makeError(Errc::NotFound,
                     fmt::format("the program {} is neither {} nor {}", name, beside.string(), inBin.string()));
}

fs::path pluginDir()
{
    if (const char* given = std::getenv("LATHE_PLUGIN_PATH"); given && *given)
        return given;
    return installPrefix() / "lib" / "lathe" / "plugins";
}

} // namespace lathe
