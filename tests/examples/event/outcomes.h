#pragma once

#include "core/session/events.h"

#include <atomic>
#include <cstdint>

namespace lathe::examples {

/// Counts what becomes of a run's trials, while it runs.
class Outcomes final : public session::SessionObserver
{
public:
    void onEvents(std::span<const session::Event> events) override;

    std::int64_t good() const { return m_good; }
    std::int64_t failed() const { return m_failed; }

private:
    std::atomic<std::int64_t> m_good = 0, m_failed = 0; // the session's threads tell, others look
};

} // namespace lathe::examples
