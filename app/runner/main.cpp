#include "app/runner/farm.h"
#include "core/serve/runner_loop.h"
#include "core/support/files.h"
#include "core/wire/pipe_channel.h"

#include <csignal>
#include <cstdio>

namespace {

int fail(const lathe::Error& error, int status)
{
    std::fprintf(stderr, "lathe-runner: %s\n", error.message.c_str());
    return status;
}

} // namespace

/// Measures kernels: without arguments for the program that started it, over standard input and output; else for those
/// who ask at a broker.
int main(int argc, char** argv)
{
    std::signal(SIGPIPE, SIG_IGN);
    if (argc == 1) {
        const lathe::wire::StandardStreams streams = lathe::wire::claimStandardStreams();
        return lathe::serve::runRunner({lathe::pluginDir(), streams.input, streams.output});
    }
    auto words = lathe::runner::readWords({argv + 1, argv + argc});
    if (!words)
        return fail(words.error(), 2);
    if (words->help || words->version) {
        std::fputs(words->help ? lathe::runner::kHelp : "lathe-runner " LATHE_VERSION "\n", stdout);
        return 0;
    }
    const lathe::Result<> ended = lathe::runner::offerDevices(*std::move(words));
    return ended ? 0 : fail(ended.error(), 1);
}
