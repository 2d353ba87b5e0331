#include "app/cli/command.h"
#include "app/cli/head_start.h"
#include "core/session/back_ends.h"
#include "core/session/head_start.h"
#include "core/session/packages.h"
#include "core/target/target.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lathe::cli {

namespace {

struct PackageArguments
{
    std::vector<std::string> files;
    std::string output, target = kDefaultTarget, device, project;
    bool json = false;
};

std::string dateOf(std::int64_t ms)
{
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(ms / 1000)));
}

nlohmann::json toJson(const session::Package& package)
{
    nlohmann::json sources = nlohmann::json::array(), records = nlohmann::json::array();
    for (const session::PackageSource& source : package.sources)
        sources.push_back(
            {{"model", source.model}, {"hash", source.hash}, {"project", source.project}, {"tasks", source.tasks}});
    for (std::size_t i = 0; i < package.records.size(); ++i)
        records.push_back({{"task", package.taskNames[i]},
                           {"cost_ms", package.records[i].result.meanNs() * 1e-6},
                           {"sketch", package.records[i].candidate.sketch},
                           {"trial", package.records[i].trial}});
    return {{"target", package.target},     {"device_key", package.deviceKey}, {"device", package.deviceName},
            {"made_ms", package.madeMs},    {"build", package.build},          {"sources", std::move(sources)},
            {"records", std::move(records)}};
}

void printPackage(const session::Package& package)
{
    print("for {}, measured by {} ({}), made on {}\n", package.target,
          package.deviceName.empty() ? "a device without a name" : package.deviceName, package.deviceKey,
          dateOf(package.madeMs));
    for (const session::PackageSource& source : package.sources)
        print("  {} of {}: {}\n", counted(source.tasks, "task|tasks"), source.model, source.project);
    for (std::size_t i = 0; i < package.records.size(); ++i)
        print("{:>10} ms  {}  {}\n", latency(package.records[i].result.meanNs() * 1e-6), package.taskNames[i],
              package.records[i].candidate.sketch);
}

Result<> makeOne(const PackageArguments& a)
{
    LATHE_TRY_ASSIGN(const Target target, session::parseTarget(a.target));
    const std::vector<std::filesystem::path> projects(a.files.begin(), a.files.end());
    LATHE_TRY_ASSIGN(const session::Package package, session::collectPackage(projects, target.text(), a.device));
    LATHE_TRY(session::writePackage(package, a.output));
    if (a.json)
        print("{}\n", toJson(package).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    else
        print("{} written to {}; compile uses it with --package {}, or unasked once it lies in {}\n",
              counted(package.records.size(), "record|records"), a.output, a.output, session::packageFolder().string());
    return {};
}

/// What this machine has: packages, and head starts, which are packages for tuning instead of compiling.
Result<> showInstalled(bool asJson)
{
    const auto packages = session::installedPackages();
    const auto headStarts = session::installedHeadStarts();
    if (asJson) {
        nlohmann::json all = nlohmann::json::array(), starts = nlohmann::json::array();
        for (const auto& [file, package] : packages)
            all.push_back({{"file", file.string()},
                           {"package", package ? toJson(*package) : nlohmann::json()},
                           {"problem", package ? "" : package.error().message}});
        for (const std::filesystem::path& file : headStarts)
            starts.push_back(file.string());
        print("{}\n", nlohmann::json{{"packages", all}, {"head_starts", starts}}.dump(
                          2, ' ', false, nlohmann::json::error_handler_t::replace));
        return {};
    }
    for (const auto& [file, package] : packages)
        if (package)
            print("{}: {} for {}, measured by {}, made on {}\n", file.string(),
                  counted(package->records.size(), "record|records"), package->target, package->deviceName,
                  dateOf(package->madeMs));
        else
            print("{}\n", package.error().message);
    for (const std::filesystem::path& file : headStarts)
        print("{}: head start, from which the tuning of new networks starts\n", file.string());
    if (packages.empty())
        print("no packages in {}\n", session::packageFolder().string());
    return {};
}

Result<> showPackages(const PackageArguments& a)
{
    if (a.files.empty())
        return showInstalled(a.json);
    for (const std::string& file : a.files) {
        if (file.ends_with(".headstart")) {
            LATHE_TRY(showHeadStart(file, a.json));
            continue;
        }
        LATHE_TRY_ASSIGN(const session::Package package, session::readPackage(file));
        if (a.json)
            print("{}\n", toJson(package).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        else
            printPackage(package);
    }
    return {};
}

Result<> addToProject(const PackageArguments& a)
{
    if (std::error_code ignored; !std::filesystem::exists(a.project, ignored))
        return makeError(Errc::NotFound, fmt::format("there is no project {}", a.project));
    for (const std::string& file : a.files) {
        LATHE_TRY_ASSIGN(const session::Package package, session::readPackage(file));
        LATHE_TRY_ASSIGN(store::Project project, store::Project::open(a.project, store::Project::Access::Write));
        if (project.readOnly())
            return project.readOnlyError();
        LATHE_TRY_ASSIGN(const std::int64_t added, session::addPackage(package, project));
        print("{} of {} added from {}: no export uses them before lathe-cli records remeasure {} --imported measured "
              "them here\n",
              added, counted(package.records.size(), "record|records"), file, a.project);
    }
    return {};
}

} // namespace

void addPackages(CLI::App& app, Action& run)
{
    auto arguments = std::make_shared<PackageArguments>();
    CLI::App* packages = app.add_subcommand("package",
                                            "The best records of several networks for a target, in one file");
    packages->require_subcommand(1);
    const auto sub = [&](const char* name, const char* text, const char* what, auto body, bool filesNeeded = true) {
        CLI::App* command = packages->add_subcommand(name, text);
        command->add_option("FILE", arguments->files, what)->required(filesNeeded)->expected(filesNeeded ? 1 : 0, 100);
        command->callback([arguments, body, &run] { run = [arguments, body] { return body(*arguments); }; });
        return command;
    };
    CLI::App* making = sub("make", "Collect the best verified records of projects", "Project files, P.lathe", makeOne);
    making->add_option("-o,--output", arguments->output, "Package to write, NAME.lathepackage")->required();
    making->add_option("--target", arguments->target, "Target whose records are collected")->capture_default_str();
    making->add_option("--device", arguments->device,
                       "Device key whose records are collected (default: the one that has most tasks)");
    making->add_flag("--json", arguments->json, "Print one JSON object");
    sub("show", "List what packages hold and where it comes from",
        "Packages or head starts (default: list those of this machine)", showPackages, false)
        ->add_flag("--json", arguments->json, "Print one JSON object");
    sub("add", "Add the records for tasks of a project to it", "Packages", addToProject)
        ->add_option("--project", arguments->project, "Project file, P.lathe")
        ->required();
}

} // namespace lathe::cli
