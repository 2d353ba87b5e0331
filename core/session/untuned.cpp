#include "core/session/untuned.h"

#include "core/backend/rules.h"
#include "core/policy/default_candidate.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/default_schedule.h"
#include "core/schedule/step.h"
#include "core/search/lathe/launch_guess.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::session {
namespace {

/// For processors, whose kernels are phases.
Result<std::vector<schedule::Step>> phaseSchedule(const search::SearchTask& task)
{
    const search::SearchAlternative& alternative = task.alternatives.front();
    schedule::DefaultScheduleOptions options;
    const std::int64_t vectorBytes = task.hardware.get("vector_unit_bytes", 64);
    options.vectorLanes = static_cast<std::int32_t>(vectorBytes / sizeOf(DType::F32));
    options.vectorRegisters = vectorBytes >= 64 ? 32 : 16;
    options.threads = static_cast<std::int32_t>(task.target.threads());
    options.constantInputs = alternative.constantInputs;
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::planDefaultSchedule(alternative.dag, options));
    return state.steps();
}

/// For GPUs, whose kernels are launches: what the estimate likes best, as nobody has measured. The plain launches are
/// for what the rules of the search do not take in, and for processors, on which they were tuned.
Result<std::vector<schedule::Step>> launchSchedule(const search::SearchTask& task)
{
    if (auto guess = search::guessLaunches(task))
        return std::move(guess->steps);
    const search::SearchAlternative& alternative = task.alternatives.front();
    schedule::LaunchScheduleOptions options;
    if (const std::int64_t most = task.hardware.get("max_threads_per_block"); most > 0)
        options.mostThreads = std::min(options.mostThreads, most);
    options.vectorLanes = static_cast<std::int32_t>(
        std::max<std::int64_t>(task.hardware.get("vector_unit_bytes", 16) / sizeOf(DType::F32), 1));
    options.simdWidth = task.hardware.get("simd_width");
    options.constantInputs = alternative.constantInputs;
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::planDefaultLaunches(alternative.dag, options));
    return state.steps();
}

/// As the back end has it; nothing: it leaves this to us. Unsupported: it has none for the task.
std::optional<Result<std::vector<schedule::Step>>> ownSchedule(const search::SearchTask& task)
{
    const backend::BackendRulesPtr rules = backend::rulesOf(task.target);
    if (!rules || !rules->defaultSchedule)
        return std::nullopt;
    const search::SearchAlternative& alternative = task.alternatives.front();
    return rules->defaultSchedule(alternative.dag, alternative.constantInputs, task.target, task.hardware);
}

Candidate asCandidate(const search::SearchTask& task, const std::vector<schedule::Step>& steps)
{
    Candidate candidate = policy::plainLoops(task);
    candidate.sketch = "default";
    candidate.steps = schedule::toJson(steps).dump();
    return candidate;
}

} // namespace

std::optional<Candidate> untunedCandidate(const search::SearchTask& task)
{
    auto steps = ownSchedule(task);
    if (!steps)
        steps = task.target.traits().form == KernelForm::Phases ? phaseSchedule(task) : launchSchedule(task);
    return steps && *steps ? std::optional(asCandidate(task, **steps)) : std::nullopt;
}

Result<Candidate> defaultCandidate(const search::SearchTask& task)
{
    auto steps = ownSchedule(task);
    if (!steps && task.target.traits().form == KernelForm::Launches)
        steps = launchSchedule(task);
    if (!steps)
        return policy::defaultCandidate(task);
    if (*steps)
        return asCandidate(task, **steps);
    const Errc code = steps->error().code;
    if (code != Errc::Unsupported && code != Errc::IllegalSchedule)
        return steps->error();
    return policy::plainLoops(task);
}

std::optional<Candidate> exportedCandidate(const search::SearchTask& task)
{
    auto candidate = defaultCandidate(task);
    return candidate ? std::optional(*std::move(candidate)) : std::nullopt;
}

} // namespace lathe::session
