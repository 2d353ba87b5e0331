#pragma once

#include "core/measure/types.h"
#include "core/support/deadline.h"
#include "core/support/subprocess.h"
#include "core/wire/connection.h"

#include <optional>
#include <string>
#include <unordered_set>

namespace lathe::wire {
class Message;
}

namespace lathe::measure {

/// A builder or runner process: started when needed, greeted, fed, killed. It knows nothing of what it works on.
class Worker
{
public:
    enum class Kind : std::uint8_t
    {
        Builder,
        Runner
    };
    /// @param device  what a runner opens; nothing: none
    Worker(Kind kind, WorkerPrograms programs, std::optional<DeviceSpec> device = {});

    /// Starts the process if none is alive, exchanges hellos, opens the device; again where somebody kills it
    /// meanwhile. Errors: NotFound, Incompatible, those of the device, WorkerCrashed, RunTimeout.
    Result<> ensureStarted();
    /// Kills the process group, if there is one. What it said on standard error stays until the next start.
    ProcessExit stop();
    bool started() const { return m_process.running(); }
    /// Requests since the process was started.
    std::uint32_t served() const { return m_served; }
    void countRequest() { ++m_served; }

    wire::Connection& connection() { return *m_connection; }
    const Subprocess& process() const { return m_process; }
    /// Sends a blob unless this process has it.
    void offerBlob(const Hash128& hash, std::string_view bytes);
    void forgetBlob(const Hash128& hash) { m_sent.erase(hash); }

    /// Reads what is on standard error, keeping the end of it.
    void drainErrors();
    std::string takeErrors();
    /// How it ended, once it did; kills it if its streams ended before it.
    ProcessExit reap();
    /// Waits for a message that is no progress note. Errors: WorkerCrashed (with signal and last words), RunTimeout.
    Result<wire::Message> receive(Deadline deadline);

    bool killed() const { return m_killed; } ///< from outside, while receive() waited for it last

    const DeviceIdentity& identity() const { return m_identity; } ///< of the device that it opened last

private:
    Result<> startOnce();
    Result<> greet();
    Result<> openDevice();

    Kind m_kind;
    WorkerPrograms m_programs;
    std::optional<DeviceSpec> m_device;
    Subprocess m_process;
    std::optional<wire::Connection> m_connection;
    std::unordered_set<Hash128> m_sent;
    std::string m_errors;
    DeviceIdentity m_identity;
    std::uint32_t m_served = 0;
    bool m_killed = false;
};

/// SIGPIPE would end the program that holds the project when a worker dies; ignored once, from the first worker on.
void ignoreBrokenPipes();

} // namespace lathe::measure
