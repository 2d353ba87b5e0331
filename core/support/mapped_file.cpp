#include "core/support/mapped_file.h"

#include "core/support/message.h"
#include "core/support/open_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>

namespace lathe {

/// Mappings of files are listed, so that a signal handler finds which file an address belongs to.
struct MappedFile::Mapping
{
    Mapping(const std::filesystem::path& path, std::span<const std::byte> bytes, bool isCopy)
        : file(path.string())
        , data(bytes.data())
        , size(bytes.size())
        , copied(isCopy)
    {
        if (isCopy)
            return;
        const std::lock_guard lock(s_changing);
        next = s_first.load();
        s_first = this;
    }
    ~Mapping()
    {
        if (!copied) {
            const std::lock_guard lock(s_changing);
            std::atomic<Mapping*>* link = &s_first;
            while (*link != this)
                link = &link->load()->next;
            *link = next.load();
        }
        ::munmap(const_cast<std::byte*>(data), size);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    /// For signal handlers: takes no lock.
    static const Mapping* of(const void* address)
    {
        for (const Mapping* mapping = s_first; mapping; mapping = mapping->next)
            if (address >= mapping->data && address < mapping->data + mapping->size)
                return mapping;
        return nullptr;
    }

    const std::string file;
    const std::byte* const data;
    const std::size_t size;
    const bool copied;
    std::atomic<Mapping*> next = nullptr;
    static inline std::atomic<Mapping*> s_first = nullptr;
    static inline std::mutex s_changing;
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
    void* data = copy ? ::mmap(nullptr, opened.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                      : ::mmap(nullptr, opened.bytes, PROT_READ, MAP_PRIVATE, opened.file.get(), 0);
    if (data == MAP_FAILED)
        return makeError(Errc::BadFile, say(Msg::FileNotMapped, path.string(), std::strerror(errno)));
    result.m_mapping = std::make_shared<const Mapping>(
        path, std::span(static_cast<const std::byte*>(data), opened.bytes), copy);
    if (copy)
        LATHE_TRY(readAll(opened.file.get(), static_cast<std::byte*>(data), opened.bytes, path));
    return result;
}

std::span<const std::byte> MappedFile::bytes() const
{
    return m_mapping ? std::span(m_mapping->data, m_mapping->size) : std::span<const std::byte>();
}

namespace {

const char* g_program = "lathe";

} // namespace

void MappedFile::sayWhichWasCutShort(const char* program)
{
    g_program = program;
    struct sigaction action = {};
    action.sa_sigaction = [](int signal, siginfo_t* info, void*) {
        const Mapping* mapping = Mapping::of(info->si_addr);
        if (!mapping) {
            ::signal(signal, SIG_DFL); // the access is made again
            return;
        }
        const char* parts[] = {g_program, ": ", mapping->file.c_str(), " was cut short while it was open\n"};
        for (const char* part : parts) {
            if (::write(STDERR_FILENO, part, std::strlen(part)) < 0)
                break;
        }
        ::_exit(1);
    };
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
}

} // namespace lathe
