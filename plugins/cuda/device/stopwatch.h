#pragma once

#include "plugins/cuda/device/driver.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lathe::cuda {

/// Times stretches of one stream, which works through its commands in order, by events at both ends of each.
///
///     begin(), commands, end(): any number of times
///     finish() now and then, and at the end: waits, and adds the times up
///
/// The context is current whenever something is called here. All return the driver's codes.
class Stopwatch
{
public:
    Stopwatch(const Driver& driver, Stream stream)
        : m_driver(driver)
        , m_stream(stream)
    {
    }
    ~Stopwatch();
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

    int begin();
    int end(); ///< of a stretch that begin() has begun
    int finish();
    std::uint64_t nanoseconds() const { return static_cast<std::uint64_t>(m_total + 0.5); }

private:
    const Driver& m_driver;
    Stream m_stream;
    std::vector<Event> m_events; ///< begin, end, begin, end ...; those from m_used on wait for their turn
    std::size_t m_used = 0;
    double m_total = 0;
};

} // namespace lathe::cuda
