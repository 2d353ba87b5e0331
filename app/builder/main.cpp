#include "core/backend/builder_loop.h"
#include "core/support/files.h"
#include "core/wire/connection.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

/// Generates code for the program that started it, over standard input and output.
/// LATHE_PLANT_FAULTS=FILE (tests): faults planted in what it builds, see core/backend/fault_script.h.
int main(int argc, char**)
{
    if (argc > 1) {
        std::fputs("lathe-builder takes no arguments: lathe and lathe-cli start it\n", stderr);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    const lathe::wire::StandardStreams streams = lathe::wire::claimStandardStreams();
    lathe::backend::BuilderOptions options{lathe::pluginDir(), streams.input, streams.output, {}};
    if (const char* script = std::getenv("LATHE_PLANT_FAULTS"))
        options.faultScript = script;
    return lathe::backend::runBuilder(options);
}
