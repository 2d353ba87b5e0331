#include "core/broker/inbox.h"

namespace lathe::broker {

void Inbox::put(std::string_view subject, std::string_view bytes)
{
    const std::scoped_lock lock(m_mutex);
    if (m_bytes + bytes.size() > kMostBytes) { // links send again what was lost
        m_heard.clear();
        m_bytes = 0;
    }
    m_bytes += bytes.size();
    m_heard.push_back({std::string(subject), std::string(bytes)});
    m_bell.ring();
}

std::vector<Inbox::Heard> Inbox::takeAll()
{
    m_bell.silence();
    const std::scoped_lock lock(m_mutex);
    m_bytes = 0;
    return std::exchange(m_heard, {});
}

} // namespace lathe::broker
