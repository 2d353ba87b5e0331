#pragma once

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

/// Zeroed memory on page boundaries, straight from the system. Null if there is none.
/// @param hugePages  advise 2 MiB pages: the block then starts on a 2 MiB boundary.
void* allocatePages(std::size_t bytes, bool hugePages);
void releasePages(void* block, std::size_t bytes, bool hugePages);

/// One block of pages with its size. Moves nothing, copies nothing: owners hold it in place.
class Pages
{
public:
    Pages() = default;
    ~Pages() { reset(); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    /// Drops what it holds. False if there is no memory; zero bytes always succeed and hold nothing.
    bool allocate(std::size_t bytes, bool hugePages);
    void reset();
    std::byte* data() const { return static_cast<std::byte*>(m_data); }
    std::size_t bytes() const { return m_bytes; }

private:
    void* m_data = nullptr;
    std::size_t m_bytes = 0;
    bool m_hugePages = false;
};

} // namespace lathe::runtime
