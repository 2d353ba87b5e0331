#pragma once

#include "core/support/subprocess.h"
#include "core/wire/pipe_channel.h"
#include "core/wire/port.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lathe::wire {

struct WorkerProgram
{
    std::string name; ///< "lathe-runner"
    std::filesystem::path path = {}; ///< empty: the one of that name beside this program
    std::vector<std::pair<std::string, std::string>> environment = {}; ///< on top of our own
};

/// A worker process of this machine. It knows nothing of what that works on.
class ProcessPort : public Port
{
public:
    explicit ProcessPort(WorkerProgram program);

    Result<> open() override;
    Channel* channel() override { return m_channel ? &*m_channel : nullptr; }
    Result<> pump() override;
    void watch(std::vector<pollfd>& fds) const override;
    /// Kills the process group.
    PortEnd close(const Error& why) override;
    bool gone() override;
    void suspend(bool suspended) override;
    std::string name() const override { return m_program.name; }

private:
    void drainErrors();
    std::string takeErrors();

    WorkerProgram m_program;
    Subprocess m_process;
    std::optional<PipeChannel> m_channel;
    std::string m_errors; ///< the end of what it said
};

} // namespace lathe::wire
