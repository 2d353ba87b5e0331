#pragma once

#include "app/cli/option_arguments.h"
#include "app/cli/output.h"
#include "core/session/session.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>

namespace lathe::cli {

/// What a command does once its words are parsed. Errors become one sentence on standard error and exit code 1.
using Action = std::function<Result<>()>;

/// MODEL and the options that are taken wherever MODEL stands.
class ModelArguments
{
public:
    void addTo(CLI::App& command, bool modelRequired);
    /// Errors: InvalidArgument, also for more than one target where `severalTargets` does not allow that.
    Result<session::OpenOptions> openOptions(bool severalTargets = false) const;

    const std::string& source() const { return m_model.values.source; } ///< MODEL
    void setSource(std::string source) { m_model.values.source = std::move(source); }
    const std::string& target() const { return m_open.values.target; } ///< empty: the project's latest, else cpu

private:
    OptionArguments<session::ModelSpec> m_model;
    OptionArguments<session::OpenOptions> m_open;
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
void addPackages(CLI::App& app, Action& run);
void addGraphTune(CLI::App& app, Action& run);
void addLogs(CLI::App& app, Action& run);
void addBudget(CLI::App& app, Action& run);
void addReplay(CLI::App& app, Action& run);
void addGain(CLI::App& app, Action& run);
void addReport(CLI::App& app, Action& run);
void addRoofline(CLI::App& app, Action& run);
void addWeights(CLI::App& app, Action& run);
void addHeadStart(CLI::App& app, Action& run);
void addZoo(CLI::App& app, Action& run);
void addDevices(CLI::App& app, Action& run);
void addTracker(CLI::App& app, Action& run);

/// All of them, and the flags of the program itself.
void addCommands(CLI::App& app, Action& run);

/// Sizes that were chosen for what the model leaves open, a row each, as JSON.
nlohmann::json inputSizes(const session::TuningSession& session);
/// The same for people: "input sizes  batch = 1, height = 640"; nothing where all is fixed.
void printInputSizes(const session::TuningSession& session);

/// Remarks for people, on standard error.
void printNotices(const std::vector<Message>& notices);

} // namespace lathe::cli
