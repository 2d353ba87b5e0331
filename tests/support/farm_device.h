#pragma once

#include "core/broker/connection.h"
#include "core/serve/farm_runner.h"
#include "core/wire/process_port.h"

#include <memory>
#include <string>
#include <thread>

namespace lathe::test {

/// A device of this process, which a thread offers at a broker as lathe-runner does.
class FarmDevice
{
public:
    FarmDevice(const std::string& broker, serve::FarmRunnerOptions options)
        : m_options(std::move(options))
    {
        m_thread = std::jthread([this, broker](std::stop_token stop) {
            if (auto connection = broker::Connection::open({broker}))
                (void)serve::runOnFarm(
                    *connection,
                    [] { return std::make_unique<wire::ProcessPort>(wire::WorkerProgram{"lathe-runner"}); }, m_options,
                    stop);
        });
    }

private:
    serve::FarmRunnerOptions m_options;
    std::jthread m_thread; ///< ends first
};

} // namespace lathe::test
