#pragma once

#include "core/deploy/constants.h"
#include "core/deploy/plan.h"
#include "core/runtime/image.h"

#include <climits>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace lathe::deploy {

/// Makes instructions of a partitioned graph: plan.h. One planner, one plan.
///
/// Values live in tensors, tensors are views of buffers. Every value has a home tensor, in the layout in which its
/// producer writes it; a consumer that wants another layout gets a transform in front, made once per value and layout.
/// Reshapes (noops) are further views of a plain tensor's buffer. When all instructions stand, buffers of graph outputs
/// become the caller's, kernels take over buffers that die under them, and the rest is packed into one arena by
/// liveness.
///
/// Kernels of launches run on one device beside the processor; all else is the processor's. A value has its home where
/// it is made, and a copy wherever else it is read, made once. Constants lie where they are read.
///
/// Control flow (graph/flatten.h) becomes branch and loop instructions in front of the instructions that they run. Both
/// branches leave their results in one tensor. What a loop carries has one tensor, too, which is filled before the
/// loop. What makes the next value writes it there, if nothing reads the old one any more; else the two tensors trade
/// places at the end of each iteration, or a small one is copied. What is alive anywhere around an iteration lives as
/// long as the loop. Other layouts of what a loop only reads are made before it.
class Planner
{
public:
    Planner(const graph::Graph& graph, const graph::Partition& partition, std::span<const KernelChoice> choices,
            const KernelSet& set, std::span<const KernelInfo> kernels, const PlanOptions& options)
        : m_graph(graph)
        , m_partition(partition)
        , m_choices(choices)
        , m_set(set)
        , m_kernels(kernels)
        , m_options(options)
        , m_homes(graph.values.size(), kNone)
        , m_variants(graph.values.size())
        , m_ownConstants(options.weightsFile, options.weightsInMemory, options.derived)
        , m_constants(options.constants != nullptr ? *options.constants : m_ownConstants)
    {
    }

    Result<ModelImage> run();

private:
    using InstructionKind = runtime::InstructionKind;
    using Storage = runtime::Storage;

    static constexpr std::uint32_t kProcessor = 0, kBeside = 1;
    /// Of stretches of a device's memory, which are the beginnings of buffers there (core/runtime/stretches.h).
    static constexpr std::uint64_t kDeviceAlignment = runtime::kTensorAlignment;

    struct Buffer
    {
        std::uint64_t bytes = 0;
        Storage storage = Storage::Arena;
        std::uint64_t place = 0; ///< offset in the weights; the port's index
        std::int32_t first = INT_MAX, last = -1;
        bool held = false; ///< by a loop, beyond what reads it last: nothing may take it over
        bool carried = false; ///< what makes a loop's next value writes there: no other buffer may take its part
        bool swapped = false; ///< trades places with another one: both are theirs alone in the whole run
        std::uint32_t device = 0; ///< in whose memory: kProcessor or kBeside
    };

    struct Tensor
    {
        std::size_t buffer = 0;
        IndexMap map;
        DType dtype = DType::F32;
        std::string name;
    };

    struct Instruction
    {
        InstructionKind kind = InstructionKind::Kernel;
        std::string name;
        std::vector<std::size_t> arguments; ///< tensors
        std::size_t outputCount = 1;
        std::int32_t source = -1; ///< of a generated kernel
        std::int32_t subgraph = -1;
        const graph::FunctionCall* function = nullptr; ///< instead of a generated kernel
        std::size_t whenTrue = 0, whenFalse = 0; ///< of a branch: instructions
        std::size_t body = 0; ///< of a loop: likewise
        std::int64_t runs = 1;
    };

    /// A branch or loop to which instructions are being added.
    struct Open
    {
        std::size_t place = 0; ///< of its instruction
        std::size_t stretch = 0; ///< where the branch at hand, or the body, begins
        std::size_t buffers = 0; ///< how many there were then
        std::size_t variants = 0; ///< how many there were before
        std::int64_t runs = 1; ///< of the instruction
        const graph::Node* begin = nullptr; ///< of a loop; null: a branch
        std::int32_t region = -1; ///< of a loop
    };

    // planner.cpp
    Result<> addSubgraphs(std::size_t first, std::size_t end);
    std::size_t addBuffer(std::uint64_t bytes, Storage storage = Storage::Arena, std::uint64_t place = 0,
                          std::uint32_t device = kProcessor);
    std::uint32_t deviceOf(std::size_t tensor) const { return m_buffers[m_tensors[tensor].buffer].device; }
    std::size_t addTensor(std::size_t buffer, const IndexMap& map, DType dtype, std::string name);
    Result<IndexMap> plainMap(const graph::Value& value) const;
    Result<> addInputs();
    std::size_t& home(graph::ValueId id) { return m_homes[static_cast<std::size_t>(id.value)]; }
    Result<std::size_t> constantTensor(const graph::Value& value, const compute::DagPtr& recipe, const IndexMap& map,
                                       DType dtype, std::uint32_t device = kProcessor);
    /// The value in this layout and there: as it is, as another view, or through a transform or a copy.
    Result<std::size_t> tensorIn(graph::ValueId id, const IndexMap& map, DType dtype,
                                 std::uint32_t device = kProcessor);
    std::size_t convert(graph::ValueId id, std::size_t from, const IndexMap& map, std::uint32_t device);
    void add(Instruction instruction);
    /// In front of an open branch or loop, an index into m_open; behind all if it is none of them.
    void addBefore(std::size_t open, Instruction instruction);
    void addCopy(const std::string& name, std::size_t from, std::size_t to);
    Result<std::size_t> plainTensor(graph::ValueId id);
    /// In the arena, not written yet.
    Result<std::size_t> newPlainTensor(const graph::Value& value);
    Result<> addNoop(const graph::Subgraph& subgraph);
    Result<> addKernel(const graph::Subgraph& subgraph, std::int32_t index);
    /// Its parameters come first, in a constant; operands and results are plain.
    Result<> addFunction(const graph::Subgraph& subgraph, std::int32_t index);
    Result<> addOutputs();

    // plan_control.cpp
    const graph::Node& nodeOf(std::size_t subgraph) const;
    bool isBranch(std::size_t subgraph) const;
    /// The region that begins at this subgraph, of a branch that for false if `second`; -1: none.
    std::int32_t regionAt(std::size_t subgraph, bool second) const;
    /// The subgraph that ends what begins at this one.
    std::size_t endOf(std::size_t subgraph) const;
    /// The outermost open loop in front of which the value is already what it is at this place: what is made of it
    /// alone need not be made in each iteration. An index into m_open; its size: none is.
    std::size_t hoistedTo(graph::ValueId id) const;
    /// What was brought into other layouts inside of a stretch that may not have run is not there behind it.
    void forgetVariants();
    Result<> addBranch(std::size_t first, std::size_t last);
    /// Where the buffer is first used; SIZE_MAX: nowhere.
    std::size_t firstUseOf(std::size_t buffer) const;
    /// Whether the tensor's buffer is of the arena, of as many bytes as that of `to`, and used in the open stretch
    /// alone.
    bool isOfStretch(std::size_t tensor, std::size_t to) const;
    /// Lets what makes `from` write into the buffer of `to` instead, if its own is of the open stretch.
    bool writeThere(std::size_t from, std::size_t to);
    /// Whether that may be done with the next value of what the open loop carries: nothing reads the old one then.
    bool isOldDead(std::size_t from, std::size_t to) const;
    /// Whether the kernel may write its only result over what this buffer holds.
    bool mayOverwrite(const Instruction& in, std::size_t buffer) const;
    Result<> addLoop(std::size_t first, std::size_t last);
    /// Whether the condition of a loop is a constant, and stays it.
    bool isAlways(const graph::Node& begin, const graph::Node& end) const;
    /// What the next iteration starts with, to where it is looked for. All that would be overwritten before it is read
    /// goes to a place of its own first: the values that trade places.
    Result<> addBackEdge(const graph::Node& begin, const graph::Node& end);

    // plan_memory.cpp
    void findLifetimes();
    /// A buffer that is used around a loop and in it keeps what it holds from one iteration to the next.
    void holdOverLoops();
    /// Which arguments the instruction's result may take the place of. None for kernels of several phases: an earlier
    /// one may fill the output before a later one reads.
    std::vector<bool> overwritable(const Instruction& in) const;
    void shareInPlace();
    /// Gives the buffers of a device's arena their places. Returns its bytes.
    std::uint64_t placeBuffers(std::uint32_t device, std::uint64_t alignment, ModelImage& image);
    /// By buffer: the tensor of an input or output in whose place a device's may lie (runtime::ImageTensor), or kNone.
    std::vector<std::size_t> findInPlace() const;
    Result<ModelImage> write();

    static constexpr std::size_t kNone = SIZE_MAX;
    const graph::Graph& m_graph;
    const graph::Partition& m_partition;
    std::span<const KernelChoice> m_choices;
    const KernelSet& m_set;
    std::span<const KernelInfo> m_kernels;
    const PlanOptions& m_options;
    std::vector<Buffer> m_buffers;
    std::vector<Tensor> m_tensors;
    std::vector<Instruction> m_instructions;
    std::vector<std::size_t> m_homes; ///< by value: tensor
    std::vector<std::vector<std::size_t>> m_variants; ///< by value: tensors in other layouts
    std::vector<graph::ValueId> m_madeVariants; ///< whose they are, those made in front of a loop before those in it
    std::vector<Open> m_open; ///< branches and loops, the innermost last
    std::int64_t m_runs = 1; ///< of what is being added, in one run of the network
    std::vector<std::size_t> m_inputs, m_outputs;
    std::vector<std::size_t> m_counts; ///< by entry of Graph::outputExtents: tensor
    ConstantPool m_ownConstants;
    ConstantPool& m_constants;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, std::size_t>
        m_constantBuffers; ///< by (offset, bytes, device)
};

/// Of a tensor in this form.
std::uint64_t bytesOf(const IndexMap& map, DType dtype);

} // namespace lathe::deploy
