#include "tests/net/kernel_run.h"

#include "core/compute/interpret.h"
#include "core/graph/group.h"
#include "core/graph/pass_runner.h"
#include "core/graph/passes.h"
#include "core/ir/interpret_launches.h"
#include "core/ir/scratch.h"
#include "core/schedule/lower.h"
#include "tests/support/function_run.h"

#include <algorithm>
#include <optional>

namespace lathe::net {

using graph::HostTensor;
using graph::ValueId;

namespace {

constexpr std::uint32_t kFunctionParts = 3; ///< by which functions of the runtime are run
constexpr std::int64_t kMostLocal = 64; ///< elements of an array of one thread

Result<std::vector<HostTensor>> interpretDag(const compute::DagPtr& dag, const std::vector<const HostTensor*>& inputs)
{
    LATHE_TRY_ASSIGN(const compute::Interpreter interpreter, compute::Interpreter::compile(dag));
    std::vector<std::span<const std::byte>> bytes;
    for (const HostTensor* input : inputs)
        bytes.emplace_back(input->bytes);
    LATHE_TRY_ASSIGN(std::vector<std::vector<std::byte>> results, interpreter.run(bytes));
    std::vector<HostTensor> tensors;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const compute::Op& op = dag->ops[static_cast<std::size_t>(dag->outputs[i])];
        tensors.push_back({{op.dtype, op.shape}, std::move(results[i])});
    }
    return tensors;
}

/// A DAG's default schedule for launches, its parameters in the layouts that it has.
Result<std::vector<HostTensor>> launchDag(const compute::DagPtr& dag, const schedule::LaunchScheduleOptions& options,
                                          const std::vector<const HostTensor*>& inputs,
                                          const KernelRun::LaunchRunner& runner)
{
    LATHE_TRY_ASSIGN(const schedule::State state, schedule::planDefaultLaunches(dag, options));
    schedule::LowerOptions lowering;
    lowering.form = KernelForm::Launches;
    lowering.constantInputs = options.constantInputs;
    LATHE_TRY_ASSIGN(const schedule::LoweredKernel kernel, schedule::lower(state, lowering));
    for (const ir::Buffer& buffer : kernel.nest.buffers)
        if (buffer.scope == ir::Scope::Local && ir::elementCount(buffer) > kMostLocal)
            return makeError(Errc::IllegalSchedule, buffer.name + " is large for a thread");
    std::vector<std::vector<std::byte>> physical;
    std::vector<HostTensor> results;
    for (std::size_t p = 0; p < kernel.parameters.size(); ++p) {
        const ArgSpec& spec = kernel.parameters[p];
        physical.emplace_back(static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype)));
        const IndexMap plain = IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank);
        if (p < inputs.size())
            transformLayout(plain, inputs[p]->bytes.data(), spec.map, physical[p].data(), spec.dtype);
    }
    LATHE_TRY(runner(kernel, std::vector<std::span<std::byte>>(physical.begin(), physical.end())));
    for (std::size_t p = inputs.size(); p < physical.size(); ++p) {
        const IndexMap& map = kernel.parameters[p].map;
        results.push_back({{kernel.parameters[p].dtype, {map.logicalShape, map.logicalShape + map.logicalRank}},
                           std::move(physical[p])});
    }
    return results;
}

} // namespace

Result<> KernelRun::addStep(std::vector<ValueId> inputs, std::vector<ValueId> outputs,
                            std::span<const graph::Alternative> alternatives, const std::vector<bool>& packable,
                            const Target& target, Schedule schedule, std::uint64_t seed, KernelBatch* batch)
{
    search::SearchTask task;
    task.key = task.name = "net";
    task.target = target;
    task.hardware = defaultHardware(target);
    for (const graph::Alternative& alternative : alternatives) {
        std::vector<bool> constant;
        for (const graph::InputBinding& binding : alternative.bindings)
            constant.push_back(packable[static_cast<std::size_t>(binding.taskInput)]);
        task.alternatives.push_back({alternative.name, alternative.dag, constant, alternative.isReference});
    }
    if (batch == nullptr) {
        m_steps.push_back(
            {std::move(inputs), std::move(outputs), alternatives[0], 0, task.alternatives[0].constantInputs, {}});
        return {};
    }
    LATHE_TRY_ASSIGN(const Scheduled chosen, scheduled(task, schedule, seed));
    const std::vector<bool>& constant = task.alternatives[chosen.alternative].constantInputs;
    Step step{std::move(inputs), std::move(outputs), alternatives[chosen.alternative], 0, constant, {}};
    LATHE_TRY_ASSIGN(step.kernel, batch->add(chosen.state, constant));
    m_steps.push_back(std::move(step));
    return {};
}

Result<KernelRun> KernelRun::ofNodes(const graph::Graph& graph)
{
    return ofNodes(graph, {}, Schedule::Default, 0, nullptr);
}

Result<KernelRun> KernelRun::ofOperator(const graph::Graph& graph, const Target& target)
{
    const auto hasDefinition = [](const graph::Node& node) { return graph::findOperator(node.op)->compute != nullptr; };
    if (std::ranges::all_of(graph.nodes, hasDefinition))
        return ofNodes(graph);
    graph::PassRunner passes;
    LATHE_TRY_ASSIGN(const graph::Graph prepared, graph::prepare(graph, target, "", "lathe", passes));
    return ofNodes(prepared);
}

Result<KernelRun> KernelRun::ofNodes(const graph::Graph& graph, const Target& target, Schedule schedule,
                                     std::uint64_t seed, KernelBatch& batch)
{
    return ofNodes(graph, target, schedule, seed, &batch);
}

Result<KernelRun> KernelRun::ofNodes(const graph::Graph& graph, const Target& target, Schedule schedule,
                                     std::uint64_t seed, KernelBatch* batch)
{
    KernelRun run(graph);
    const auto consumers = graph.consumers();
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const graph::Node& node = graph.nodes[n];
        const graph::Group group = graph::makeGroup(graph, {graph::NodeId(static_cast<std::int32_t>(n))}, consumers);
        LATHE_TRY_ASSIGN(const graph::Alternative alternative,
                         graph::buildAlternative(graph, group, "direct", compute::NameEra::Nested));
        std::vector<bool> packable;
        for (const ValueId id : group.inputs) // weights may be packed ahead of time
            packable.push_back(graph.value(id).constant
                               || (graph::traitsOf(node).weights != nullptr && id == node.inputs[1]));
        LATHE_TRY(run.addStep(group.inputs, node.outputs, std::span(&alternative, 1), packable, target, schedule,
                              seed + n, batch));
    }
    return run;
}

Result<KernelRun> KernelRun::ofPartition(const graph::Graph& graph, const graph::Partition& partition,
                                         const Target& target, Schedule schedule, std::uint64_t seed,
                                         KernelBatch& batch)
{
    KernelRun run(graph);
    for (const graph::Subgraph& part : partition.subgraphs) {
        if (part.noop) {
            run.m_steps.push_back({part.inputs, part.outputs, {}, 0, {}, {}});
            continue;
        }
        if (part.function) {
            run.m_steps.push_back({part.inputs, part.outputs, {}, 0, {}, part.nodes.front()});
            continue;
        }
        std::span<const graph::Alternative> alternatives;
        if (part.task >= 0)
            alternatives = partition.tasks[static_cast<std::size_t>(part.task)].alternatives;
        else if (part.untuned)
            alternatives = std::span(&*part.untuned, 1);
        else
            return makeError(Errc::Unsupported, part.name + " has no definition");
        std::vector<bool> packable;
        for (const ValueId id : part.inputs)
            packable.push_back(graph.value(id).constant != nullptr);
        LATHE_TRY(run.addStep(part.inputs, part.outputs, alternatives, packable, target, schedule, seed, &batch));
        seed += 1;
    }
    return run;
}

template<typename Compute>
Result<std::vector<HostTensor>> KernelRun::walk(const std::vector<HostTensor>& inputs, Compute&& compute) const
{
    std::vector<std::optional<HostTensor>> values(m_graph.values.size());
    const auto slot = [&](ValueId id) -> std::optional<HostTensor>& {
        return values[static_cast<std::size_t>(id.value)];
    };
    const auto ready = [&](ValueId id) -> Result<> {
        if (slot(id))
            return {};
        LATHE_TRY_ASSIGN(HostTensor constant, graph::tensorOf(m_graph.value(id)));
        slot(id) = std::move(constant);
        return {};
    };
    for (std::size_t i = 0; i < inputs.size(); ++i)
        slot(m_graph.inputs[i]) = inputs[i];
    for (const Step& step : m_steps) {
        if (step.node.valid()) {
            const graph::Node& node = m_graph.node(step.node);
            std::vector<HostTensor> operands;
            for (const ValueId id : node.inputs) {
                LATHE_TRY(ready(id));
                operands.push_back(*slot(id));
            }
            LATHE_TRY_ASSIGN(std::vector<HostTensor> results, runFunction(node, operands, kFunctionParts));
            for (std::size_t i = 0; i < results.size(); ++i)
                slot(node.outputs[i]) = std::move(results[i]);
            continue;
        }
        if (!step.alternative.dag) {
            LATHE_TRY(ready(step.inputs[0]));
            const graph::Value& result = m_graph.value(step.outputs[0]);
            slot(step.outputs[0]) = HostTensor{{result.dtype, result.shape}, slot(step.inputs[0])->bytes};
            continue;
        }
        std::vector<HostTensor> derived;
        derived.reserve(step.alternative.bindings.size());
        std::vector<const HostTensor*> operands;
        for (const graph::InputBinding& binding : step.alternative.bindings) {
            const ValueId id = step.inputs[static_cast<std::size_t>(binding.taskInput)];
            LATHE_TRY(ready(id));
            if (binding.recipe) {
                LATHE_TRY_ASSIGN(std::vector<HostTensor> made, interpretDag(binding.recipe, {&*slot(id)}));
                derived.push_back(std::move(made[0]));
            }
            operands.push_back(binding.recipe ? &derived.back() : &*slot(id));
        }
        LATHE_TRY_ASSIGN(std::vector<HostTensor> results, compute(step, operands));
        for (std::size_t i = 0; i < results.size(); ++i)
            slot(step.outputs[i]) = std::move(results[i]);
    }
    std::vector<HostTensor> outputs;
    for (const ValueId id : m_graph.outputs) {
        LATHE_TRY(ready(id));
        outputs.push_back(*slot(id));
    }
    return outputs;
}

Result<std::vector<HostTensor>> KernelRun::run(const KernelBatch& batch, const std::vector<HostTensor>& inputs,
                                               unsigned parts) const
{
    for (const Step& step : m_steps)
        if (step.alternative.dag)
            LATHE_TRY(batch.status(step.kernel));
    return walk(inputs, [&](const Step& step, const std::vector<const HostTensor*>& operands) {
        return batch.run(step.kernel, operands, parts);
    });
}

Result<std::vector<HostTensor>> KernelRun::interpret(const std::vector<HostTensor>& inputs) const
{
    return walk(inputs, [](const Step& step, const std::vector<const HostTensor*>& operands) {
        return interpretDag(step.alternative.dag, operands);
    });
}

Result<> KernelRun::interpretLaunches(const schedule::LoweredKernel& kernel,
                                      const std::vector<std::span<std::byte>>& parameters)
{
    LATHE_TRY_ASSIGN(const ir::LaunchInterpreter interpreter, ir::LaunchInterpreter::compile(kernel.nest));
    return interpreter.run(parameters);
}

Result<std::vector<HostTensor>> KernelRun::runLaunches(const std::vector<HostTensor>& inputs,
                                                       schedule::LaunchScheduleOptions options,
                                                       const LaunchRunner& runner) const
{
    return walk(inputs, [&](const Step& step, const std::vector<const HostTensor*>& operands) {
        options.constantInputs = step.constantInputs;
        return launchDag(step.alternative.dag, options, operands, runner);
    });
}

bool KernelRun::tradesAccuracy() const
{
    return std::ranges::any_of(m_steps, [](const Step& step) { return graph::tradesAccuracy(step.alternative.name); });
}

} // namespace lathe::net
