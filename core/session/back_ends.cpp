#include "core/session/back_ends.h"

#include "core/backend/rules.h"
#include "core/policy/policy_table.h"
#include "core/support/files.h"
#include "core/support/log.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe::session {
namespace {

TargetView viewOf(const Target& target, OfferedTarget offered)
{
    const BackendTraits& traits = target.traits();
    return {target.text(),
            std::move(offered.title),
            std::move(offered.named),
            target.kind(),
            traits.clock == CostClock::Model,
            traits.runsHere,
            traits.libraries,
            traits.standsFor};
}

/// As its kind offers it; of a target that it does not offer the text.
OfferedTarget offeredAs(const TargetKind& kind, const std::string& text)
{
    for (const OfferedTarget& offered : kind.offered)
        if (offered.text == text)
            return offered;
    return {text, text};
}

} // namespace

const std::vector<std::string>& loadBackEnds()
{
    static const std::vector<std::string>& refused = *new std::vector<std::string>([] {
        std::vector<std::string> texts;
        for (const backend::RefusedRules& rules : backend::loadRules(pluginDir())) {
            texts.push_back(fmt::format("the plugin {} is not used: {}", rules.plugin, rules.error.message));
            log(LogLevel::Warning, "session", texts.back());
        }
        return texts;
    }());
    return refused;
}

Result<Target> parseTarget(std::string_view text)
{
    loadBackEnds();
    return Target::parse(text);
}

std::vector<TargetView> listTargets()
{
    loadBackEnds();
    std::vector<TargetView> views;
    for (const TargetKindPtr& kind : targetKinds())
        for (const OfferedTarget& offered : kind->offered)
            if (const auto target = Target::parse(offered.text))
                views.push_back(viewOf(*target, offered));
    return views;
}

Result<TargetView> viewTarget(std::string_view text)
{
    LATHE_TRY_ASSIGN(const Target target, parseTarget(text));
    const TargetKindPtr kind = findTargetKind(target.kind());
    return viewOf(target, offeredAs(*kind, target.text()));
}

namespace {

std::vector<std::string> policiesFor(const Target& target)
{
    const backend::BackendRulesPtr rules = backend::rulesOf(target);
    std::vector<std::string> fitting;
    for (const policy::PolicyPtr& entry : policy::policies()) {
        const bool named = !rules || rules->policies.empty()
                           || std::ranges::find(rules->policies, entry->name) != rules->policies.end();
        if (named && entry->missing.empty() && (!entry->suits || entry->suits(target)))
            fitting.push_back(entry->name);
    }
    return fitting;
}

} // namespace

Result<> checkPolicy(const Target& target, std::string_view name)
{
    LATHE_TRY_ASSIGN(const policy::PolicyPtr wanted, policy::findPolicy(name));
    const std::vector<std::string> fitting = policiesFor(target);
    if (std::ranges::find(fitting, wanted->name) != fitting.end())
        return {};
    return makeError(Errc::Unsupported, say(Msg::PolicyWithoutRules, name, target.text(), fitting));
}

std::string policyFor(const Target& target, std::string usual)
{
    const std::vector<std::string> fitting = policiesFor(target);
    const bool fits = fitting.empty() || std::ranges::find(fitting, usual) != fitting.end();
    return fits ? usual : fitting.front();
}

} // namespace lathe::session
