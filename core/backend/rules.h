#pragma once

#include "core/compute/dag.h"
#include "core/schedule/step.h"
#include "core/support/result.h"
#include "core/target/kinds.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::backend {

/// A schedule made without measuring, for the DAG of one alternative; `constantInputs` has one entry per Dag::inputs
/// (weights, which may be packed ahead of time). Errors: Unsupported or IllegalSchedule, it has none for this DAG: then
/// plain loops serve.
using DefaultSchedule = std::function<Result<std::vector<schedule::Step>>(
    const compute::DagPtr& dag, const std::vector<bool>& constantInputs, const Target& target,
    const Hardware& hardware)>;

/// How a back end describes itself: the `rules` half of its plugin. It contains no compiler and
/// no driver. The traits of its targets (BackendTraits) decide about everything that is left out here.
struct BackendRules
{
    TargetKind kind;
    /// What runs where nothing was tuned. Null: a policy's first guess (core/policy/default_candidate.h).
    DefaultSchedule defaultSchedule;
    /// Names of the policies that make sense for its targets. Empty: all that have rules for them.
    std::vector<std::string> policies;
    /// Limits of which a device must have as much as the target's presets say, where both say it: what has less does
    /// not run the target's code.
    std::vector<std::string> needs = {};
};

using BackendRulesPtr = std::shared_ptr<const BackendRules>;

/// Makes a kind known to Target::parse(), or replaces what is known of it. Any thread.
void addRules(BackendRules rules);
/// The rules that a plugin or a test added for the target's kind; null: there are none, only a TargetKind. Any thread.
BackendRulesPtr rulesOf(const Target& target);

/// What a rules half exports, C++ against the shared core and taken only if the build id is equal (codegen.h):
///     extern "C" const lathe::backend::RulesPlugin* lathe_backend_rules();
struct RulesPlugin
{
    const char* buildId; ///< of backend::buildId(), first, so that it can be read whatever follows
    const char* kind; ///< of its file, PLUGINDIR/<kind>_rules.so, and of what `describe` says
    void (*describe)(BackendRules& rules);
};
using RulesPluginFn = const RulesPlugin* (*)();

/// A rules half that was not taken, and why: NotFound, Incompatible.
struct RefusedRules
{
    std::string plugin; ///< name of the file
    Error error;
};

/// Loads every PLUGINDIR/*_rules.so and adds what it says, in alphabetical order. They are never unloaded. A folder
/// that is not there has none.
std::vector<RefusedRules> loadRules(const std::filesystem::path& pluginDir);

} // namespace lathe::backend
