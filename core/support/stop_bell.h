#pragma once

#include "core/support/event_bell.h"

#include <stop_token>
#include <utility>

namespace lathe {

/// Wakes poll(2) when a stop is requested, from whatever thread requests it.
class StopBell
{
public:
    explicit StopBell(std::stop_token stop)
        : m_callback(std::move(stop), Ring{&m_bell})
    {
    }
    StopBell(const StopBell&) = delete;
    StopBell& operator=(const StopBell&) = delete;

    pollfd watched() const { return m_bell.watched(); }

private:
    struct Ring
    {
        const EventBell* bell;
        void operator()() const { bell->ring(); }
    };
    EventBell m_bell;
    /// Ends before the bell, and waits for a ring: none is written to a file that is closed.
    std::stop_callback<Ring> m_callback;
};

} // namespace lathe
