#include "core/broker/inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace lathe::broker {

Inbox::Inbox()
    : m_bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

Inbox::~Inbox()
{
    ::close(m_bell);
}

void Inbox::put(std::string_view subject, std::string_view bytes)
{
    const std::scoped_lock lock(m_mutex);
    if (m_bytes + bytes.size() > kMostBytes) { // links send again what was lost
        m_heard.clear();
        m_bytes = 0;
    }
    m_bytes += bytes.size();
    m_heard.push_back({std::string(subject), std::string(bytes)});
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(m_bell, &one, sizeof one);
}

std::vector<Inbox::Heard> Inbox::takeAll()
{
    std::uint64_t rung = 0;
    [[maybe_unused]] const ssize_t n = ::read(m_bell, &rung, sizeof rung); // what comes after this rings again
    const std::scoped_lock lock(m_mutex);
    m_bytes = 0;
    return std::exchange(m_heard, {});
}

} // namespace lathe::broker
