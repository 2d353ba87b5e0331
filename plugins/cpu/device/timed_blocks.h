#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace lathe::cpu {

/// What equal launches, one after the other, take without what was none of theirs: while another guest of the machine
/// or another process has one of the cores, all parts of a kernel wait, for milliseconds where it takes microseconds.
/// The launches are timed in blocks, and the quickest blocks that hold half of them count.
///
///     TimedBlocks blocks(launches, now);
///     for each launch: run it; if (blocks.isDue()) blocks.add(now)
///
/// Nanoseconds. No allocation.
class TimedBlocks
{
public:
    TimedBlocks(std::uint64_t launches, std::uint64_t now)
        : m_longest(std::max<std::uint64_t>(launches / 8, 1))
        , m_left(launches)
        , m_last(now)
    {
    }

    /// After each launch; whether the clock is to be read.
    bool isDue() { return ++m_since >= m_length || m_since >= m_left; }
    void add(std::uint64_t now);
    /// Of all launches so far, those of slow blocks as if they had taken what those of quick ones do.
    double total() const;

private:
    /// As long as reading the clock and the end of a kernel's last part do not count, and short beside a time slice.
    static constexpr double kBlockNs = 250e3;
    static constexpr std::size_t kMost = 128;

    struct Block
    {
        double each = 0;
        std::uint64_t launches = 0;
    };
    std::array<Block, kMost> m_blocks;
    std::size_t m_count = 0;
    std::uint64_t m_longest; ///< in launches, so that there are enough of them
    std::uint64_t m_left, m_last, m_length = 1, m_since = 0;
    double m_least = 0; ///< `each` of the quickest block
};

inline void TimedBlocks::add(std::uint64_t now)
{
    if (m_count == kMost || m_since == 0)
        return;
    const double each = static_cast<double>(now - m_last) / static_cast<double>(m_since);
    m_blocks[m_count++] = {each, m_since};
    m_left -= std::min(m_left, m_since);
    m_last = now;
    m_since = 0;
    m_least = m_count == 1 ? each : std::min(m_least, each);
    // By the quickest: the first one may have been held up. The last block takes whatever is left.
    const double inTime = std::min(kBlockNs / std::max(m_least, 1.0), static_cast<double>(m_longest)),
                 inPlace = static_cast<double>(m_left) / static_cast<double>(std::max<std::size_t>(kMost - m_count, 1));
    m_length = m_count + 1 >= kMost ? std::max<std::uint64_t>(m_left, 1)
                                    : static_cast<std::uint64_t>(std::max({1.0, inTime, 2 * inPlace}));
}

inline double TimedBlocks::total() const
{
    std::array<Block, kMost> sorted = m_blocks;
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(m_count);
    std::sort(sorted.begin(), end, [](const Block& a, const Block& b) { return a.each < b.each; });
    std::uint64_t all = 0;
    for (auto block = sorted.begin(); block != end; ++block)
        all += block->launches;
    double sum = 0;
    std::uint64_t counted = 0;
    for (auto block = sorted.begin(); block != end && 2 * counted < all; ++block) {
        sum += block->each * static_cast<double>(block->launches);
        counted += block->launches;
    }
    return counted == 0 ? 0 : sum / static_cast<double>(counted) * static_cast<double>(all);
}

} // namespace lathe::cpu
