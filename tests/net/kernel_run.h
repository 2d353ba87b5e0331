#pragma once

#include "core/graph/task.h"
#include "core/schedule/default_launches.h"
#include "core/schedule/lower.h"
#include "core/target/target.h"
#include "tests/net/kernel_batch.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace lathe::net {

/// A network as kernels that run one behind the other, all by one kind of schedule.
class KernelRun
{
public:
    /// Each node of a graph by itself, unfused. Adds its kernels to the batch. Errors: those of definitions and
    /// schedules.
    static Result<KernelRun> ofNodes(const graph::Graph& graph, const Target& target, Schedule schedule,
                                     std::uint64_t seed, KernelBatch& batch);
    /// The same without kernels of a batch, for interpret() and runLaunches() alone.
    static Result<KernelRun> ofNodes(const graph::Graph& graph);
    /// An operator's nodes alone, or what passes make of them where one has no definition of its own; as above.
    static Result<KernelRun> ofOperator(const graph::Graph& graph, const Target& target);
    /// The functions of a partition of it; tasks by any of their alternatives where the schedule is drawn.
    static Result<KernelRun> ofPartition(const graph::Graph& graph, const graph::Partition& partition,
                                         const Target& target, Schedule schedule, std::uint64_t seed,
                                         KernelBatch& batch);

    /// Errors: those of compiling and of running.
    Result<std::vector<graph::HostTensor>> run(const KernelBatch& batch, const std::vector<graph::HostTensor>& inputs,
                                               unsigned parts) const;
    /// The same by the interpreter of compute DAGs; functions of the runtime run as ever.
    Result<std::vector<graph::HostTensor>> interpret(const std::vector<graph::HostTensor>& inputs) const;

    /// Runs a lowered kernel on the bytes of its parameters, inputs and then outputs, in their own layouts.
    using LaunchRunner = std::function<Result<>(const schedule::LoweredKernel& kernel,
                                                const std::vector<std::span<std::byte>>& parameters)>;
    /// By the interpreter of blocks and threads. Errors: WrongAnswer: what it finds (races, reads of what nobody
    /// wrote).
    static Result<> interpretLaunches(const schedule::LoweredKernel& kernel,
                                      const std::vector<std::span<std::byte>>& parameters);
    /// The same as launches of default schedules. Errors: those of schedules, of lowering and of `runner`.
    Result<std::vector<graph::HostTensor>> runLaunches(const std::vector<graph::HostTensor>& inputs,
                                                       schedule::LaunchScheduleOptions options,
                                                       const LaunchRunner& runner = interpretLaunches) const;

    bool tradesAccuracy() const; ///< one of its kernels does (graph::tradesAccuracy)

private:
    struct Step
    {
        std::vector<graph::ValueId> inputs, outputs;
        graph::Alternative alternative; ///< without a DAG: a node by its function, else the output is the input
        std::size_t kernel = 0;
        std::vector<bool> constantInputs; ///< of the DAG
        graph::NodeId node = {}; ///< that a function of the runtime computes
    };

    explicit KernelRun(graph::Graph graph)
        : m_graph(std::move(graph))
    {
    }
    static Result<KernelRun> ofNodes(const graph::Graph& graph, const Target& target, Schedule schedule,
                                     std::uint64_t seed, KernelBatch* batch);
    /// Chooses one of the alternatives; the first without a kernel where there is no batch.
    Result<> addStep(std::vector<graph::ValueId> inputs, std::vector<graph::ValueId> outputs,
                     std::span<const graph::Alternative> alternatives, const std::vector<bool>& packable,
                     const Target& target, Schedule schedule, std::uint64_t seed, KernelBatch* batch);
    template<typename Compute>
    Result<std::vector<graph::HostTensor>> walk(const std::vector<graph::HostTensor>& inputs, Compute&& compute) const;

    graph::Graph m_graph;
    std::vector<Step> m_steps;
};

} // namespace lathe::net
