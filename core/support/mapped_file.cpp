// Mapped files that others may cut short.
//
// A page behind the end of its file raises SIGBUS when it is read. The handler finds the mapping in a list, marks it,
// and puts pages of zeros over the rest of it, so that whoever reads goes on and finds out when it asks. Since a
// handler may run at any moment in any thread, the list is one that is only ever added to: entries are used again,
// never freed.

#include "core/support/mapped_file.h"

#include "core/support/message.h"
#include "core/support/open_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

namespace lathe {

namespace {

/// A mapping as the signal handler sees it.
struct Listed
{
    std::atomic<std::uintptr_t> begin = 0; ///< 0: free
    std::atomic<std::uintptr_t> end = 0;
    std::atomic<bool> cutShort = false;
    std::atomic<const void*> owner = nullptr; ///< the Mapping; not for the handler
    Listed* next = nullptr; ///< never changes once it is in the list
};

std::atomic<Listed*> g_first = nullptr;
std::mutex g_changing;
std::uintptr_t g_pageSize = 4096;
struct sigaction g_before = {};

Listed* entryOf(std::uintptr_t address)
{
    for (Listed* entry = g_first.load(std::memory_order_acquire); entry != nullptr; entry = entry->next) {
        const std::uintptr_t begin = entry->begin.load(std::memory_order_acquire);
        if (begin != 0 && address >= begin && address < entry->end.load(std::memory_order_acquire))
            return entry;
    }
    return nullptr;
}

void onBusError(int signal, siginfo_t* info, void* context)
{
    const int error = errno;
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    Listed* const entry = info->si_code > 0 ? entryOf(address) : nullptr; // not one that somebody sent
    if (entry != nullptr) {
        entry->cutShort.store(true);
        const std::uintptr_t page = address & ~(g_pageSize - 1);
        if (::mmap(reinterpret_cast<void*>(page), entry->end.load() - page, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0)
            != MAP_FAILED) {
            errno = error;
            return; // the access is made again
        }
    }
    if ((g_before.sa_flags & SA_SIGINFO) != 0 && g_before.sa_sigaction != nullptr) {
        g_before.sa_sigaction(signal, info, context);
        return;
    }
    if ((g_before.sa_flags & SA_SIGINFO) == 0 && g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
        g_before.sa_handler(signal);
        return;
    }
    ::signal(signal, SIG_DFL); // the access is made again
    if (info->si_code <= 0)
        ::raise(signal);
}

void takeBusErrors()
{
    static std::once_flag once;
    std::call_once(once, [] {
        g_pageSize = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        struct sigaction action = {};
        action.sa_sigaction = onBusError;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigaction(SIGBUS, &action, &g_before);
    });
}

Listed* addEntry(const std::byte* data, std::size_t bytes, const void* owner)
{
    const std::lock_guard lock(g_changing);
    Listed* entry = g_first;
    while (entry != nullptr && entry->begin != 0)
        entry = entry->next;
    const bool isNew = entry == nullptr;
    if (isNew)
        entry = new Listed; // stays: a handler may be looking at it whenever
    entry->cutShort = false;
    entry->owner = owner;
    entry->end = reinterpret_cast<std::uintptr_t>(data) + bytes;
    entry->begin = reinterpret_cast<std::uintptr_t>(data);
    if (isNew) {
        entry->next = g_first;
        g_first = entry;
    }
    return entry;
}

/// What tells whether a file was written to.
struct Stamp
{
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    timespec modified = {};

    static Stamp of(const struct stat& status)
    {
        return {status.st_dev, status.st_ino, status.st_size, status.st_mtim};
    }
    bool sameFile(const Stamp& other) const { return device == other.device && inode == other.inode; }
    bool sameTime(const Stamp& other) const
    {
        return modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec;
    }
};

} // namespace

struct MappedFile::Mapping
{
    Mapping(const std::filesystem::path& path, std::span<const std::byte> bytes, bool isCopy, const Stamp& then)
        : file(path.string())
        , data(bytes.data())
        , size(bytes.size())
        , stamp(then)
    {
        if (!isCopy)
            entry = addEntry(data, size, this);
    }
    ~Mapping()
    {
        if (entry != nullptr) {
            const std::lock_guard lock(g_changing);
            entry->owner = nullptr;
            entry->begin = 0;
        }
        ::munmap(const_cast<std::byte*>(data), size);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    Result<> intact() const
    {
        if (entry == nullptr)
            return {};
        struct stat status = {};
        const bool there = ::stat(file.c_str(), &status) == 0 && Stamp::of(status).sameFile(stamp);
        if (entry->cutShort || (there && status.st_size < stamp.size))
            return makeError(Errc::BadFile, say(Msg::FileCutShort, file));
        if (there && !Stamp::of(status).sameTime(stamp))
            return makeError(Errc::BadFile, say(Msg::FileChanged, file));
        return {};
    }

    const std::string file;
    const std::byte* const data;
    const std::size_t size;
    const Stamp stamp;
    Listed* entry = nullptr; ///< null: a copy
};

namespace {

Result<> readAll(int fd, std::byte* to, std::size_t bytes, const std::filesystem::path& path)
{
    for (std::size_t got = 0; got < bytes;) {
        const ssize_t count = ::read(fd, to + got, bytes - got);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return makeError(Errc::BadFile, say(Msg::FileUnreadable, path.string(),
                                                count < 0 ? std::strerror(errno) : "it became shorter meanwhile"));
        got += static_cast<std::size_t>(count);
    }
    return {};
}

} // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path, std::size_t copied)
{
    LATHE_TRY_ASSIGN(const RegularFile opened, openRegularFile(path));
    MappedFile result;
    if (opened.bytes == 0)
        return result;
    const bool copy = opened.bytes <= copied;
    struct stat status = {};
    if (!copy) {
        takeBusErrors();
        if (::fstat(opened.file.get(), &status) != 0)
            return makeError(Errc::BadFile, say(Msg::FileNotMapped, path.string(), std::strerror(errno)));
    }
    void* data = copy ? ::mmap(nullptr, opened.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : ::mmap(nullptr, opened.bytes, PROT_READ, MAP_PRIVATE, opened.file.get(), 0);
    if (data == MAP_FAILED)
        return makeError(Errc::BadFile, say(Msg::FileNotMapped, path.string(), std::strerror(errno)));
    result.m_mapping = std::make_shared<const Mapping>(std::filesystem::absolute(path),
                                                       std::span(static_cast<const std::byte*>(data), opened.bytes),
                                                       copy, Stamp::of(status));
    if (copy)
        LATHE_TRY(readAll(opened.file.get(), static_cast<std::byte*>(data), opened.bytes, path));
    return result;
}

std::span<const std::byte> MappedFile::bytes() const
{
    return m_mapping ? std::span(m_mapping->data, m_mapping->size) : std::span<const std::byte>();
}

Result<> MappedFile::intact() const
{
    return m_mapping ? m_mapping->intact() : Result<>();
}

Result<> MappedFile::check(const void* address)
{
    const std::lock_guard lock(g_changing); // keeps the mapping
    const Listed* const entry = entryOf(reinterpret_cast<std::uintptr_t>(address));
    const void* const owner = entry != nullptr ? entry->owner.load() : nullptr;
    return owner != nullptr ? static_cast<const Mapping*>(owner)->intact() : Result<>();
}

} // namespace lathe
