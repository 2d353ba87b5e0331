#pragma once

#include "core/measure/port.h"
#include "core/measure/types.h"
#include "core/support/subprocess.h"
#include "core/wire/pipe_channel.h"

#include <sys/types.h>

#include <optional>
#include <string>

namespace lathe::measure {

enum class WorkerKind : std::uint8_t
{
    Builder,
    Runner
};

/// A builder or runner process of this machine. It knows nothing of what that works on.
class ProcessPort : public Port
{
public:
    ProcessPort(WorkerKind kind, WorkerPrograms programs);

    Result<> open() override;
    wire::Channel* channel() override { return m_channel ? &*m_channel : nullptr; }
    Result<> pump() override;
    void watch(std::vector<pollfd>& fds) const override;
    /// Kills the process group.
    PortEnd close(const Error& why) override;
    bool gone() override;
    void suspend(bool suspended) override;
    std::string name() const override;

    pid_t pid() const { return m_process.pid(); }

private:
    void drainErrors();
    std::string takeErrors();

    WorkerKind m_kind;
    WorkerPrograms m_programs;
    Subprocess m_process;
    std::optional<wire::PipeChannel> m_channel;
    std::string m_errors; ///< the end of what it said
};

} // namespace lathe::measure
