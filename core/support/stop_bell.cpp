#include "core/support/stop_bell.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace lathe {

StopBell::EventFile::EventFile()
    : fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

StopBell::EventFile::~EventFile()
{
    ::close(fd);
}

void StopBell::Ring::operator()() const
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
}

StopBell::StopBell(std::stop_token stop)
    : m_callback(std::move(stop), Ring{m_file.fd})
{
}

} // namespace lathe
