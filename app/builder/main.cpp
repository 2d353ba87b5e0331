#include "core/backend/builder_loop.h"
#include "core/support/files.h"
#include "core/wire/pipe_channel.h"

#include <csignal>
#include <cstdio>

/// Generates code for the program that started it, over standard input and output.
int main(int argc, char**)
{
    if (argc > 1) {
        std::fputs("lathe-builder takes no arguments: lathe and lathe-cli start it\n", stderr);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    const lathe::wire::StandardStreams streams = lathe::wire::claimStandardStreams();
    return lathe::backend::runBuilder({lathe::pluginDir(), streams.input, streams.output, {}});
}
