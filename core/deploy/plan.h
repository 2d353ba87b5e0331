#pragma once

#include "core/deploy/compiler.h"
#include "core/deploy/derived_constants.h"
#include "core/graph/task.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::deploy {

class ConstantPool;

/// What one subgraph runs. Empty for a noop and for control flow; but for the reason, for a function of the runtime
/// too.
struct KernelChoice
{
    const graph::Alternative* alternative = nullptr; ///< of the subgraph's task, or its untuned definition
    std::string steps; ///< JSON
    std::string record; ///< trial id of the record that gave the steps; empty: a default schedule
    std::string reason; ///< why it has no record
    double estimatedMs = -1; ///< as measured alone; negative: unknown
    About about = {}; ///< the reason
};

/// Kernels of a network without repetition: equal definitions with equal schedules are compiled once.
struct KernelSet
{
    std::vector<KernelSource> sources;
    std::vector<std::int32_t> ofSubgraph; ///< index into sources; -1: a noop, control flow, a function of the runtime
};

/// `choices` has one entry per subgraph; the names of kernels begin with `prefix`. Errors: InvalidArgument naming a
/// subgraph without an alternative.
Result<KernelSet> collectKernels(const graph::Graph& graph, const graph::Partition& partition,
                                 std::span<const KernelChoice> choices, std::string_view prefix = {});

/// One instruction, for reports.
struct InstructionReport
{
    std::string name;
    std::string kind; ///< a word of runtime::kInstructionWords
    std::int32_t subgraph = -1; ///< -1: made by the planner
    std::int64_t runs = 1; ///< in one run of the network, as graph::Subgraph::runs
};

/// What the executor runs, ready to become sections of a library.
struct ModelImage
{
    std::vector<std::byte> description; ///< core/runtime/image.h
    std::vector<std::byte> weights; ///< packed, 64-byte aligned parts; empty if they are in PlanOptions::weightsFile
    std::uint64_t weightsBytes = 0; ///< of the section, what other variants have put into it before included
    std::uint64_t usedWeightsBytes = 0; ///< of those that its kernels read
    std::vector<std::string> phases; ///< symbols, in the order of the description's phase indices
    std::vector<InstructionReport> instructions;
    std::uint64_t arenaBytes = 0;
    std::uint64_t unsharedBytes = 0; ///< what the arena would take without reuse
};

struct PlanOptions
{
    std::string name = "model";
    std::vector<std::string> inputLayouts; ///< "NCHW" ..., one per graph input, or empty
    std::vector<std::string> outputLayouts;
    bool inPlace = true; ///< let kernels overwrite inputs that nobody reads later
    std::filesystem::path
        weightsFile; ///< takes the weights if they are large (backend::BinarySection); empty: they stay in memory
    std::uint64_t weightsInMemory = std::uint64_t{32} << 20; ///< before they are large
    std::shared_ptr<DerivedConstants> derived; ///< shared by libraries of one network; null: made anew
    std::string target; ///< what the kernels were made for
    std::vector<std::string> features; ///< and what a processor must have for them
    /// The section of weights of a library with several variants, each of which adds what the others do not have; then
    /// the three options of weights above have no effect, and the image's own bytes are empty. Null: a section of its
    /// own.
    ConstantPool* constants = nullptr;
};

/// Turns a partitioned graph into instructions over tensors with storage: liveness and best fit for activations, packed
/// constants, layout transforms where a producer's layout is not its consumer's, kernels that write outputs in place.
/// `kernels[i]` describes source i of `set`. Errors: Unsupported or Internal, naming subgraph and parameter.
Result<ModelImage> planModel(const graph::Graph& graph, const graph::Partition& partition,
                             std::span<const KernelChoice> choices, const KernelSet& set,
                             std::span<const KernelInfo> kernels, const PlanOptions& options);

} // namespace lathe::deploy
