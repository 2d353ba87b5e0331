#include "core/support/event_bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace lathe {

EventBell::EventBell()
    : m_file(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

EventBell::~EventBell()
{
    ::close(m_file);
}

void EventBell::ring() const
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(m_file, &one, sizeof one);
}

void EventBell::silence() const
{
    std::uint64_t rung = 0;
    [[maybe_unused]] const ssize_t n = ::read(m_file, &rung, sizeof rung);
}

} // namespace lathe
