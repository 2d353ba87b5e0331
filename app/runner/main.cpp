#include "core/serve/runner_loop.h"
#include "core/support/files.h"
#include "core/wire/pipe_channel.h"

#include <csignal>
#include <cstdio>

/// Measures kernels for the program that started it, over standard input and output.
int main(int argc, char**)
{
    if (argc > 1) {
        std::fputs("lathe-runner takes no arguments: lathe and lathe-cli start it\n", stderr);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    const lathe::wire::StandardStreams streams = lathe::wire::claimStandardStreams();
    return lathe::serve::runRunner({lathe::pluginDir(), streams.input, streams.output});
}
