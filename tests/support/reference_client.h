#pragma once

#include "tests/support/nats_server.h"

#include <sys/time.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace lathe::test {

/// A script or server of TVM's, as TVM's tracker sees it. Waits at most a minute for each answer.
class ReferenceClient
{
public:
    /// @param greets  says who it is at once, and is greeted
    explicit ReferenceClient(int port, bool greets = true)
        : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        const timeval patience = {60, 0};
        ::setsockopt(m_socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(m_socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        sockaddr_in there = {};
        there.sin_family = AF_INET;
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        there.sin_port = htons(static_cast<std::uint16_t>(port));
        m_isThere = ::connect(m_socket, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
        if (m_isThere && greets) {
            const std::string greeting("\x71\xF2\x02\x00", 4);
            send(greeting);
            m_isThere = receive(4) == greeting;
        }
    }
    ~ReferenceClient() { ::close(m_socket); }
    ReferenceClient(const ReferenceClient&) = delete;
    ReferenceClient& operator=(const ReferenceClient&) = delete;

    bool isThere() const { return m_isThere; } ///< the tracker lets it in
    void send(std::string_view bytes) const { (void)::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
    /// As much as goes without waiting.
    bool sendNow(std::string_view bytes) const
    {
        return ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)
               == static_cast<ssize_t>(bytes.size());
    }
    static std::string frame(const std::string& text)
    {
        std::string bytes;
        for (std::size_t i = 0; i < 4; ++i)
            bytes.push_back(static_cast<char>(text.size() >> (8 * i) & 0xFF));
        return bytes + text;
    }
    /// The next answer; "closed": there is none.
    std::string answer() const
    {
        const std::string length = receive(4);
        std::size_t size = 0;
        for (std::size_t i = 0; i < length.size(); ++i)
            size |= std::size_t(static_cast<unsigned char>(length[i])) << (8 * i);
        return length.size() == 4 ? receive(size) : "closed";
    }
    std::string ask(const std::string& text) const
    {
        send(frame(text));
        return answer();
    }
    /// Nothing is to be read, and it was not closed.
    bool hearsNothing() const
    {
        char byte;
        return ::recv(m_socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
    }
    /// By the other side; what it said before is not looked at.
    bool isClosed() const
    {
        char byte;
        const ssize_t count = ::recv(m_socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    }

private:
    std::string receive(std::size_t bytes) const
    {
        std::string all(bytes, '\0');
        std::size_t at = 0;
        while (at < bytes) {
            const ssize_t count = ::recv(m_socket, all.data() + at, bytes - at, 0);
            if (count <= 0)
                break;
            at += static_cast<std::size_t>(count);
        }
        return all.substr(0, at);
    }

    int m_socket;
    bool m_isThere = false;
};

} // namespace lathe::test
