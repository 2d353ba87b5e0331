#include "core/policy/policy_table.h"

#include "core/search/features.h"
#include "core/search/lathe/lathe_cpu_sketches.h"
#include "core/search/lathe/lathe_policy.h"
#include "core/search/reference/reference_policy.h"
#include "core/support/check.h"
#include "core/templates/template_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace lathe::policy {
namespace {

using search::Guidance;
using search::PolicyOptions;
using search::SearchTask;
using search::SharedModel;
using ModelPtr = std::shared_ptr<SharedModel>;
using MadePolicy = Result<std::unique_ptr<search::Policy>>;

Result<ModelPtr> ownModel(std::size_t, const PolicyOptions&)
{
    return std::make_shared<SharedModel>(search::makeXGBoostModel(search::XGBoostOptions()), search::kLatheFeatures,
                                         16);
}

Result<ModelPtr> noModel(std::size_t, const PolicyOptions& options)
{
    return std::make_shared<SharedModel>(search::makeRandomModel(options.seed), search::kLatheFeatures, 0);
}

Result<ModelPtr> referenceModel(std::size_t tasks, const PolicyOptions& options)
{
    // Its model counts from the trial after the warm-up on.
    const std::size_t warmup = tasks * static_cast<std::size_t>(options.trialsPerRound) + 1;
    return std::make_shared<SharedModel>(search::makeXGBoostModel(search::referenceModelOptions()),
                                         search::kReferenceFeatures, warmup);
}

/// The policy sketch with a tuner in the place of evolution; the model is then what tasks share of their results.
Result<ModelPtr> sketchModel(std::size_t tasks, const PolicyOptions& options)
{
    if (!options.tuner.empty())
        return ModelPtr(std::make_shared<templates::SharedTemplates>(options.seed));
    return ownModel(tasks, options);
}

MadePolicy byTuner(const SearchTask& task, ModelPtr model, const PolicyOptions& options, bool ofSketches)
{
    if (options.pool)
        return makeError(Errc::Unsupported, "a tuner cannot be confined to given candidates");
    auto shared = std::dynamic_pointer_cast<templates::SharedTemplates>(std::move(model));
    LATHE_CHECK(shared != nullptr) << "the model is not that of a tuner";
    LATHE_TRY_ASSIGN(auto made, templates::TemplatePolicy::create(task, std::move(shared), options, ofSketches));
    return std::unique_ptr<search::Policy>(std::move(made));
}

template<Guidance guidance>
MadePolicy own(const SearchTask& task, ModelPtr model, const PolicyOptions& options)
{
    LATHE_TRY_ASSIGN(auto made, search::LathePolicy::create(task, guidance, std::move(model), options));
    return std::unique_ptr<search::Policy>(std::move(made));
}

MadePolicy reference(const SearchTask& task, ModelPtr model, const PolicyOptions& options)
{
    if (options.pool)
        return makeError(Errc::Unsupported, "policy reference cannot be confined to given candidates");
    LATHE_TRY_ASSIGN(auto made, search::ReferencePolicy::create(task, std::move(model), options));
    return std::unique_ptr<search::Policy>(std::move(made));
}

Result<ModelPtr> templatesModel(std::size_t, const PolicyOptions& options)
{
    return ModelPtr(std::make_shared<templates::SharedTemplates>(options.seed));
}

MadePolicy byTemplates(const SearchTask& task, ModelPtr model, const PolicyOptions& options)
{
    return byTuner(task, std::move(model), options, false);
}

MadePolicy bySketches(const SearchTask& task, ModelPtr model, const PolicyOptions& options)
{
    if (!options.tuner.empty())
        return byTuner(task, std::move(model), options, true);
    return own<Guidance::Model>(task, std::move(model), options);
}

/// What the analytical estimate ranks first. Launches have guesses of their own (search/lathe/launch_guess.h), with
/// default schedules beside them.
Result<Candidate> ownGuess(const SearchTask& task)
{
    if (task.target.traits().form != KernelForm::Phases)
        return makeError(Errc::Unsupported, "launches have default schedules instead of a guess");
    const PolicyOptions options;
    LATHE_TRY_ASSIGN(ModelPtr model, ownModel(1, options));
    LATHE_TRY_ASSIGN(const auto policy, own<Guidance::Model>(task, std::move(model), options));
    SerialExecutor executor;
    LATHE_TRY_ASSIGN(std::vector<Candidate> candidates, policy->propose(0, 1, executor, {}));
    if (candidates.empty())
        return makeError(Errc::Unsupported, "no sketch fits " + task.name);
    return std::move(candidates.front());
}

std::vector<PolicyEntry> ownPolicies()
{
    return {
        {.name = kDefaultPolicy,
         .help = "Lathe's search",
         .missing = {},
         .takesHeadStart = true,
         .suits = {},
         .model = sketchModel,
         .make = bySketches,
         .guess = ownGuess},
        {.name = "reference",
         .help = "the reference compiler's rules",
         .missing = {},
         .minRepeatMs = 100,
         .suits = {},
         .model = referenceModel,
         .make = reference,
         .guess = {}},
        {.name = "random",
         .help = {},
         .missing = {},
         .suits = {},
         .model = noModel,
         .make = own<Guidance::None>,
         .guess = {}},
        {.name = "evolution",
         .help = "no cost model",
         .missing = {},
         .suits = {},
         .model = noModel,
         .make = own<Guidance::Measured>,
         .guess = {}},
        {.name = "template",
         .help = "schedules with knobs, by a tuner",
         .missing = {},
         .scheduler = "sequential",
         .takesTuner = true,
         .suits = {},
         .model = templatesModel,
         .make = byTemplates,
         .guess = {}},
    };
}

/// Never destroyed: what plugins added may be asked for while the program ends.
struct PolicyTable
{
    std::mutex mutex;
    std::vector<PolicyPtr> entries;

    PolicyTable()
    {
        for (PolicyEntry& entry : ownPolicies())
            entries.push_back(std::make_shared<const PolicyEntry>(std::move(entry)));
    }
};

PolicyTable& table()
{
    static PolicyTable& policies = *new PolicyTable; // NOLINT(cppcoreguidelines-owning-memory): see PolicyTable
    return policies;
}

} // namespace

std::vector<PolicyPtr> policies()
{
    PolicyTable& known = table();
    const std::scoped_lock lock(known.mutex);
    return known.entries;
}

std::string policyNames(std::string_view beforeLast)
{
    std::vector<std::string> names;
    for (const PolicyPtr& entry : policies())
        if (entry->missing.empty())
            names.push_back(entry->name);
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? std::string(beforeLast) : ", ") + names[i];
    return text;
}

void addPolicy(PolicyEntry entry)
{
    LATHE_CHECK(!entry.missing.empty() || (entry.model && entry.make))
        << "the policy " << entry.name << " makes nothing";
    auto added = std::make_shared<const PolicyEntry>(std::move(entry));
    PolicyTable& known = table();
    const std::scoped_lock lock(known.mutex);
    const auto same = std::find_if(known.entries.begin(), known.entries.end(),
                                   [&added](const PolicyPtr& e) { return e->name == added->name; });
    if (same != known.entries.end())
        *same = std::move(added);
    else
        known.entries.push_back(std::move(added));
}

Result<PolicyPtr> findPolicy(std::string_view name)
{
    for (const PolicyPtr& entry : policies()) {
        if (entry->name != name)
            continue;
        if (!entry->missing.empty())
            return makeError(Errc::Unsupported, fmt::format("{}: choose {}", entry->missing, policyNames(" or ")));
        return entry;
    }
    return makeError(Errc::InvalidArgument, fmt::format("policy '{}' is not one of {}", name, policyNames()));
}

Result<std::shared_ptr<search::SharedModel>> makeSharedModel(std::string_view policy, std::size_t tasks,
                                                             const PolicyOptions& options)
{
    LATHE_TRY_ASSIGN(const PolicyPtr entry, findPolicy(policy));
    return entry->model(tasks, options);
}

Result<std::unique_ptr<search::Policy>> makePolicy(std::string_view policy, const SearchTask& task, ModelPtr model,
                                                   const PolicyOptions& options)
{
    LATHE_TRY_ASSIGN(const PolicyPtr entry, findPolicy(policy));
    return entry->make(task, std::move(model), options);
}

} // namespace lathe::policy
