#include "plugins/cpu/device/memory.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace lathe::cpu {

namespace {

constexpr std::size_t kHugePage = std::size_t(2) << 20;
constexpr std::size_t kGuardBytes = std::size_t(1) << 20; ///< a multiple of the page size; also catches far strides
constexpr std::size_t kAlignment = 64;
constexpr unsigned char kMargin = 0x5c;
/// Only this much of a margin is filled and looked at: reading all of it after each run would empty the caches.
constexpr std::size_t kMarginBytes = std::size_t(64) << 10;
constexpr std::size_t kSpareBytes = std::size_t(64) << 20; ///< kept of destroyed buffers, all together

std::size_t roundUp(std::size_t value, std::size_t to)
{
    return (value + to - 1) / to * to;
}

std::map<const void*, Buffer*>& buffers()
{
    static std::map<const void*, Buffer*> all;
    return all;
}

std::mutex& buffersMutex()
{
    static std::mutex mutex;
    return mutex;
}

RunningKernel g_running;

/// Puts text together without allocating, for use in a signal handler.
class Line
{
public:
    Line& operator<<(const char* text)
    {
        while (*text && m_size < sizeof m_text - 1)
            m_text[m_size++] = *text++;
        return *this;
    }
    Line& operator<<(std::uint64_t value)
    {
        char digits[21];
        int n = 0;
        do
            digits[n++] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        while (n > 0 && m_size < sizeof m_text - 1)
            m_text[m_size++] = digits[--n];
        return *this;
    }
    void write() const { [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, m_text, m_size); }

private:
    char m_text[512];
    std::size_t m_size = 0;
};

void reportCrash(int signal, siginfo_t* info, void* context)
{
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const char* access = "accessed";
#if defined(__x86_64__)
    const auto* machine = static_cast<const ucontext_t*>(context);
    access = machine->uc_mcontext.gregs[REG_ERR] & 2 ? "wrote" : "read";
#else
    static_cast<void>(context);
#endif
    Line line;
    line << "kernel " << g_running.name << " ";
    bool known = false;
    for (std::uint32_t i = 0; i < g_running.bufferCount && !known; ++i) {
        const auto start = reinterpret_cast<std::uintptr_t>(g_running.buffers[i]);
        const std::size_t bytes = Buffer::find(g_running.buffers[i]) ? Buffer::find(g_running.buffers[i])->bytes() : 0;
        const char* name = g_running.parameterNames ? g_running.parameterNames[i] : "";
        if (address >= start + bytes && address < start + bytes + kGuardBytes) {
            line << access << " " << std::uint64_t(address - start - bytes) << " bytes past the end of \"" << name
                 << "\"";
            known = true;
        } else if (address < start && address + kGuardBytes >= start) {
            line << access << " " << std::uint64_t(start - address) << " bytes before the start of \"" << name << "\"";
            known = true;
        }
    }
    if (!known)
        line << access << " memory that is not its own";
    line << "\n";
    line.write();
    ::signal(signal, SIG_DFL); // the instruction runs again and ends the process
}

} // namespace

Buffer::~Buffer()
{
    if (m_region)
        ::munmap(m_region, m_regionBytes);
}

/// Destroyed buffers whose memory is still there, the latest last.
struct Buffer::Spares
{
    std::vector<Buffer*> all;
    ~Spares()
    {
        for (Buffer* buffer : all)
            delete buffer;
    }
};

Buffer::Spares& Buffer::spares()
{
    static Spares kept;
    return kept;
}

Buffer* Buffer::takeSpare(std::size_t bytes, bool guarded)
{
    const std::scoped_lock lock(buffersMutex());
    std::vector<Buffer*>& kept = spares().all;
    const auto found = std::find_if(kept.rbegin(), kept.rend(),
                                    [&](const Buffer* b) { return b->m_bytes == bytes && b->m_guarded == guarded; });
    if (found == kept.rend())
        return nullptr;
    Buffer* const buffer = *found;
    kept.erase(std::next(found).base());
    buffers()[buffer->m_data] = buffer;
    return buffer;
}

Buffer* Buffer::create(std::size_t bytes, bool guarded)
{
    if (Buffer* const spare = takeSpare(bytes, guarded)) {
        spare->fillMargins();
        return spare;
    }
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t unit = bytes >= kHugePage / 2 ? kHugePage : page;
    const std::size_t used = roundUp(std::max<std::size_t>(bytes, 1), kAlignment);
    const std::size_t accessible = roundUp(used, unit);
    Buffer* buffer = new (std::nothrow) Buffer;
    if (!buffer)
        return nullptr;
    buffer->m_regionBytes = accessible + 2 * kGuardBytes + unit;
    void* region = ::mmap(nullptr, buffer->m_regionBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                          0);
    if (region == MAP_FAILED) {
        delete buffer;
        return nullptr;
    }
    buffer->m_region = static_cast<unsigned char*>(region);
    const auto low = roundUp(reinterpret_cast<std::uintptr_t>(region) + kGuardBytes, unit);
    buffer->m_low = reinterpret_cast<unsigned char*>(low);
    buffer->m_high = buffer->m_low + accessible;
    buffer->m_bytes = bytes;
    buffer->m_guarded = guarded;
    if (::mprotect(buffer->m_low, accessible, PROT_READ | PROT_WRITE) != 0) {
        delete buffer;
        return nullptr;
    }
    if (unit == kHugePage)
        ::madvise(buffer->m_low, accessible, MADV_HUGEPAGE);
    buffer->m_data = guarded ? buffer->m_high - used : buffer->m_low;
    buffer->fillMargins();
    const std::scoped_lock lock(buffersMutex());
    buffers()[buffer->m_data] = buffer;
    return buffer;
}

void Buffer::destroy(Buffer* buffer)
{
    if (!buffer)
        return;
    const std::scoped_lock lock(buffersMutex());
    buffers().erase(buffer->m_data);
    std::vector<Buffer*>& kept = spares().all;
    kept.push_back(buffer);
    std::size_t total = 0;
    for (const Buffer* b : kept)
        total += static_cast<std::size_t>(b->m_high - b->m_low);
    while (total > kSpareBytes) { // the one not used for the longest time
        total -= static_cast<std::size_t>(kept.front()->m_high - kept.front()->m_low);
        delete kept.front();
        kept.erase(kept.begin());
    }
}

Buffer* Buffer::find(const void* data)
{
    const auto it = buffers().find(data);
    return it == buffers().end() ? nullptr : it->second;
}

void Buffer::fillMargins()
{
    unsigned char* const end = m_data + m_bytes;
    std::memset(end, kMargin, std::min<std::size_t>(m_high - end, kMarginBytes));
    const std::size_t before = std::min<std::size_t>(m_data - m_low, kMarginBytes);
    std::memset(m_data - before, kMargin, before);
}

bool Buffer::marginsIntact()
{
    const auto isMargin = [](unsigned char byte) { return byte == kMargin; };
    unsigned char* const end = m_data + m_bytes;
    const std::size_t before = std::min<std::size_t>(m_data - m_low, kMarginBytes);
    const bool intact = std::all_of(end, end + std::min<std::size_t>(m_high - end, kMarginBytes), isMargin)
                        && std::all_of(m_data - before, m_data, isMargin);
    if (!intact)
        fillMargins();
    return intact;
}

void setRunningKernel(const RunningKernel& kernel)
{
    g_running = kernel;
}

void installCrashReport()
{
    struct sigaction action = {};
    action.sa_sigaction = reportCrash;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, nullptr);
    ::sigaction(SIGBUS, &action, nullptr);
}

} // namespace lathe::cpu
