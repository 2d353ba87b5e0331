#pragma once

#include "plugins/opencl/device/driver.h"

#include <cstdint>
#include <vector>

namespace lathe::opencl {

/// Times stretches of launches in one queue that works through them in order, by the device's own events: from the
/// start of a stretch's first launch to the end of its last one. A driver whose events hold no times is timed by the
/// clock of the host instead, a stretch at a time.
///
///     before each launch: next(isFirst, isLast) is the event to pass on, or null
///     behind the last launch of a stretch: close()
///     now and then, and at the end: finish()
class Stopwatch
{
public:
    Stopwatch(const Driver& driver, cl_command_queue queue, bool hasEvents)
        : m_driver(driver)
        , m_queue(queue)
        , m_hasEvents(hasEvents)
    {
    }
    ~Stopwatch() { drop(); }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    /// Where a launch's event goes; null: nobody asks for it. The queue is empty when a stretch begins that is timed by
    /// the host's clock.
    cl_event* next(bool isFirst, bool isLast);
    /// The stretch is over. Errors: those of clFinish, where the host's clock is read.
    cl_int close();
    /// Waits for all that was started, adds its times and forgets the events.
    cl_int finish();
    std::uint64_t nanoseconds() const { return m_total; }

private:
    struct Span
    {
        cl_event first = nullptr, last = nullptr; ///< of a stretch of one launch `last` is null
    };
    void drop();
    cl_int add(const Span& span);

    const Driver& m_driver;
    cl_command_queue m_queue;
    bool m_hasEvents;
    std::vector<Span> m_spans;
    std::uint64_t m_began = 0, m_total = 0;
};

} // namespace lathe::opencl
