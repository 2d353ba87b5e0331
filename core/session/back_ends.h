#pragma once

#include "core/support/result.h"
#include "core/target/target.h"

#include <string>
#include <string_view>
#include <vector>

namespace lathe::session {

/// Loads the rules of this installation's plugins (core/backend/rules.h), once in the life of the program; every
/// function here that reads a target's text calls it first. Any thread. Returns a sentence for each plugin that was
/// refused.
const std::vector<std::string>& loadBackEnds();

/// As Target::parse(), with the kinds of all plugins known.
Result<Target> parseTarget(std::string_view text);

/// A target as pickers show it.
struct TargetView
{
    std::string text; ///< canonical
    std::string title; ///< for people, "this CPU"; the text where nobody named it
    std::string named; ///< OfferedTarget::named
    std::string kind;
    bool simulated = false; ///< costs are a formula's: no device is needed
    bool runsHere = true; ///< a device of it can be in this machine
    bool libraries = false; ///< can be exported
    std::string standsFor = {}; ///< BackendTraits: not empty where latencies are expected and never measured
};

/// The targets that all kinds offer, in the order of the kinds.
std::vector<TargetView> listTargets();
/// Errors: those of Target::parse().
Result<TargetView> viewTarget(std::string_view text);

/// Whether the policy exists and makes sense for the target. Errors: InvalidArgument, Unsupported; both name those that
/// do.
Result<> checkPolicy(const Target& target, std::string_view policy);
/// What searches where nobody said it: `usual` where it makes sense for the target, else the first policy that does,
/// else `usual`, which is refused then.
std::string policyFor(const Target& target, std::string usual);

} // namespace lathe::session
