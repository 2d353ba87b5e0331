#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace lathe::bench {

/// Times in nanoseconds, counted by powers of 2^(1/8): a percentile is right within 5 %. Written by several threads,
/// and read by another process that shares its memory.
class Histogram
{
public:
    void add(double ns);
    void clear();
    std::uint64_t count() const;
    /// The time that a share of them does not exceed, in ns.
    double at(double share) const;

private:
    std::array<std::atomic<std::uint32_t>, 320> m_counts = {};
};

/// What the process of the boards and the one that measures share.
struct Shared
{
    /// Gaps are counted from a phase on, within it: 0 none, odd ones bare requests, even ones trials.
    std::atomic<int> phase = 0;
    Histogram gaps; ///< of a board: from the answer that it gives to the next thing that it is asked
    std::atomic<std::uint64_t> answers = 0;
    std::atomic<std::uint64_t> notices = 0; ///< published
    std::atomic<std::uint64_t> wantedNotices = 0; ///< until then, boards tell more than one each second
};

struct BoardsOptions
{
    std::string url;
    int keys = 20, boards = 50; ///< boards of each key
    std::chrono::microseconds busy{465'000}; ///< that a trial takes
    std::size_t replyBytes = 300; ///< of what answers a bare request
    int noticesAtOnce = 1; ///< that a board tells each second, while more are wanted
};

/// The name of a key and of its board: words of a broker.
std::string keyName(int key);
std::string boardName(int key, int board);
/// Subjects of bare requests, and of their answers.
std::string bareTo(int key, int board);
std::string bareFrom(int key, int board);

/// Boards that are offered at a broker as lathe-runner offers one (Desk, Channel, notices, subscriptions of its own),
/// and that measure nothing: a trial takes `busy`, then it is answered. Beside it they answer bare requests. A thread
/// and a connection for each key. Until the process is killed.
[[noreturn]] void runBoards(const BoardsOptions& options, Shared& shared);

} // namespace lathe::bench
