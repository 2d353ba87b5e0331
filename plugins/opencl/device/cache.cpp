#include "plugins/opencl/device/cache.h"

#include "core/runtime/package_view.h"
#include "plugins/opencl/device/build.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lathe::opencl {
namespace {

// A file is a package of one program without symbols, and its checksum. It is named after the hash of what it is of.

constexpr std::size_t kHashDigits = 32;
constexpr char kEnding[] = ".bin";
constexpr std::size_t kNameBytes = kHashDigits + sizeof kEnding;

struct Path
{
    char text[4096] = "";
    bool isWhole = true; ///< else it is too long

    void append(const char* more)
    {
        const std::size_t size = std::strlen(text), added = std::strlen(more);
        isWhole = isWhole && size + added < sizeof text;
        if (isWhole)
            std::memcpy(text + size, more, added + 1);
    }
};

/// FNV-1a.
std::uint64_t hash(std::uint64_t state, std::string_view bytes)
{
    for (const char byte : bytes)
        state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
    return state;
}

void nameOf(const CacheKey& key, char (&name)[kNameBytes])
{
    std::uint64_t halves[] = {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull};
    // The device says which of the options are used.
    for (std::uint64_t& half : halves)
        for (const std::string_view part : {key.identity, std::string_view(kBuildOptions[1]), key.source})
            half = hash(hash(half, part), {"", 1}); // the zero parts them
    std::snprintf(name, sizeof name, "%016llx%016llx%s", static_cast<unsigned long long>(halves[0]),
                  static_cast<unsigned long long>(halves[1]), kEnding);
}

/// Whether it begins as names of files here do; files that are being written have some letters more.
bool isOurs(const char* name)
{
    return std::strspn(name, "0123456789abcdef") == kHashDigits
           && std::strncmp(name + kHashDigits, kEnding, sizeof kEnding - 1) == 0;
}

/// With a slash behind it. False: there is none.
bool findFolder(Path& path)
{
    // Of programs that run with another user's rights, the environment is not to be believed.
    const char* const cache = ::secure_getenv("XDG_CACHE_HOME");
    const char* const home = ::secure_getenv("HOME");
    if (cache != nullptr && cache[0] == '/') { // the specification ignores relative ones
        path.append(cache);
    } else {
        if (home == nullptr || home[0] != '/')
            return false;
        path.append(home);
        path.append("/.cache");
    }
    path.append("/lathe/opencl/");
    return path.isWhole;
}

void makeFolder(const Path& folder)
{
    Path path = folder;
    for (char* slash = std::strchr(path.text + 1, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
        *slash = '\0';
        ::mkdir(path.text, 0700); // most are there
        *slash = '/';
    }
}

struct File
{
    explicit File(int descriptor)
        : fd(descriptor)
    {
    }
    ~File()
    {
        if (fd >= 0)
            ::close(fd);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd;
};

bool writeAll(int fd, const std::byte* bytes, std::size_t count)
{
    while (count > 0) {
        const ssize_t written = ::write(fd, bytes, count);
        if (written <= 0)
            return false;
        bytes += written;
        count -= static_cast<std::size_t>(written);
    }
    return true;
}

/// Of a regular file of this user, else 0: what others write is not handed to a driver.
std::size_t ownBytes(int fd)
{
    struct statx facts = {};
    if (::statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MODE | STATX_UID | STATX_SIZE, &facts) != 0
        || !S_ISREG(facts.stx_mode) || (facts.stx_mode & (S_IWGRP | S_IWOTH)) != 0 || facts.stx_uid != ::geteuid()
        || facts.stx_size > kMostCacheBytes)
        return 0;
    return static_cast<std::size_t>(facts.stx_size);
}

struct Entry
{
    char name[64];
    std::int64_t seconds; ///< when it was last used
    std::uint32_t nanoseconds;
    std::uint64_t bytes;
};

int compareTimes(const void* one, const void* other)
{
    const auto& a = *static_cast<const Entry*>(one);
    const auto& b = *static_cast<const Entry*>(other);
    if (a.seconds != b.seconds)
        return a.seconds < b.seconds ? -1 : 1;
    return a.nanoseconds < b.nanoseconds ? -1 : a.nanoseconds > b.nanoseconds ? 1 : 0;
}

void deleteOldest(const Path& folder)
{
    DIR* const listing = ::opendir(folder.text);
    if (listing == nullptr)
        return;
    const int fd = ::dirfd(listing);
    Entry* entries = nullptr;
    std::size_t count = 0, room = 0;
    std::uint64_t total = 0;
    while (const dirent* const found = ::readdir(listing)) {
        struct statx facts = {};
        if (!isOurs(found->d_name) || std::strlen(found->d_name) >= sizeof entries->name
            || ::statx(fd, found->d_name, AT_SYMLINK_NOFOLLOW, STATX_SIZE | STATX_MTIME, &facts) != 0)
            continue;
        if (count == room) {
            room = 2 * room + 64;
            void* const more = std::realloc(entries, room * sizeof(Entry));
            if (more == nullptr)
                break;
            entries = static_cast<Entry*>(more);
        }
        Entry& entry = entries[count++];
        std::memcpy(entry.name, found->d_name, std::strlen(found->d_name) + 1);
        entry.seconds = facts.stx_mtime.tv_sec;
        entry.nanoseconds = facts.stx_mtime.tv_nsec;
        entry.bytes = facts.stx_size;
        total += entry.bytes;
    }
    if (total > kMostCacheBytes)
        std::qsort(entries, count, sizeof(Entry), compareTimes);
    for (std::size_t e = 0; e < count && total > kMostCacheBytes; ++e) {
        ::unlinkat(fd, entries[e].name, 0);
        total -= entries[e].bytes;
    }
    std::free(entries);
    ::closedir(listing);
}

/// The binary in a file's bytes, if these are what was written for the key.
bool check(std::string_view file, const CacheKey& key, std::string_view& binary)
{
    runtime::PackageReader reader(file);
    runtime::ProgramView program;
    std::uint64_t checksum = 0;
    if (reader.bytes() == 0 || file.size() != reader.bytes() + sizeof checksum)
        return false;
    std::memcpy(&checksum, file.data() + reader.bytes(), sizeof checksum);
    if (hash(0, {file.data(), reader.bytes()}) != checksum || !reader.next(program) || program.source != key.source
        || program.madeFor != key.identity)
        return false;
    binary = program.binary;
    return true;
}

} // namespace

char* findInCache(const CacheKey& key, std::size_t& bytes)
{
    Path path;
    char name[kNameBytes];
    if (!findFolder(path))
        return nullptr;
    nameOf(key, name);
    path.append(name);
    const File file(path.isWhole ? ::open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1);
    const std::size_t size = file.fd < 0 ? 0 : ownBytes(file.fd);
    auto* const all = size > 0 ? static_cast<char*>(std::malloc(size)) : nullptr;
    if (all == nullptr)
        return nullptr;
    std::size_t read = 0;
    while (read < size) {
        const ssize_t more = ::read(file.fd, all + read, size - read);
        if (more <= 0)
            break;
        read += static_cast<std::size_t>(more);
    }
    std::string_view binary;
    if (read == size && check({all, size}, key, binary)) {
        ::futimens(file.fd, nullptr); // used now
        std::memmove(all, binary.data(), binary.size());
        bytes = binary.size();
        return all;
    }
    std::free(all);
    return nullptr;
}

void keepInCache(const CacheKey& key, std::string_view binary)
{
    const runtime::ProgramView program = {key.source, binary, key.identity, {}};
    const std::size_t package = runtime::packageBytes(&program, 1), size = package + sizeof(std::uint64_t);
    Path folder;
    if (size > kMostCacheBytes || !findFolder(folder))
        return;
    auto* const all = static_cast<std::byte*>(std::malloc(size));
    if (all == nullptr)
        return;
    runtime::writePackage(&program, 1, all);
    const std::uint64_t checksum = hash(0, {reinterpret_cast<const char*>(all), package});
    std::memcpy(all + package, &checksum, sizeof checksum);
    makeFolder(folder);
    char name[kNameBytes];
    nameOf(key, name);
    Path path = folder;
    path.append(name);
    Path written = path;
    written.append(".XXXXXX");
    if (written.isWhole) {
        const File file(::mkostemp(written.text, O_CLOEXEC));
        if (file.fd >= 0 && (!writeAll(file.fd, all, size) || std::rename(written.text, path.text) != 0))
            ::unlink(written.text);
    }
    std::free(all);
    deleteOldest(folder);
}

} // namespace lathe::opencl
