#include "core/deploy/planner.h"

#include "core/support/check.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe::deploy {

namespace {

bool equalShape(const IndexMap& a, const IndexMap& b)
{
    return a.logicalRank == b.logicalRank && std::equal(a.logicalShape, a.logicalShape + a.logicalRank, b.logicalShape);
}

} // namespace

std::uint64_t bytesOf(const IndexMap& map, DType dtype)
{
    return static_cast<std::uint64_t>(map.elementCount() * sizeOf(dtype));
}

Result<ModelImage> Planner::run()
{
    LATHE_TRY(addInputs());
    LATHE_TRY(addSubgraphs(0, m_partition.subgraphs.size()));
    LATHE_TRY(addOutputs());
    findLifetimes();
    if (m_options.inPlace)
        shareInPlace();
    return write();
}

Result<> Planner::addSubgraphs(std::size_t first, std::size_t end)
{
    for (std::size_t i = first; i < end; ++i) {
        const graph::Subgraph& subgraph = m_partition.subgraphs[i];
        m_runs = subgraph.runs;
        Result<> added;
        if (subgraph.control) {
            const std::size_t last = endOf(i);
            LATHE_CHECK(last < end) << "the control flow " << subgraph.name << " has no end";
            added = isBranch(i) ? addBranch(i, last) : addLoop(i, last);
            i = last;
        } else {
            added = subgraph.noop       ? addNoop(subgraph)
                    : subgraph.function ? addFunction(subgraph, static_cast<std::int32_t>(i))
                                        : addKernel(subgraph, static_cast<std::int32_t>(i));
        }
        if (!added)
            return std::move(added).error().note("planning '" + subgraph.name + "'");
    }
    return {};
}

std::size_t Planner::addBuffer(std::uint64_t bytes, Storage storage, std::uint64_t place, std::uint32_t device)
{
    Buffer& buffer = m_buffers.emplace_back();
    buffer.bytes = bytes;
    buffer.storage = storage;
    buffer.place = place;
    buffer.device = device;
    return m_buffers.size() - 1;
}

std::size_t Planner::addTensor(std::size_t buffer, const IndexMap& map, DType dtype, std::string name)
{
    m_tensors.push_back({buffer, map, dtype, std::move(name)});
    return m_tensors.size() - 1;
}

Result<IndexMap> Planner::plainMap(const graph::Value& value) const
{
    if (value.shape.size() > static_cast<std::size_t>(kMaxRank))
        return makeError(Errc::Unsupported, say(Msg::TooManyDimensions, value.name, value.shape.size(), kMaxRank));
    return IndexMap::plain(value.shape.data(), static_cast<int>(value.shape.size()));
}

Result<> Planner::addInputs()
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

Result<std::size_t> Planner::constantTensor(const graph::Value& value, const compute::DagPtr& recipe,
                                            const IndexMap& map, DType dtype, std::uint32_t device)
{
    LATHE_TRY_ASSIGN(const std::uint64_t offset, m_constants.add(value, recipe, map, dtype));
    const auto [place, isNew] = m_constantBuffers.try_emplace({offset, bytesOf(map, dtype), device}, m_buffers.size());
    if (isNew)
        addBuffer(bytesOf(map, dtype), Storage::Weights, offset, device);
    return addTensor(place->second, map, dtype, value.name);
}

Result<std::size_t> Planner::tensorIn(graph::ValueId id, const IndexMap& map, DType dtype, std::uint32_t device)
{
    const graph::Value& value = m_graph.value(id);
    if (value.constant)
        return constantTensor(value, nullptr, map, dtype, device);
    if (home(id) == kNone)
        return makeError(Errc::Internal, fmt::format("tensor '{}' is read before it is made", value.name));
    if (m_tensors[home(id)].dtype != dtype)
        return makeError(Errc::Internal, fmt::format("tensor '{}' is {}, its reader wants {}", value.name,
                                                     toString(m_tensors[home(id)].dtype), toString(dtype)));
    if (m_tensors[home(id)].map.logicalCount() != map.logicalCount())
        return makeError(Errc::Internal,
                         fmt::format("tensor '{}' of shape {} does not fit its reader", value.name, value.shape));
    return convert(id, home(id), map, device);
}

std::size_t Planner::convert(graph::ValueId id, std::size_t from, const IndexMap& map, std::uint32_t device)
{
    if (m_tensors[from].map == map && deviceOf(from) == device)
        return from;
    const std::vector<std::size_t>& variants = m_variants[static_cast<std::size_t>(id.value)];
    for (const std::size_t variant : variants)
        if (m_tensors[variant].map == map && deviceOf(variant) == device)
            return variant;
    const std::string name = m_tensors[from].name;
    const DType dtype = m_tensors[from].dtype;
    std::size_t made = kNone;
    const std::size_t open = hoistedTo(id);
    const bool isView = m_tensors[from].map.isPlain() && map.isPlain();
    if (deviceOf(from) != device) {
        // The processor alone changes layouts: before the copy to the device, or behind the one from it.
        if (device == kProcessor && !(m_tensors[from].map == map))
            return convert(id, convert(id, from, m_tensors[from].map, device), map, device);
        if (!(m_tensors[from].map == map))
            return convert(id, convert(id, from, map, deviceOf(from)), map, device);
        made = addTensor(addBuffer(bytesOf(map, dtype), Storage::Arena, 0, device), map, dtype, name);
        addBefore(open, {InstructionKind::Copy, (device == kProcessor ? "read " : "write ") + name, {from, made}});
    } else if (device != kProcessor && !isView) {
        return convert(id, convert(id, from, map, kProcessor), map, device);
    } else if (isView) {
        made = addTensor(m_tensors[from].buffer, map, dtype, name);
    } else if (!equalShape(m_tensors[from].map, map)) {
        // Only plain forms of two shapes are the same bytes: there and back through them.
        const IndexMap old = IndexMap::plain(m_tensors[from].map.logicalShape, m_tensors[from].map.logicalRank);
        const IndexMap shaped = IndexMap::plain(map.logicalShape, map.logicalRank);
        return convert(id, convert(id, convert(id, from, old, device), shaped, device), map, device);
    } else {
        made = addTensor(addBuffer(bytesOf(map, dtype)), map, dtype, name);
        addBefore(open, {InstructionKind::Transform, "layout of " + name, {from, made}});
    }
    m_variants[static_cast<std::size_t>(id.value)].push_back(made);
    const std::size_t kept = open < m_open.size() ? m_open[open].variants : m_madeVariants.size();
    m_madeVariants.insert(m_madeVariants.begin() + static_cast<std::ptrdiff_t>(kept), id);
    for (std::size_t i = open; i < m_open.size(); ++i)
        ++m_open[i].variants;
    return made;
}

void Planner::add(Instruction instruction)
{
    instruction.runs = m_runs;
    m_instructions.push_back(std::move(instruction));
}

void Planner::addBefore(std::size_t open, Instruction instruction)
{
    if (open >= m_open.size()) {
        add(std::move(instruction));
        return;
    }
    instruction.runs = m_open[open].runs;
    m_instructions.insert(m_instructions.begin() + static_cast<std::ptrdiff_t>(m_open[open].place),
                          std::move(instruction));
    for (std::size_t i = open; i < m_open.size(); ++i) {
        ++m_open[i].place;
        ++m_open[i].stretch;
    }
}

void Planner::addCopy(const std::string& name, std::size_t from, std::size_t to)
{
    if (m_tensors[from].buffer != m_tensors[to].buffer)
        add({InstructionKind::Copy, name, {from, to}});
}

Result<std::size_t> Planner::plainTensor(graph::ValueId id)
{
    const graph::Value& value = m_graph.value(id);
    LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
    return tensorIn(id, map, value.dtype);
}

Result<std::size_t> Planner::newPlainTensor(const graph::Value& value)
{
    LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
    return addTensor(addBuffer(bytesOf(map, value.dtype)), map, value.dtype, value.name);
}

Result<> Planner::addNoop(const graph::Subgraph& subgraph)
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
    // Where it is already, unless its layout has to change first, which the processor does.
    const bool isPlain = !from.constant && home(data) != kNone && m_tensors[home(data)].map.isPlain();
    const std::uint32_t device = isPlain ? deviceOf(home(data)) : kProcessor;
    LATHE_TRY_ASSIGN(const std::size_t tensor, tensorIn(data, fromMap, from.dtype, device));
    home(subgraph.outputs[0]) = addTensor(m_tensors[tensor].buffer, toMap, to.dtype, to.name);
    return {};
}

Result<> Planner::addKernel(const graph::Subgraph& subgraph, std::int32_t index)
{
    const graph::Alternative& alternative = *m_choices[static_cast<std::size_t>(index)].alternative;
    const std::int32_t source = m_set.ofSubgraph[static_cast<std::size_t>(index)];
    const KernelInfo& kernel = m_kernels[static_cast<std::size_t>(source)];
    const std::uint32_t device = kernel.form == KernelForm::Launches ? kBeside : kProcessor;
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
            return makeError(Errc::Unsupported,
                             fmt::format("'{}' has to be known ahead of time for '{}'", value.name, alternative.name));
        LATHE_TRY_ASSIGN(const std::size_t tensor,
                         value.constant ? constantTensor(value, binding.recipe, spec.map, spec.dtype, device)
                                        : tensorIn(id, spec.map, spec.dtype, device));
        instruction.arguments.push_back(tensor);
    }
    for (std::size_t j = 0; j < outputs; ++j) {
        const ArgSpec& spec = kernel.parameters[inputs + j];
        const graph::Value& value = m_graph.value(subgraph.outputs[j]);
        LATHE_TRY_ASSIGN(const IndexMap plain, plainMap(value));
        if (spec.dtype != value.dtype || spec.map.logicalCount() != plain.logicalCount())
            return makeError(Errc::Internal,
                             fmt::format("output '{}' of shape {} does not fit the kernel's", value.name, value.shape));
        const std::size_t buffer = addBuffer(bytesOf(spec.map, spec.dtype), Storage::Arena, 0, device);
        const std::size_t tensor = addTensor(buffer, spec.map, spec.dtype, value.name);
        home(subgraph.outputs[j]) = tensor;
        instruction.arguments.push_back(tensor);
    }
    add(std::move(instruction));
    return {};
}

Result<> Planner::addFunction(const graph::Subgraph& subgraph, std::int32_t index)
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
    add(std::move(instruction));
    return {};
}

Result<> Planner::addOutputs()
{
    for (std::size_t i = 0; i < m_graph.outputs.size(); ++i) {
        const graph::ValueId id = m_graph.outputs[i];
        const graph::Value& value = m_graph.value(id);
        LATHE_TRY_ASSIGN(const IndexMap map, plainMap(value));
        LATHE_TRY_ASSIGN(const std::size_t tensor, tensorIn(id, map, value.dtype));
        const std::string& name = m_graph.outputName(i);
        Buffer& buffer = m_buffers[m_tensors[tensor].buffer];
        if (buffer.storage == Storage::Arena && !buffer.swapped) { // its producer writes the caller's buffer
            buffer.storage = Storage::Output;
            buffer.place = i;
            m_outputs.push_back(addTensor(m_tensors[tensor].buffer, map, value.dtype, name));
            continue;
        }
        const std::size_t own = addTensor(addBuffer(bytesOf(map, value.dtype), Storage::Output, i), map, value.dtype,
                                          name);
        add({InstructionKind::Copy, "output " + name, {tensor, own}});
        m_outputs.push_back(own);
    }
    for (const graph::OutputExtent& extent : m_graph.outputExtents) {
        const graph::Value& count = m_graph.value(extent.count);
        LATHE_TRY_ASSIGN(const IndexMap map, plainMap(count));
        LATHE_TRY_ASSIGN(std::size_t tensor, tensorIn(extent.count, map, count.dtype));
        if (m_buffers[m_tensors[tensor].buffer].swapped) { // its place is looked up without a run
            LATHE_TRY_ASSIGN(const std::size_t own, newPlainTensor(count));
            addCopy(count.name, tensor, own);
            tensor = own;
        }
        m_counts.push_back(tensor);
    }
    return {};
}

} // namespace lathe::deploy
