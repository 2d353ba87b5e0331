#include "core/backend/builder_loop.h"
#include "core/support/files.h"
#include "core/support/log.h"
#include "core/wire/pipe_channel.h"
#include "plugins/sim/fault_script.h"
#include "tests/support/builder/plant.h"

#include <csignal>
#include <cstdlib>

using namespace lathe;

namespace {

Result<sim::FaultScript> readFaults()
{
    const char* const file = std::getenv("LATHE_PLANT_FAULTS");
    if (file == nullptr)
        return sim::FaultScript();
    LATHE_TRY_ASSIGN(const std::string text, readFile(file, 16 << 20));
    return sim::FaultScript::parse(text);
}

} // namespace

/// lathe-builder for tests, which is never installed: what it builds is wrong where the environment says so.
///   LATHE_PLANT_FAULTS=FILE   faults by trial, see plugins/sim/fault_script.h
///   LATHE_PLANT_MALFORMED=1   every nest reaches the generator malformed, as a faulty rewrite would leave it
int main()
{
    std::signal(SIGPIPE, SIG_IGN);
    const wire::StandardStreams streams = wire::claimStandardStreams();
    const auto faults = readFaults();
    if (!faults) {
        log(LogLevel::Error, "builder", faults.error().message);
        return 1;
    }
    const bool malformed = std::getenv("LATHE_PLANT_MALFORMED") != nullptr;
    const auto spoil = [&](schedule::LoweredKernel& kernel) -> Result<> {
        const sim::Fault fault = faults->decide(kernel.nest.name).fault;
        LATHE_TRY(sim::actBuildFault(fault));
        test::plantFault(kernel, fault);
        if (malformed)
            test::plantMalformed(kernel);
        return {};
    };
    return backend::runBuilder({pluginDir(), streams.input, streams.output, spoil});
}
