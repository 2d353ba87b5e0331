#include "core/serve/machine_lock.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>

namespace lathe::serve {

std::optional<MachineLock> MachineLock::tryTake(std::string_view name)
{
    OpenFile socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    name = name.substr(0, sizeof address.sun_path - 1);
    std::ranges::copy(name, address.sun_path + 1); // behind a zero: an abstract one
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (socket.get() < 0 || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
        return std::nullopt;
    return MachineLock(std::move(socket));
}

bool MeasuringTurn::tryTake()
{
    if (m_measuring)
        return true;
    if (!m_next)
        m_next = MachineLock::tryTake("lathe-measures-next");
    if (m_next)
        m_measuring = MachineLock::tryTake("lathe-measures");
    if (m_measuring)
        m_next.reset();
    return m_measuring.has_value();
}

void MeasuringTurn::give()
{
    m_next.reset();
    m_measuring.reset();
}

} // namespace lathe::serve
