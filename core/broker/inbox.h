#pragma once

#include "core/support/event_bell.h"

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::broker {

/// What a broker's threads heard, for one of ours, which can wait for it with poll(2).
/// Threads: put() on any, the rest on one.
class Inbox
{
public:
    struct Heard
    {
        std::string subject, bytes;
    };

    void put(std::string_view subject, std::string_view bytes);
    std::vector<Heard> takeAll();
    pollfd watched() const { return m_bell.watched(); }

    /// Beyond so many that nobody took, all of them go: who sends a flood fills no memory.
    static constexpr std::size_t kMostBytes = 256u << 20;

private:
    std::mutex m_mutex;
    std::vector<Heard> m_heard;
    std::size_t m_bytes = 0;
    EventBell m_bell;
};

} // namespace lathe::broker
