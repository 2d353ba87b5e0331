#pragma once

#include "core/support/files.h"
#include "core/support/subprocess.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace lathe::test {

/// A NATS server on a port of its own, which is killed with its owner.
class NatsServer
{
public:
    NatsServer()
        : m_port(freePort())
    {
    }

    std::string url() const { return "nats://127.0.0.1:" + std::to_string(m_port); }
    int port() const { return m_port; }
    /// On the same port, if it was started before. @param config  a file of its own; empty: everybody may do everything
    Result<> start(const std::filesystem::path& config = {})
    {
        SubprocessOptions options;
        options.program = "/usr/sbin/nats-server";
        if (!std::filesystem::exists(options.program))
            options.program = "/usr/bin/nats-server";
        options.arguments = {"--addr", "127.0.0.1", "--port", std::to_string(m_port), "--log", "/dev/null"};
        if (!config.empty())
            options.arguments = {"--config", config.string(), "--log", "/dev/null"};
        options.pipeOutput = false;
        options.pipeErrors = false;
        LATHE_TRY_ASSIGN(m_process, Subprocess::start(options));
        for (const Deadline end = Deadline::inSeconds(10); !end.passed(); ::usleep(10'000))
            if (answers())
                return {};
        return makeError(Errc::RunTimeout, "nats-server does not answer");
    }
    void kill() { m_process.kill(); }
    pid_t pid() const { return m_process.pid(); }

private:
    static sockaddr_in address(int port)
    {
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        return address;
    }
    static int freePort()
    {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in any = address(0);
        socklen_t size = sizeof any;
        ::bind(fd, reinterpret_cast<sockaddr*>(&any), size);
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size);
        ::close(fd);
        return ntohs(any.sin_port);
    }
    bool answers() const
    {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_in there = address(m_port);
        const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
        ::close(fd);
        return connected;
    }

    int m_port;
    Subprocess m_process;
};

} // namespace lathe::test
