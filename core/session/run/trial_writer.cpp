#include "core/session/run/trial_writer.h"

#include "core/session/run/clock_times.h"

#include <utility>

namespace lathe::session {

namespace {

constexpr std::size_t kFlushTrials = 16; ///< that are stored together, as each transaction waits for the disk
constexpr double kFlushSeconds = 0.1; ///< after which fewer are

} // namespace

TrialWriter::TrialWriter(RunParts& parts, std::function<void(const Record&, std::vector<Event>&)> acknowledge)
    : m_parts(parts)
    , m_acknowledge(std::move(acknowledge))
{
}

void TrialWriter::add(const Record& record)
{
    m_pending.push_back(record);
    if (m_pending.size() >= kFlushTrials || secondsSince(m_lastFlush) > kFlushSeconds)
        flush();
}

Result<> TrialWriter::finish()
{
    flush();
    return std::move(m_stored);
}

void TrialWriter::flush()
{
    if (m_pending.empty() || !m_stored)
        return;
    const auto activity = m_parts.clock.account().in("store");
    m_stored = m_parts.journal.addRecords(m_pending);
    std::vector<Event> events;
    if (m_stored)
        for (const Record& record : m_pending)
            m_acknowledge(record, events);
    m_parts.journal.tell(std::move(events));
    m_pending.clear();
    m_lastFlush = std::chrono::steady_clock::now();
}

} // namespace lathe::session
