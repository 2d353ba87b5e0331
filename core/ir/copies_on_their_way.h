#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace lathe::ir {

/// The asynchronous copies of the threads of a block that none of them has waited for, in groups as each thread has
/// committed them (async_copy.h). Private to core/ir.
class CopiesOnTheirWay
{
public:
    struct Place
    {
        std::int32_t buffer;
        std::int64_t at;
    };

    /// Forgets all: a new block, of so many threads.
    void begin(std::int64_t threads) { m_threads.assign(static_cast<std::size_t>(threads), Thread()); }
    void start(std::int64_t thread, Place place) { of(thread).open.push_back(place); }
    void commit(std::int64_t thread) { of(thread).groups.push_back(std::exchange(of(thread).open, {})); }
    /// Calls `arrived` for each place whose group is not among the thread's latest ones.
    template<typename Arrived>
    void wait(std::int64_t thread, std::int64_t latest, const Arrived& arrived)
    {
        std::deque<Group>& groups = of(thread).groups;
        for (; static_cast<std::int64_t>(groups.size()) > latest; groups.pop_front())
            for (const Place& place : groups.front())
                arrived(place);
    }

private:
    using Group = std::vector<Place>;
    struct Thread
    {
        Group open;
        std::deque<Group> groups; ///< the oldest first
    };

    Thread& of(std::int64_t thread) { return m_threads[static_cast<std::size_t>(thread)]; }

    std::vector<Thread> m_threads;
};

} // namespace lathe::ir
