#include "app/cli/head_start.h"

#include "app/cli/command.h"
#include "core/search/head_start_file.h"
#include "core/session/head_start.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

struct HeadStartArguments
{
    session::MakeHeadStart make;
    std::string file, output;
    bool json = false;
};

Result<> make(const HeadStartArguments& a)
{
    LATHE_TRY_ASSIGN(
        const auto report,
        session::makeHeadStart(a.make, a.output, [](std::string_view step) { fmt::print(stderr, "{}\n", step); }, {}));
    print("{}: {}, {}, {} trials as training data, {} bytes\n", a.output, counted(report.tasks, "task|tasks"),
          counted(report.candidates, "candidate|candidates"), report.rows, report.bytes);
    for (const std::string& task : report.leftOut)
        print("left out: {}\n", task);
    for (const auto& [reason, count] : report.skipped)
        print("{} skipped: {}\n", counted(count, "trial|trials"), reason);
    return {};
}

} // namespace

Result<> showHeadStart(const std::string& file, bool asJson)
{
    LATHE_TRY_ASSIGN(const session::HeadStartBytes read, session::loadHeadStart(file));
    auto contents = search::readHeadStart(read.bytes);
    if (!contents)
        return std::move(contents).error().note(file);
    const search::HeadStart& headStart = *contents;
    const auto usable = search::checkFeatures(headStart);
    if (asJson) {
        nlohmann::json tasks = nlohmann::json::array();
        for (const auto& task : headStart.tasks)
            tasks.push_back(
                {{"key", task.key},
                 {"name", task.name},
                 {"network", task.network},
                 {"target", task.target},
                 {"device", task.device},
                 {"candidates", task.seeds.size()},
                 {"rows", task.costs.size()},
                 {"best_ms", task.seeds.empty() ? nlohmann::json() : nlohmann::json(task.seeds.front().ns * 1e-6)}});
        const nlohmann::json object = {{"file", file},
                                       {"hash", read.hash},
                                       {"bytes", read.bytes.size()},
                                       {"features", headStart.features},
                                       {"usable", usable.has_value()},
                                       {"without", headStart.without},
                                       {"candidates", headStart.seeds()},
                                       {"rows", headStart.rows()},
                                       {"tasks", tasks}};
        print("{}\n", object.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    print("{}: {}, {}, {} trials as training data, {} bytes, {}\n", file, counted(headStart.tasks.size(), "task|tasks"),
          counted(headStart.seeds(), "candidate|candidates"), headStart.rows(), read.bytes.size(), read.hash);
    for (const auto& task : headStart.tasks)
        print("{:<24} {:<44} {:>10} {:>4} candidates {:>4} trials  {}, {}\n", task.network, task.name,
              task.seeds.empty() ? "" : fmt::format("{:.4f} ms", task.seeds.front().ns * 1e-6), task.seeds.size(),
              task.costs.size(), task.target, task.device);
    for (const std::string& network : headStart.without)
        print("contains no task of {}\n", network);
    if (!usable)
        print("{}\n", usable.error().message);
    return {};
}

void addHeadStart(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<HeadStartArguments>();
    CLI::App* headStart = app.add_subcommand("head-start",
                                             "Make or show head starts, from which the tuning of new networks starts");
    headStart->require_subcommand(1);
    CLI::App* making = headStart->add_subcommand("make", "Make a head start from the records of projects");
    making->add_option("PROJECT", arguments->make.projects, "Project file, P.lathe")->required();
    making->add_option("-o,--output", arguments->output, "Head start to write, FILE.headstart")->required();
    making->add_option("--without", arguments->make.without,
                       "Exclude all tasks of these models (zoo:NAME, FILE.onnx) or projects");
    making
        ->add_option("--candidates", arguments->make.candidates,
                     "Maximum number of candidates per task, besides the best of each further algorithm")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    making
        ->add_option("--rows", arguments->make.rows, "Maximum number of trials per task that are kept as training data")
        ->check(CLI::Range(0, 4096))
        ->capture_default_str();
    making->callback([arguments, &run] { run = [arguments] { return make(*arguments); }; });
    CLI::App* showing = headStart->add_subcommand("show", "Show the contents of a head start");
    showing->add_option("FILE", arguments->file, "Head start, FILE.headstart")->required();
    showing->add_flag("--json", arguments->json, "Print one JSON object");
    showing->callback(
        [arguments, &run] { run = [arguments] { return showHeadStart(arguments->file, arguments->json); }; });
}

} // namespace lathe::cli
