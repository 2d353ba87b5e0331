#include "tests/net/kernel_batch.h"

#include "core/policy/policy_table.h"
#include "core/schedule/lower.h"
#include "core/session/untuned.h"
#include "core/support/executor.h"
#include "tests/core/schedule/random_scheduler.h"
#include "tests/plugins/cpu/codegen_fixture.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <optional>

namespace lathe::net {

namespace {

using graph::HostTensor;

Result<Scheduled> stateOf(const search::SearchTask& task, const Candidate& candidate)
{
    for (std::size_t i = 0; i < task.alternatives.size(); ++i) {
        if (task.alternatives[i].name != candidate.alternative)
            continue;
        // Plain loops have no text.
        const nlohmann::json json = candidate.steps.empty() ? nlohmann::json::array()
                                                            : nlohmann::json::parse(candidate.steps);
        LATHE_TRY_ASSIGN(const auto steps, schedule::stepsFromJson(json));
        LATHE_TRY_ASSIGN(schedule::State state, schedule::State::replay(task.alternatives[i].dag, steps));
        return Scheduled{std::move(state), i};
    }
    return makeError(Errc::Internal, "the candidate is of an alternative that the task does not have");
}

Result<Scheduled> sampled(const search::SearchTask& task, std::uint64_t seed)
{
    search::PolicyOptions options;
    options.seed = seed;
    LATHE_TRY_ASSIGN(const auto model, policy::makeSharedModel("random", 1, options));
    LATHE_TRY_ASSIGN(const auto policy, policy::makePolicy("random", task, model, options));
    SerialExecutor executor;
    LATHE_TRY_ASSIGN(const std::vector<Candidate> candidates, policy->propose(0, 1, executor));
    if (candidates.empty())
        return makeError(Errc::Unsupported, "the search proposes nothing");
    return stateOf(task, candidates.front());
}

Result<Scheduled> random(const search::SearchTask& task, std::uint64_t seed)
{
    constexpr std::uint64_t kTries = 20;
    for (std::uint64_t i = 0; i < kTries; ++i) {
        const std::size_t alternative = (seed + i) % task.alternatives.size();
        const auto& dag = task.alternatives[alternative].dag;
        schedule::State state = schedule::test::RandomScheduler(dag, seed * kTries + i).run();
        schedule::LowerOptions options;
        options.constantInputs = task.alternatives[alternative].constantInputs;
        if (schedule::lower(state, options))
            return Scheduled{std::move(state), alternative};
    }
    return makeError(Errc::IllegalSchedule, "no random schedule can be lowered");
}

std::vector<std::int64_t> shapeOf(const IndexMap& map)
{
    return {map.logicalShape, map.logicalShape + map.logicalRank};
}

} // namespace

const char* toString(Schedule schedule)
{
    switch (schedule) {
    case Schedule::Default: return "default";
    case Schedule::Sampled: return "sampled";
    case Schedule::Random: return "random";
    }
    return "";
}

Result<Scheduled> scheduled(const search::SearchTask& task, Schedule kind, std::uint64_t seed)
{
    switch (kind) {
    case Schedule::Default: {
        LATHE_TRY_ASSIGN(const Candidate candidate, session::defaultCandidate(task));
        return stateOf(task, candidate);
    }
    case Schedule::Sampled: return sampled(task, seed);
    case Schedule::Random: return random(task, seed);
    }
    return makeError(Errc::Internal, "an unknown kind of schedule");
}

Result<std::size_t> KernelBatch::add(const schedule::State& state, const std::vector<bool>& constantInputs)
{
    schedule::LowerOptions options;
    options.name = fmt::format("k{}", m_kernels.size());
    options.constantInputs = constantInputs;
    LATHE_TRY_ASSIGN(schedule::LoweredKernel kernel, schedule::lower(state, options));
    m_kernels.push_back(std::move(kernel));
    return m_kernels.size() - 1;
}

Result<> KernelBatch::build()
{
    if (m_kernels.empty())
        return {};
    const auto codegen = test::codegenFor(m_target);
    if (!codegen)
        return makeError(Errc::BuildFailed, "there is no code generator for " + m_target);
    LATHE_TRY_ASSIGN(const backend::Artifact artifact, codegen->build(m_kernels));
    LATHE_TRY_ASSIGN(test::LoadedKernels loaded, test::LoadedKernels::load(artifact));
    m_loaded.push_back(std::move(loaded));
    std::size_t built = 0;
    for (const backend::BuiltKernel& kernel : artifact.kernels) {
        m_status.push_back(kernel.status);
        m_places.push_back(built);
        built += kernel.status ? 1 : 0;
    }
    return {};
}

Result<std::vector<HostTensor>> KernelBatch::run(std::size_t kernel, const std::vector<const HostTensor*>& inputs,
                                                 unsigned parts) const
{
    const std::vector<ArgSpec>& parameters = m_kernels[kernel].parameters;
    std::vector<test::GuardedBuffer> memory;
    std::vector<void*> tensors;
    std::size_t input = 0;
    for (const ArgSpec& spec : parameters) {
        const auto size = static_cast<std::size_t>(sizeOf(spec.dtype));
        memory.emplace_back(static_cast<std::size_t>(spec.map.elementCount()) * size);
        tensors.push_back(memory.back().data());
        if (spec.role == ArgRole::Output) {
            std::memset(memory.back().data(), 0x5a, memory.back().size()); // who writes nothing is found
            continue;
        }
        const HostTensor& given = *inputs[input++];
        transformLayout(IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank), given.bytes.data(), spec.map,
                        memory.back().data(), spec.dtype);
        memory.back().protectWrites();
    }
    if (const int code = m_loaded.front().run(m_places[kernel], tensors, parts); code != 0)
        return makeError(Errc::Internal, fmt::format("the kernel returned {}", code));
    std::vector<HostTensor> outputs;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const ArgSpec& spec = parameters[p];
        if (!memory[p].tailIntact())
            return makeError(Errc::Internal, fmt::format("{} was written behind its end", spec.name));
        if (spec.role != ArgRole::Output)
            continue;
        HostTensor plain = HostTensor::zeros({spec.dtype, shapeOf(spec.map)});
        transformLayout(spec.map, memory[p].data(), IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank),
                        plain.bytes.data(), spec.dtype);
        outputs.push_back(std::move(plain));
    }
    return outputs;
}

} // namespace lathe::net
