#include "plugins/cuda/device/stopwatch.h"

namespace lathe::cuda {

Stopwatch::~Stopwatch()
{
    for (Event event : m_events)
        m_driver.eventDestroy(event);
}

int Stopwatch::begin()
{
    // The end's, too: to make it then would take time that is measured.
    while (m_events.size() < m_used + 2) {
        Event event = nullptr;
        if (const int code = m_driver.eventCreate(&event, 0); code != kSuccess)
            return code;
        m_events.push_back(event);
    }
    return m_driver.eventRecord(m_events[m_used++], m_stream);
}

int Stopwatch::end()
{
    return m_driver.eventRecord(m_events[m_used++], m_stream);
}

int Stopwatch::finish()
{
    int code = m_driver.streamSynchronize(m_stream);
    for (std::size_t e = 0; e + 1 < m_used && code == kSuccess; e += 2) {
        float milliseconds = 0;
        code = m_driver.eventElapsedTime(&milliseconds, m_events[e], m_events[e + 1]);
        m_total += 1e6 * static_cast<double>(milliseconds);
    }
    m_used = 0;
    return code;
}

} // namespace lathe::cuda
