#include "core/runtime/memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace lathe::runtime {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t pageBytes(bool hugePages)
{
    if (hugePages)
        return kHugePage;
    const long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? static_cast<std::size_t>(page) : 4096;
}

bool roundUp(std::size_t& bytes, std::size_t unit)
{
    if (bytes > SIZE_MAX - 2 * unit)
        return false;
    bytes = (bytes + unit - 1) / unit * unit;
    return true;
}

} // namespace

void* allocatePages(std::size_t bytes, bool hugePages)
{
    const std::size_t unit = pageBytes(hugePages);
    if (bytes == 0 || !roundUp(bytes, unit))
        return nullptr;
    // Huge pages need an aligned start, which mmap does not promise: ask for one unit more and give the ends back.
    const std::size_t slack = hugePages ? unit : 0;
    void* const block = mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return nullptr;
    if (!hugePages)
        return block;
    char* const start = static_cast<char*>(block);
    const std::size_t head = (unit - reinterpret_cast<std::uintptr_t>(start) % unit) % unit;
    if (head > 0)
        munmap(start, head);
    if (head < slack)
        munmap(start + head + bytes, slack - head);
    madvise(start + head, bytes, MADV_HUGEPAGE); // only advice: without huge pages the memory is as good, just slower
    return start + head;
}

void releasePages(void* block, std::size_t bytes, bool hugePages)
{
    if (block == nullptr || !roundUp(bytes, pageBytes(hugePages)))
        return;
    munmap(block, bytes);
}

bool Pages::allocate(std::size_t bytes, bool hugePages)
{
    reset();
    if (bytes == 0)
        return true;
    m_data = allocatePages(bytes, hugePages);
    if (m_data == nullptr)
        return false;
    m_bytes = bytes;
    m_hugePages = hugePages;
    return true;
}

void Pages::reset()
{
    releasePages(m_data, m_bytes, m_hugePages);
    m_data = nullptr;
    m_bytes = 0;
}

} // namespace lathe::runtime
