#pragma once

#include "core/support/deadline.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace lathe {

/// A stop that comes when another one does, or after a time.
class StopAfter
{
public:
    /// Of no end (infinite seconds): the other stop alone.
    StopAfter(std::stop_token other, double seconds)
        : m_forward(std::move(other), Forward{&m_source})
        , m_timer([this, seconds](const std::stop_token& over) {
            if (!(seconds < 1e8))
                return;
            std::mutex mutex;
            std::unique_lock lock(mutex);
            std::condition_variable_any waits;
            if (!waits.wait_for(lock, over, std::chrono::duration<double>(std::max(0.0, seconds)), [] { return false; })
                && !over.stop_requested())
                m_source.request_stop();
        })
    {
    }
    StopAfter(const StopAfter&) = delete;
    StopAfter& operator=(const StopAfter&) = delete;

    std::stop_token token() const { return m_source.get_token(); }

private:
    struct Forward
    {
        std::stop_source* source;
        void operator()() const { source->request_stop(); }
    };
    std::stop_source m_source;
    std::stop_callback<Forward> m_forward;
    std::jthread m_timer; ///< ends first
};

} // namespace lathe
