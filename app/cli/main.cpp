#include "app/cli/command.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

/// Whether the subcommand that was chosen has --json among its words.
bool wantsJson(const CLI::App& app)
{
    for (const CLI::App* command : app.get_subcommands()) {
        const CLI::Option* option = command->get_option_no_throw("--json");
        if ((option != nullptr && option->count() > 0) || wantsJson(*command))
            return true;
    }
    return false;
}

} // namespace

int main(int argc, char** argv)
{
    using namespace lathe;
    std::signal(SIGPIPE, SIG_IGN); // a reader that goes away shows where we write
    std::signal(SIGXFSZ,
                SIG_IGN); // a limit on the sizes of files is met like a full disk: the write fails, with a sentence
    CLI::App app("Lathe tunes neural networks for the device they will run on.", "lathe-cli");
    cli::Action run;
    cli::addCommands(app, run);
    // "lathe-cli help tune" is "lathe-cli tune --help".
    std::vector<const char*> words(argv, argv + argc);
    if (argc > 1 && std::string_view(words[1]) == "help") {
        words.erase(words.begin() + 1);
        words.push_back("--help");
    }
    CLI11_PARSE(app, static_cast<int>(words.size()), words.data());

    auto result = run();
    if (!result && wantsJson(app) && !cli::outputUsed())
        cli::print("{}\n", nlohmann::json({{"code", toString(result.error().code)}, {"text", result.error().message}})
                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    if (auto flushed = cli::flushOutput(); result)
        result = std::move(flushed);
    if (!result) {
        std::fprintf(stderr, "lathe-cli: %s\n", result.error().message.c_str());
        return 1;
    }
    return cli::outputClosed() ? 128 + SIGPIPE : 0;
}
