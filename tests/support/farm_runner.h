#pragma once

#include "core/support/files.h"
#include "core/support/subprocess.h"

#include <string>
#include <vector>

namespace lathe::test {

/// The lathe-runner of this build, which offers this machine's devices at a broker until it is killed with its owner.
class FarmRunner
{
public:
    static Result<FarmRunner> start(const std::string& broker, const std::string& key, const std::string& name,
                                    std::vector<std::string> more = {})
    {
        SubprocessOptions options;
        LATHE_TRY_ASSIGN(options.program, findProgram("lathe-runner"));
        options.arguments = {"--broker", broker, "--key", key, "--name", name};
        options.arguments.insert(options.arguments.end(), more.begin(), more.end());
        options.pipeOutput = false;
        options.pipeErrors = false;
        FarmRunner runner;
        LATHE_TRY_ASSIGN(runner.m_process, Subprocess::start(options));
        return runner;
    }

    void kill() { m_process.kill(); } ///< as a power failure does
    void signal(int number) const { m_process.signalGroup(number); } ///< SIGSTOP: it hangs
    /// As a shutdown does. Nothing: it did not end.
    std::optional<ProcessExit> stop()
    {
        m_process.signalGroup(SIGTERM);
        return m_process.wait(Deadline::inSeconds(30));
    }

private:
    Subprocess m_process;
};

} // namespace lathe::test
