#include "app/cli/command.h"
#include "app/cli/verdict_text.h"
#include "core/support/message.h"

#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

struct GainArguments
{
    std::string project, target;
    bool json = false;
};

Result<> showGain(const GainArguments& arguments)
{
    session::OpenOptions options;
    options.project = arguments.project;
    options.target = arguments.target;
    if (!std::filesystem::exists(options.project)) // opening would begin one
        return makeError(Errc::NotFound, say(Msg::NoProjectFile, arguments.project));
    LATHE_TRY_ASSIGN(const auto session, session::TuningSession::open(options));
    LATHE_TRY_ASSIGN(const session::VerdictEvent verdict, session->project()->measureAgain({}));
    if (arguments.json)
        print("{}\n", verdictJson(verdict).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else
        print("{}", verdictText(verdict));
    return {};
}

} // namespace

void addGain(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<GainArguments>();
    CLI::App* command = app.add_subcommand(
        "gain", "Time a tuned network and the same one with default schedules in turn: how much faster it is, and "
                "whether that is reliable");
    command->add_option("PROJECT", arguments->project, "Project file, P.lathe")->required();
    command->add_option("--target", arguments->target, "Target (default: what the project was last tuned for)");
    command->add_flag("--json", arguments->json, "Print one JSON object");
    command->callback([arguments, &run] { run = [arguments] { return showGain(*arguments); }; });
}

} // namespace lathe::cli
