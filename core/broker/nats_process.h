#pragma once

#include "core/support/message.h"
#include "core/support/result.h"
#include "core/support/subprocess.h"

#include <poll.h>

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace lathe::broker {

/// A nats-server of ours. It ends with this object, and with the thread that started it. Threads: one.
class NatsProcess
{
public:
    /// In PATH, else where Debian has it. Errors: NotFound (NatsServerMissing).
    static Result<std::filesystem::path> findServer();
    /// Returns when it listens. Errors: those of Subprocess::start(), WorkerCrashed (it ended: its last words say why),
    /// RunTimeout (it does not listen), Cancelled.
    /// @param where  for the sentence about a server that does not listen
    static Result<NatsProcess> start(const std::filesystem::path& server, const std::filesystem::path& config,
                                     const std::string& where, std::stop_token stop);
    ~NatsProcess();
    NatsProcess(NatsProcess&&) = default;
    NatsProcess& operator=(NatsProcess&&) = delete;

    pid_t pid() const { return m_process.pid(); }
    /// Readable when it said something, or ended.
    pollfd watched() const { return {m_process.errors(), POLLIN, 0}; }
    /// Takes what it said. Then: why it ended; nothing while it runs.
    std::optional<Message> turn();
    /// It reads its configuration again, and keeps all connections of those whom it still lets in.
    void reload();
    /// It could not: what it goes by is the configuration before.
    bool refusedReload() const { return m_refusedReload; }
    void kill() { m_process.kill(); }

private:
    explicit NatsProcess(Subprocess process)
        : m_process(std::move(process))
    {
    }
    void hear();
    void take(std::string_view line);

    Subprocess m_process;
    std::string m_line; ///< that is not complete yet
    std::string m_lastWords; ///< of failures
    bool m_listens = false, m_refusedReload = false;
};

} // namespace lathe::broker
