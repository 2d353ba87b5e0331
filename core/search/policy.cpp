#include "core/search/policy.h"

#include "core/search/features.h"
#include "core/search/lathe/lathe_policy.h"
#include "core/search/reference/reference_policy.h"

namespace lathe::search {

Result<std::shared_ptr<SharedModel>> makeSharedModel(std::string_view policy, std::size_t tasks, const PolicyOptions& options)
{
    if (policy == "sketch")
        return std::make_shared<SharedModel>(makeXGBoostModel(XGBoostOptions()), kLatheFeatures, 16);
    if (policy == "reference")
        // Its model counts from the trial after the warm-up on.
        return std::make_shared<SharedModel>(makeXGBoostModel(referenceModelOptions()), kReferenceFeatures,
                                             tasks * static_cast<std::size_t>(options.trialsPerRound) + 1);
    if (policy == "random" || policy == "evolution")
        return std::make_shared<SharedModel>(makeRandomModel(options.seed), kLatheFeatures, 0);
    return makeError(Errc::InvalidArgument, "policy '" + std::string(policy) + "' is not one of sketch, reference, random, evolution");
}

Result<std::unique_ptr<Policy>> makePolicy(std::string_view policy, const SearchTask& task, std::shared_ptr<SharedModel> model,
                                           const PolicyOptions& options)
{
    const auto own = [&](Guidance guidance) -> Result<std::unique_ptr<Policy>> {
        LATHE_TRY_ASSIGN(std::unique_ptr<LathePolicy> made, LathePolicy::create(task, guidance, std::move(model), options));
        return std::unique_ptr<Policy>(std::move(made));
    };
    if (policy == "sketch")
        return own(Guidance::Model);
    if (policy == "reference") {
        if (options.pool)
            return makeError(Errc::Unsupported, "policy reference cannot be confined to given candidates");
        LATHE_TRY_ASSIGN(std::unique_ptr<ReferencePolicy> made, ReferencePolicy::create(task, std::move(model), options));
        return std::unique_ptr<Policy>(std::move(made));
    }
    if (policy == "evolution")
        return own(Guidance::Measured);
    if (policy == "random")
        return own(Guidance::None);
    return makeError(Errc::InvalidArgument, "policy '" + std::string(policy) + "' is not one of sketch, reference, random, evolution");
}

Result<Candidate> defaultCandidate(const SearchTask& task)
{
    const PolicyOptions options;
    LATHE_TRY_ASSIGN(std::shared_ptr<SharedModel> model, makeSharedModel("sketch", 1, options));
    LATHE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, makePolicy("sketch", task, std::move(model), options));
    SerialExecutor executor;
    LATHE_TRY_ASSIGN(const std::vector<Candidate> candidates, policy->propose(0, 1, executor, {}));
    if (!candidates.empty())
        return candidates.front();
    // No sketch fits. Plain loops always do: not fast, but right.
    Candidate plain;
    plain.task = task.key;
    plain.alternative = task.alternatives.front().name;
    plain.kind = "steps";
    plain.steps = "[]";
    return plain;
}

} // namespace lathe::search
