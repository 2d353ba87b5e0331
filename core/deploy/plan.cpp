// Values live in tensors, tensors are views of buffers. Every value has a home tensor, in the layout in which its
// producer writes it; a consumer that wants another layout gets a transform in front, made once per value and layout.
// Reshapes (noops) are further views of a plain tensor's buffer. When all instructions stand, buffers of graph outputs
// become the caller's, kernels take over buffers that die under them, and the rest is packed into one arena by
// liveness.

#include "core/deploy/plan.h"

#include "core/compute/json.h"
#include "core/deploy/constants.h"
#include "core/deploy/image_writer.h"
#include "core/deploy/in_place.h"
#include "core/deploy/memory_planner.h"
#include "core/deploy/names.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <climits>
#include <map>

namespace lathe::deploy {

namespace {

using runtime::InstructionKind;
using runtime::Storage;

struct Buffer
{
    std::uint64_t bytes = 0;
    Storage storage = Storage::Arena;
    std::uint64_t place = 0; ///< offset in the weights; the port's index
    std::int32_t first = INT_MAX, last = -1;
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
};

std::uint64_t bytesOf(const IndexMap& map, DType dtype)
{
    return static_cast<std::uint64_t>(map.elementCount() * sizeOf(dtype));
}

bool equalShape(const IndexMap& a, const IndexMap& b)
{
    return a.logicalRank == b.logicalRank && std::equal(a.logicalShape, a.logicalShape + a.logicalRank, b.logicalShape);
}

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
        , m_constants(options.weightsFile, options.weightsInMemory, options.derived)
    {
    }

    Result<ModelImage> run()
    {
        LATHE_TRY(addInputs());
        for (std::size_t i = 0; i < m_partition.subgraphs.size(); ++i) {
            const graph::Subgraph& subgraph = m_partition.subgraphs[i];
            if (auto added = subgraph.noop       ? addNoop(subgraph)
                             : subgraph.function ? addFunction(subgraph, static_cast<std::int32_t>(i))
                                                 : addKernel(subgraph, static_cast<std::int32_t>(i));
                !added)
                return std::move(added).error().note("planning '" + subgraph.name + "'");
        }
        LATHE_TRY(addOutputs());
        findLifetimes();
        if (m_options.inPlace)
            shareInPlace();
        return write();
    }

private:
    static constexpr std::size_t kNone = SIZE_MAX;

    std::size_t addBuffer(std::uint64_t bytes, Storage storage = Storage::Arena, std::uint64_t place = 0)
    {
        m_buffers.push_back({bytes, storage, place});
        return m_buffers.size() - 1;
    }
    std::size_t addTensor(std::size_t buffer, const IndexMap& map, DType dtype, std::string name)
    {
        m_tensors.push_back({buffer, map, dtype, std::move(name)});
        return m_tensors.size() - 1;
    }
    Result<IndexMap> plainMap(const graph::Value& value) const
    {
        if (value.shape.size() > static_cast<std::size_t>(kMaxRank))
            return makeError(Errc::Unsupported, say(Msg::TooManyDimensions, value.name, value.shape.size(), kMaxRank));
        return IndexMap::plain(value.shape.data(), static_cast<int>(value.shape.size()));
    }

    Result<> addInputs()
    {
        for (std::size_t i = 0; i < m_graph.inputs.size(); ++i) {
            const graph::Value& value = m_graph.value(m_graph.inputs[i]);
            LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
            const std::size_t buffer = addBuffer(bytesOf(map, value.dtype), Storage::Input, i);
            home(m_graph.inputs[i]) = addTensor(buffer, map, value.dtype, value.name);
            m_inputs.push_back(home(m_graph.inputs[i]));
        }
        return {};
    }

    std::size_t& home(graph::ValueId id) { return m_homes[static_cast<std::size_t>(id.value)]; }

    Result<std::size_t> constantTensor(const graph::Value& value, const compute::DagPtr& recipe, const IndexMap& map,
                                       DType dtype)
    {
        LATHE_TRY_ASSIGN(const std::uint64_t offset, m_constants.add(value, recipe, map, dtype));
        const auto [place, isNew] = m_constantBuffers.try_emplace({offset, bytesOf(map, dtype)}, m_buffers.size());
        if (isNew)
            addBuffer(bytesOf(map, dtype), Storage::Weights, offset);
        return addTensor(place->second, map, dtype, value.name);
    }

    /// The value in this layout: as it is, as another view, or through a transform.
    Result<std::size_t> tensorIn(graph::ValueId id, const IndexMap& map, DType dtype)
    {
        const graph::Value& value = m_graph.value(id);
        if (value.constant)
            return constantTensor(value, nullptr, map, dtype);
        if (home(id) == kNone)
            return makeError(Errc::Internal, fmt::format("tensor '{}' is read before it is made", value.name));
        if (m_tensors[home(id)].dtype != dtype)
            return makeError(Errc::Internal, fmt::format("tensor '{}' is {}, its reader wants {}", value.name,
                                                         toString(m_tensors[home(id)].dtype), toString(dtype)));
        if (m_tensors[home(id)].map.logicalCount() != map.logicalCount())
            return makeError(Errc::Internal,
                             fmt::format("tensor '{}' of shape {} does not fit its reader", value.name, value.shape));
        return convert(id, home(id), map);
    }

    std::size_t convert(graph::ValueId id, std::size_t from, const IndexMap& map)
    {
        if (m_tensors[from].map == map)
            return from;
        std::vector<std::size_t>& variants = m_variants[static_cast<std::size_t>(id.value)];
        for (const std::size_t variant : variants)
            if (m_tensors[variant].map == map)
                return variant;
        const std::string name = m_tensors[from].name;
        const DType dtype = m_tensors[from].dtype;
        std::size_t made = kNone;
        if (m_tensors[from].map.isPlain() && map.isPlain()) {
            made = addTensor(m_tensors[from].buffer, map, dtype, name);
        } else if (!equalShape(m_tensors[from].map, map)) {
            // Only plain forms of two shapes are the same bytes: there and back through them.
            const IndexMap old = IndexMap::plain(m_tensors[from].map.logicalShape, m_tensors[from].map.logicalRank);
            const IndexMap shaped = IndexMap::plain(map.logicalShape, map.logicalRank);
            return convert(id, convert(id, convert(id, from, old), shaped), map);
        } else {
            made = addTensor(addBuffer(bytesOf(map, dtype)), map, dtype, name);
            m_instructions.push_back({InstructionKind::Transform, "layout of " + name, {from, made}});
        }
        m_variants[static_cast<std::size_t>(id.value)].push_back(made);
        return made;
    }

    Result<> addNoop(const graph::Subgraph& subgraph)
    {
        if (subgraph.outputs.size() != 1 || subgraph.inputs.empty())
            return makeError(Errc::Internal, "a function without work must have one output");
        graph::ValueId data = subgraph.inputs[0];
        for (const graph::ValueId id : subgraph.inputs)
            if (!m_graph.value(id).constant) {
                data = id;
                break;
            }
        const graph::Value& from = m_graph.value(data);
        const graph::Value& to = m_graph.value(subgraph.outputs[0]);
        LATHE_TRY_ASSIGN(const IndexMap fromMap, plainMap(from));
        LATHE_TRY_ASSIGN(const IndexMap toMap, plainMap(to));
        if (from.dtype != to.dtype || fromMap.logicalCount() != toMap.logicalCount())
            return makeError(Errc::Internal, fmt::format("'{}' cannot share the storage of '{}'", to.name, from.name));
        LATHE_TRY_ASSIGN(const std::size_t tensor, tensorIn(data, fromMap, from.dtype));
        home(subgraph.outputs[0]) = addTensor(m_tensors[tensor].buffer, toMap, to.dtype, to.name);
        return {};
    }

    Result<> addKernel(const graph::Subgraph& subgraph, std::int32_t index)
    {
        const graph::Alternative& alternative = *m_choices[static_cast<std::size_t>(index)].alternative;
        const std::int32_t source = m_set.ofSubgraph[static_cast<std::size_t>(index)];
        const KernelInfo& kernel = m_kernels[static_cast<std::size_t>(source)];
        const std::size_t inputs = alternative.bindings.size(), outputs = subgraph.outputs.size();
        if (alternative.dag->inputs.size() != inputs || alternative.dag->outputs.size() != outputs
            || kernel.parameters.size() != inputs + outputs)
            return makeError(Errc::Internal, fmt::format("the kernel has {} parameters for {} inputs and {} outputs",
                                                         kernel.parameters.size(), inputs, outputs));
        Instruction instruction{InstructionKind::Kernel, subgraph.name, {}, outputs, source, index};
        for (std::size_t k = 0; k < inputs; ++k) {
            const ArgSpec& spec = kernel.parameters[k];
            const graph::InputBinding& binding = alternative.bindings[k];
            if (binding.taskInput < 0 || static_cast<std::size_t>(binding.taskInput) >= subgraph.inputs.size())
                return makeError(Errc::Internal, fmt::format("parameter '{}' is bound to input {} of {}", spec.name,
                                                             binding.taskInput, subgraph.inputs.size()));
            const graph::ValueId id = subgraph.inputs[static_cast<std::size_t>(binding.taskInput)];
            const graph::Value& value = m_graph.value(id);
            if (binding.recipe && !value.constant)
                return makeError(Errc::Unsupported, fmt::format("'{}' has to be known ahead of time for '{}'",
                                                                value.name, alternative.name));
            LATHE_TRY_ASSIGN(const std::size_t tensor, value.constant
                                                           ? constantTensor(value, binding.recipe, spec.map, spec.dtype)
                                                           : tensorIn(id, spec.map, spec.dtype));
            instruction.arguments.push_back(tensor);
        }
        for (std::size_t j = 0; j < outputs; ++j) {
            const ArgSpec& spec = kernel.parameters[inputs + j];
            const graph::Value& value = m_graph.value(subgraph.outputs[j]);
            LATHE_TRY_ASSIGN(const IndexMap plain, plainMap(value));
            if (spec.dtype != value.dtype || spec.map.logicalCount() != plain.logicalCount())
                return makeError(Errc::Internal, fmt::format("output '{}' of shape {} does not fit the kernel's",
                                                             value.name, value.shape));
            const std::size_t tensor = addTensor(addBuffer(bytesOf(spec.map, spec.dtype)), spec.map, spec.dtype,
                                                 value.name);
            home(subgraph.outputs[j]) = tensor;
            instruction.arguments.push_back(tensor);
        }
        m_instructions.push_back(std::move(instruction));
        return {};
    }

    /// Its parameters come first, in a constant; operands and results are plain.
    Result<> addFunction(const graph::Subgraph& subgraph, std::int32_t index)
    {
        const graph::FunctionCall& call = *subgraph.function;
        graph::Value parameters;
        parameters.name = subgraph.name + "_parameters";
        parameters.dtype = DType::I64;
        parameters.shape = {static_cast<std::int64_t>(call.parameters.size())};
        parameters.constant = graph::makeConst(call.parameters.data(), call.parameters.size() * sizeof(std::int64_t));
        LATHE_TRY_ASSIGN(const IndexMap parameterMap, plainMap(parameters));
        Instruction instruction{InstructionKind::Kernel, subgraph.name, {}, 0, -1, index, &call};
        LATHE_TRY_ASSIGN(const std::size_t first, constantTensor(parameters, nullptr, parameterMap, DType::I64));
        instruction.arguments.push_back(first);
        const graph::Node& node = m_graph.node(subgraph.nodes.front());
        for (const graph::ValueId id : node.inputs) { // in the node's order, each as often as it is read
            const graph::Value& value = m_graph.value(id);
            LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
            LATHE_TRY_ASSIGN(const std::size_t tensor, tensorIn(id, map, value.dtype));
            instruction.arguments.push_back(tensor);
        }
        for (const graph::ValueId id : node.outputs) { // those that nobody reads, too
            const graph::Value& value = m_graph.value(id);
            LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
            home(id) = addTensor(addBuffer(bytesOf(map, value.dtype)), map, value.dtype, value.name);
            instruction.arguments.push_back(home(id));
        }
        instruction.outputCount = node.outputs.size();
        m_instructions.push_back(std::move(instruction));
        return {};
    }

    Result<> addOutputs()
    {
        for (std::size_t i = 0; i < m_graph.outputs.size(); ++i) {
            const graph::ValueId id = m_graph.outputs[i];
            const graph::Value& value = m_graph.value(id);
            LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
            LATHE_TRY_ASSIGN(const std::size_t tensor, tensorIn(id, map, value.dtype));
            const std::string& name = m_graph.outputName(i);
            Buffer& buffer = m_buffers[m_tensors[tensor].buffer];
            if (buffer.storage == Storage::Arena) { // its producer writes the caller's buffer
                buffer.storage = Storage::Output;
                buffer.place = i;
                m_outputs.push_back(addTensor(m_tensors[tensor].buffer, map, value.dtype, name));
                continue;
            }
            const std::size_t own = addTensor(addBuffer(bytesOf(map, value.dtype), Storage::Output, i), map,
                                              value.dtype, name);
            m_instructions.push_back({InstructionKind::Copy, "output " + name, {tensor, own}});
            m_outputs.push_back(own);
        }
        for (const graph::OutputExtent& extent : m_graph.outputExtents) {
            const graph::Value& count = m_graph.value(extent.count);
            LATHE_TRY_ASSIGN(const IndexMap map, plainMap(count));
            LATHE_TRY_ASSIGN(const std::size_t tensor, tensorIn(extent.count, map, count.dtype));
            m_counts.push_back(tensor);
        }
        return {};
    }

    void findLifetimes()
    {
        for (Buffer& buffer : m_buffers) {
            buffer.first = INT_MAX;
            buffer.last = -1;
        }
        for (std::size_t i = 0; i < m_instructions.size(); ++i)
            for (const std::size_t tensor : m_instructions[i].arguments) {
                Buffer& buffer = m_buffers[m_tensors[tensor].buffer];
                buffer.first = std::min(buffer.first, static_cast<std::int32_t>(i));
                buffer.last = std::max(buffer.last, static_cast<std::int32_t>(i));
            }
        for (const std::size_t count : m_counts) // is looked at when all is done
            m_buffers[m_tensors[count].buffer].last = static_cast<std::int32_t>(m_instructions.size());
    }

    /// Which arguments the instruction's result may take the place of. None for kernels of several phases: an earlier
    /// one may fill the output before a later one reads.
    std::vector<bool> overwritable(const Instruction& in) const
    {
        std::vector<bool> allowed(in.arguments.size(), false);
        if (in.function != nullptr) {
            if (in.function->overwrites >= 0)
                allowed[1 + static_cast<std::size_t>(in.function->overwrites)] = true; // behind the parameters
            return allowed;
        }
        const KernelSource& source = m_set.sources[static_cast<std::size_t>(in.source)];
        if (m_kernels[static_cast<std::size_t>(in.source)].phases.size() != 1 || recomputes(source.steps))
            return allowed;
        return overwritableInputs(*source.dag);
    }

    void shareInPlace()
    {
        for (std::size_t i = 0; i < m_instructions.size(); ++i) {
            const Instruction& in = m_instructions[i];
            if (in.kind != InstructionKind::Kernel || in.outputCount != 1)
                continue;
            const std::vector<bool> allowed = overwritable(in);
            const Tensor& out = m_tensors[in.arguments.back()];
            const std::size_t outBuffer = out.buffer;
            if (m_buffers[outBuffer].storage != Storage::Arena)
                continue;
            for (std::size_t k = 0; k + 1 < in.arguments.size(); ++k) {
                const Tensor& tensor = m_tensors[in.arguments[k]];
                const std::size_t buffer = tensor.buffer;
                const auto readers = std::count_if(in.arguments.begin(), in.arguments.end(),
                                                   [&](std::size_t t) { return m_tensors[t].buffer == buffer; });
                if (!allowed[k] || m_buffers[buffer].storage != Storage::Arena
                    || m_buffers[buffer].last != static_cast<std::int32_t>(i) || readers != 1
                    || tensor.dtype != out.dtype || !(tensor.map == out.map)
                    || m_buffers[buffer].bytes != m_buffers[outBuffer].bytes)
                    continue;
                m_buffers[buffer].last = m_buffers[outBuffer].last;
                m_buffers[outBuffer].last = -1;
                for (Tensor& other : m_tensors)
                    if (other.buffer == outBuffer)
                        other.buffer = buffer;
                break;
            }
        }
    }

    Result<ModelImage> write()
    {
        ModelImage image;
        std::vector<LiveBlock> blocks;
        std::vector<std::size_t> blockOf(m_buffers.size(), kNone);
        for (std::size_t b = 0; b < m_buffers.size(); ++b) {
            const Buffer& buffer = m_buffers[b];
            if (buffer.storage != Storage::Arena || buffer.last < 0)
                continue;
            blockOf[b] = blocks.size();
            blocks.push_back({buffer.bytes, buffer.first, buffer.last});
            image.unsharedBytes += (buffer.bytes + 63) / 64 * 64;
        }
        const MemoryPlan memory = planMemory(blocks);
        image.arenaBytes = memory.bytes;

        ImageWriter writer(m_options.name);
        std::vector<std::uint32_t> written(m_tensors.size(), UINT32_MAX);
        const auto tensorIndex = [&](std::size_t t) {
            if (written[t] == UINT32_MAX) {
                const Tensor& tensor = m_tensors[t];
                const Buffer& buffer = m_buffers[tensor.buffer];
                const std::uint64_t place = buffer.storage == Storage::Arena ? memory.offsets[blockOf[tensor.buffer]]
                                                                             : buffer.place;
                written[t] = writer.addTensor({tensor.name, tensor.dtype, buffer.storage, place, tensor.map});
            }
            return written[t];
        };
        ImageWriter::Sizes sizes;
        std::vector<std::uint32_t> firstPhase;
        for (const KernelInfo& kernel : m_kernels) {
            if (kernel.phases.empty() || kernel.teamScratchBytes < 0 || kernel.partScratchBytes < 0)
                return makeError(Errc::Internal, fmt::format("kernel '{}' has no phases", kernel.name));
            firstPhase.push_back(static_cast<std::uint32_t>(image.phases.size()));
            image.phases.insert(image.phases.end(), kernel.phases.begin(), kernel.phases.end());
            sizes.teamScratch = std::max(sizes.teamScratch, static_cast<std::uint64_t>(kernel.teamScratchBytes));
            sizes.partScratch = std::max(sizes.partScratch, static_cast<std::uint64_t>(kernel.partScratchBytes));
        }
        std::map<std::vector<std::string>, std::uint32_t> functionPhases; // of all functions so far: where they begin
        for (const Instruction& in : m_instructions) {
            if (in.function == nullptr)
                continue;
            const graph::FunctionCall& call = *in.function;
            if (functionPhases.try_emplace(call.phases, static_cast<std::uint32_t>(image.phases.size())).second)
                image.phases.insert(image.phases.end(), call.phases.begin(), call.phases.end());
            sizes.teamScratch = std::max(sizes.teamScratch, static_cast<std::uint64_t>(call.teamScratchBytes));
            sizes.partScratch = std::max(sizes.partScratch, static_cast<std::uint64_t>(call.partScratchBytes));
        }
        for (const Instruction& in : m_instructions) {
            std::vector<std::uint32_t> arguments;
            for (const std::size_t t : in.arguments)
                arguments.push_back(tensorIndex(t));
            switch (in.kind) {
            case InstructionKind::Kernel:
                if (in.function != nullptr) {
                    writer.addKernel(in.name, arguments, static_cast<std::uint32_t>(in.outputCount),
                                     functionPhases.at(in.function->phases),
                                     static_cast<std::uint32_t>(in.function->phases.size()));
                    break;
                }
                writer.addKernel(
                    in.name, arguments, static_cast<std::uint32_t>(in.outputCount),
                    firstPhase[static_cast<std::size_t>(in.source)],
                    static_cast<std::uint32_t>(m_kernels[static_cast<std::size_t>(in.source)].phases.size()));
                break;
            case InstructionKind::Copy: writer.addCopy(in.name, arguments[0], arguments[1]); break;
            case InstructionKind::Transform: writer.addTransform(in.name, arguments[0], arguments[1]); break;
            }
            static constexpr const char* kKinds[] = {"kernel", "copy", "transform"};
            image.instructions.push_back({in.name, kKinds[static_cast<int>(in.kind)], in.subgraph});
        }
        for (std::size_t i = 0; i < m_inputs.size(); ++i)
            writer.addInput(tensorIndex(m_inputs[i]),
                            i < m_options.inputLayouts.size() ? m_options.inputLayouts[i] : "");
        for (std::size_t i = 0; i < m_outputs.size(); ++i)
            writer.addOutput(tensorIndex(m_outputs[i]),
                             i < m_options.outputLayouts.size() ? m_options.outputLayouts[i] : "");
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            const graph::OutputExtent& extent = m_graph.outputExtents[i];
            writer.addExtent(static_cast<std::uint32_t>(extent.output), static_cast<std::uint32_t>(extent.axis),
                             tensorIndex(m_counts[i]));
        }
        sizes.arena = memory.bytes;
        sizes.weights = m_constants.bytes();
        image.weightsBytes = m_constants.bytes();
        sizes.phases = image.phases.size();
        image.description = writer.finish(sizes);
        image.weights = std::move(m_constants).take();

        runtime::Image opened;
        runtime::ErrorText error;
        if (!runtime::openImage(image.description.data(), image.description.size(), opened, error))
            return makeError(Errc::Internal, fmt::format("the planned model does not hold together: {}", error.text));
        return image;
    }

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
    std::vector<std::size_t> m_inputs, m_outputs;
    std::vector<std::size_t> m_counts; ///< by entry of Graph::outputExtents: tensor
    ConstantPool m_constants;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> m_constantBuffers; ///< by (offset, bytes)
};

} // namespace

Result<KernelSet> collectKernels(const graph::Graph& graph, const graph::Partition& partition,
                                 std::span<const KernelChoice> choices)
{
    if (choices.size() != partition.subgraphs.size())
        return makeError(Errc::InvalidArgument, fmt::format("{} schedules were chosen for {} subgraphs", choices.size(),
                                                            partition.subgraphs.size()));
    KernelSet set;
    std::map<const compute::Dag*, std::string> texts; // equal DAGs of two subgraphs may be two objects
    std::map<std::pair<std::string, std::string>, std::int32_t> known;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const graph::Subgraph& subgraph = partition.subgraphs[i];
        if (subgraph.noop || subgraph.function) {
            set.ofSubgraph.push_back(-1);
            continue;
        }
        const graph::Alternative* const alternative = choices[i].alternative;
        if (alternative == nullptr || !alternative->dag)
            return makeError(Errc::InvalidArgument, fmt::format("no program was chosen for '{}'", subgraph.name));
        KernelSource source{{}, alternative->dag, choices[i].steps, {}};
        for (const graph::InputBinding& binding : alternative->bindings) {
            if (binding.taskInput < 0 || static_cast<std::size_t>(binding.taskInput) >= subgraph.inputs.size())
                return makeError(Errc::Internal, fmt::format("'{}' binds input {} of {}", subgraph.name,
                                                             binding.taskInput, subgraph.inputs.size()));
            source.constantInputs.push_back(
                graph.value(subgraph.inputs[static_cast<std::size_t>(binding.taskInput)]).constant != nullptr);
        }
        std::string& text = texts[alternative->dag.get()];
        if (text.empty())
            text = compute::toJson(*alternative->dag).dump();
        std::string schedule = source.steps + '|';
        for (const bool constant : source.constantInputs)
            schedule += constant ? '1' : '0';
        const auto [place, isNew] = known.try_emplace({text, schedule}, static_cast<std::int32_t>(set.sources.size()));
        if (isNew) {
            source.name = fmt::format("k{}_{}", set.sources.size(), cIdentifier(subgraph.name).substr(0, 48));
            set.sources.push_back(std::move(source));
        }
        set.ofSubgraph.push_back(place->second);
    }
    return set;
}

Result<ModelImage> planModel(const graph::Graph& graph, const graph::Partition& partition,
                             std::span<const KernelChoice> choices, const KernelSet& set,
                             std::span<const KernelInfo> kernels, const PlanOptions& options)
{
    if (set.ofSubgraph.size() != partition.subgraphs.size() || choices.size() != partition.subgraphs.size()
        || kernels.size() != set.sources.size())
        return makeError(Errc::InvalidArgument, "kernels, schedules and subgraphs do not belong together");
    return Planner(graph, partition, choices, set, kernels, options).run();
}

} // namespace lathe::deploy
