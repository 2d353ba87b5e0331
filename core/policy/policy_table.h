#pragma once

#include "core/policy/default_policy.h"
#include "core/search/policy.h"
#include "core/support/result.h"
#include "core/target/target.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::policy {

/// A way to find candidates: everything that is said of a policy by its name is said here, and nowhere else.
struct PolicyEntry
{
    std::string name; ///< of --policy, and in stored options: never changed
    std::string help; ///< what it is, in a few words for a list of names; empty: the name says it
    std::string missing; ///< why this version lists it without having it, with no full stop; empty: it has it
    bool takesHeadStart = false;
    /// The least milliseconds that one cost measurement takes, unless the options set it.
    double minRepeatMs = 20;
    std::string scheduler = "gradient"; ///< which task gets the next round, unless the options say it
    bool takesTuner = false; ///< it chooses by a tuner, whether or not PolicyOptions::tuner names one
    /// Whether it has rules for a target. Null: for any.
    std::function<bool(const Target& target)> suits;
    /// The model that the tasks of one run share, with the width of its features.
    std::function<Result<std::shared_ptr<search::SharedModel>>(std::size_t tasks, const search::PolicyOptions& options)>
        model;
    /// Of one task. Errors: Unsupported, with what the policy has no rules for.
    std::function<Result<std::unique_ptr<search::Policy>>(const search::SearchTask& task,
                                                          std::shared_ptr<search::SharedModel> model,
                                                          const search::PolicyOptions& options)>
        make;
    /// The candidate that it believes in most, without having measured anything. Null: it has none for any task.
    /// Errors: Unsupported, it has none for this one.
    std::function<Result<Candidate>(const search::SearchTask& task)> guess;
};

using PolicyPtr = std::shared_ptr<const PolicyEntry>;

/// All, the default one first; also those that are missing. Any thread.
std::vector<PolicyPtr> policies();
/// Their names with commas; `beforeLast` stands between the last two, " or " for instance. For messages.
std::string policyNames(std::string_view beforeLast = ", ");
/// Adds one, or replaces the one of its name. `model` and `make` must be set unless it is missing. Any thread.
void addPolicy(PolicyEntry entry);

/// Errors: InvalidArgument names those that there are; Unsupported: it is missing.
Result<PolicyPtr> findPolicy(std::string_view name);

/// As findPolicy(), then of the entry.
Result<std::shared_ptr<search::SharedModel>> makeSharedModel(std::string_view policy, std::size_t tasks,
                                                             const search::PolicyOptions& options);
Result<std::unique_ptr<search::Policy>> makePolicy(std::string_view policy, const search::SearchTask& task,
                                                   std::shared_ptr<search::SharedModel> model,
                                                   const search::PolicyOptions& options);

} // namespace lathe::policy
