#pragma once

#include "app/cli/output.h"
#include "core/session/session.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>

namespace lathe::cli {

/// What a command does once its words are parsed. Errors become one sentence on standard error and exit code 1.
using Action = std::function<Result<>()>;

/// MODEL and the options that are taken wherever MODEL stands.
struct ModelArguments
{
    std::string model;
    std::string target; ///< empty: the project's latest, else cpu
    std::string project;
    std::int64_t batch = 0;
    std::vector<std::string> shapes; ///< IN=1,3,224,224
    std::string layout;
    std::string partition = "lathe";
    std::string hardware;
    std::uint64_t weightSeed = 0;

    void addTo(CLI::App& command, bool modelRequired);
    Result<session::OpenOptions> openOptions() const;
};

// Each adds its subcommand to `app`; `run` is set when that subcommand was chosen.
void addTasks(CLI::App& app, Action& run);
void addTune(CLI::App& app, Action& run);
void addCompile(CLI::App& app, Action& run);
void addRun(CLI::App& app, Action& run);
void addBench(CLI::App& app, Action& run);
void addVerify(CLI::App& app, Action& run);
void addRecords(CLI::App& app, Action& run);
void addCompare(CLI::App& app, Action& run);
void addGate(CLI::App& app, Action& run);
void addBudget(CLI::App& app, Action& run);
void addReplay(CLI::App& app, Action& run);
void addReport(CLI::App& app, Action& run);
void addRoofline(CLI::App& app, Action& run);
void addHeadStart(CLI::App& app, Action& run);
void addZoo(CLI::App& app, Action& run);
void addDevices(CLI::App& app, Action& run);

/// What --strict leaves out. Reductions are split and unrolled in any case, as in every compiled kernel.
inline constexpr const char* kStrictHelp = "No algorithm that trades accuracy for speed: convolutions are summed directly, never by winograd";

/// Remarks for people, on standard error.
void printNotices(const std::vector<Message>& notices);

/// "90", "90s", "20m", "1.5h" in seconds.
Result<double> parseDuration(std::string_view text);

} // namespace lathe::cli
