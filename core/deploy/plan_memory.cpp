#include "core/deploy/image_writer.h"
#include "core/deploy/in_place.h"
#include "core/deploy/memory_planner.h"
#include "core/deploy/planner.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::deploy {

void Planner::findLifetimes()
{
    for (std::size_t i = 0; i < m_instructions.size(); ++i)
        for (const std::size_t tensor : m_instructions[i].arguments) {
            Buffer& buffer = m_buffers[m_tensors[tensor].buffer];
            buffer.first = std::min(buffer.first, static_cast<std::int32_t>(i));
            buffer.last = std::max(buffer.last, static_cast<std::int32_t>(i));
        }
    for (const std::size_t count : m_counts) // is looked at when all is done
        m_buffers[m_tensors[count].buffer].last = static_cast<std::int32_t>(m_instructions.size());
    for (Buffer& buffer : m_buffers)
        if (buffer.swapped) {
            buffer.first = 0;
            buffer.last = static_cast<std::int32_t>(m_instructions.size());
        }
    holdOverLoops();
}

void Planner::holdOverLoops()
{
    for (std::size_t i = 0; i < m_instructions.size(); ++i) {
        if (m_instructions[i].kind != InstructionKind::Loop)
            continue;
        const auto begin = static_cast<std::int32_t>(i);
        const auto end = static_cast<std::int32_t>(i + m_instructions[i].body);
        for (Buffer& buffer : m_buffers) {
            const bool isInside = buffer.first > begin && buffer.last <= end;
            if (buffer.last < begin || buffer.first > end || isInside)
                continue;
            buffer.held = buffer.held || buffer.last <= end;
            buffer.first = std::min(buffer.first, begin);
            buffer.last = std::max(buffer.last, end);
        }
    }
}

std::vector<bool> Planner::overwritable(const Instruction& in) const
{
    std::vector<bool> allowed(in.arguments.size(), false);
    if (in.function != nullptr) {
        if (in.function->overwrites >= 0)
            allowed[1 + static_cast<std::size_t>(in.function->overwrites)] = true; // behind the parameters
        return allowed;
    }
    const KernelSource& source = m_set.sources[static_cast<std::size_t>(in.source)];
    const KernelInfo& kernel = m_kernels[static_cast<std::size_t>(in.source)];
    // Parameters of launches are `restrict`: an output must not lie where an input does.
    if (kernel.form != KernelForm::Phases || kernel.phases.size() != 1 || recomputes(source.steps))
        return allowed;
    return overwritableInputs(*source.dag);
}

void Planner::shareInPlace()
{
    for (std::size_t i = 0; i < m_instructions.size(); ++i) {
        const Instruction& in = m_instructions[i];
        if (in.kind != InstructionKind::Kernel || in.outputCount != 1)
            continue;
        const std::vector<bool> allowed = overwritable(in);
        const Tensor& out = m_tensors[in.arguments.back()];
        const std::size_t outBuffer = out.buffer;
        // What a branch gives, or a loop carries, may have been written before.
        if (m_buffers[outBuffer].storage != Storage::Arena || m_buffers[outBuffer].swapped
            || m_buffers[outBuffer].first != static_cast<std::int32_t>(i))
            continue;
        for (std::size_t k = 0; k + 1 < in.arguments.size(); ++k) {
            const Tensor& tensor = m_tensors[in.arguments[k]];
            const std::size_t buffer = tensor.buffer;
            const auto readers = std::count_if(in.arguments.begin(), in.arguments.end(),
                                               [&](std::size_t t) { return m_tensors[t].buffer == buffer; });
            if (!allowed[k] || m_buffers[buffer].storage != Storage::Arena
                || m_buffers[buffer].last != static_cast<std::int32_t>(i) || m_buffers[buffer].held
                || m_buffers[buffer].swapped || readers != 1 || tensor.dtype != out.dtype || !(tensor.map == out.map)
                || m_buffers[buffer].bytes != m_buffers[outBuffer].bytes)
                continue;
            m_buffers[buffer].last = m_buffers[outBuffer].last;
            m_buffers[buffer].held = m_buffers[outBuffer].held;
            m_buffers[outBuffer].last = -1;
            for (Tensor& other : m_tensors)
                if (other.buffer == outBuffer)
                    other.buffer = buffer;
            break;
        }
    }
}

std::uint64_t Planner::placeBuffers(std::uint32_t device, std::uint64_t alignment, ModelImage& image)
{
    std::vector<LiveBlock> blocks;
    std::vector<std::size_t> bufferOf;
    for (std::size_t b = 0; b < m_buffers.size(); ++b) {
        const Buffer& buffer = m_buffers[b];
        if (buffer.storage != Storage::Arena || buffer.device != device || buffer.last < 0)
            continue;
        bufferOf.push_back(b);
        blocks.push_back({buffer.bytes, buffer.first, buffer.last});
        image.unsharedBytes += (buffer.bytes + alignment - 1) / alignment * alignment;
    }
    const MemoryPlan memory = planMemory(blocks, alignment);
    for (std::size_t i = 0; i < blocks.size(); ++i)
        m_buffers[bufferOf[i]].place = memory.offsets[i];
    return memory.bytes;
}

std::vector<std::size_t> Planner::findInPlace() const
{
    struct Writers
    {
        int count = 0;
        bool always = true; ///< they run in each run, once
    };
    std::vector<Writers> writers(m_buffers.size());
    std::vector<bool> always(m_instructions.size());
    std::size_t end = 0; // of the outermost branch or loop
    for (std::size_t i = 0; i < m_instructions.size(); ++i) {
        const Instruction& in = m_instructions[i];
        always[i] = i >= end;
        if (in.kind == InstructionKind::Branch || in.kind == InstructionKind::Loop) {
            end = std::max(end, i + 1 + in.whenTrue + in.whenFalse + in.body);
            continue;
        }
        for (std::size_t k = in.arguments.size() - in.outputCount; k < in.arguments.size(); ++k) {
            Writers& of = writers[m_tensors[in.arguments[k]].buffer];
            ++of.count;
            of.always = of.always && always[i];
        }
    }
    std::vector<std::size_t> places(m_buffers.size(), kNone);
    for (std::size_t i = 0; i < m_instructions.size(); ++i) {
        const Instruction& in = m_instructions[i];
        if (in.kind != InstructionKind::Copy || !always[i])
            continue;
        const std::size_t from = m_tensors[in.arguments[0]].buffer, to = m_tensors[in.arguments[1]].buffer;
        const auto isWrittenOnce = [&](std::size_t buffer) {
            return writers[buffer].count == 1 && writers[buffer].always;
        };
        if (m_buffers[from].storage == Storage::Input && m_buffers[to].device != kProcessor && isWrittenOnce(to))
            places[to] = in.arguments[0];
        else if (m_buffers[to].storage == Storage::Output && m_buffers[from].device != kProcessor
                 && m_buffers[from].storage == Storage::Arena && places[from] == kNone && isWrittenOnce(from)
                 && isWrittenOnce(to))
            places[from] = in.arguments[1];
    }
    return places;
}

Result<ModelImage> Planner::write()
{
    ModelImage image;
    const std::uint64_t onProcessor = placeBuffers(kProcessor, runtime::kTensorAlignment, image);
    const std::uint64_t beside = placeBuffers(kBeside, kDeviceAlignment, image);
    image.arenaBytes = onProcessor + beside;

    ImageWriter writer(m_options.name);
    writer.setTarget(m_options.target, m_options.features);
    if (std::ranges::any_of(m_kernels, [](const KernelInfo& k) { return k.form == KernelForm::Launches; }))
        writer.addDevice(m_options.target, beside, kDeviceAlignment);
    std::vector<std::uint32_t> written(m_tensors.size(), UINT32_MAX);
    const std::vector<std::size_t> places = findInPlace();
    const auto writeTensor = [&](std::size_t t, std::uint32_t inPlaceOf) {
        if (written[t] == UINT32_MAX) {
            const Tensor& tensor = m_tensors[t];
            const Buffer& buffer = m_buffers[tensor.buffer];
            written[t] = writer.addTensor(
                {tensor.name, tensor.dtype, buffer.storage, buffer.place, tensor.map, buffer.device, inPlaceOf});
        }
        return written[t];
    };
    const auto tensorIndex = [&](std::size_t t) {
        const std::size_t port = places[m_tensors[t].buffer];
        return writeTensor(t, port != kNone ? writeTensor(port, 0) + 1 : 0);
    };
    ImageWriter::Sizes sizes;
    std::vector<std::uint32_t> firstPhase; // by source
    std::vector<ImageWriter::Launches> launches; // likewise
    for (const KernelInfo& kernel : m_kernels) {
        if (kernel.form == KernelForm::Launches) {
            firstPhase.push_back(0);
            launches.push_back(writer.addLaunches(kBeside, kernel));
            continue;
        }
        launches.emplace_back();
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
            if (m_kernels[static_cast<std::size_t>(in.source)].form == KernelForm::Launches) {
                writer.addDeviceKernel(in.name, kBeside, arguments, static_cast<std::uint32_t>(in.outputCount),
                                       launches[static_cast<std::size_t>(in.source)]);
                break;
            }
            writer.addKernel(in.name, arguments, static_cast<std::uint32_t>(in.outputCount),
                             firstPhase[static_cast<std::size_t>(in.source)],
                             static_cast<std::uint32_t>(m_kernels[static_cast<std::size_t>(in.source)].phases.size()));
            break;
        case InstructionKind::Copy: writer.addCopy(in.name, arguments[0], arguments[1]); break;
        case InstructionKind::Transform: writer.addTransform(in.name, arguments[0], arguments[1]); break;
        case InstructionKind::Branch:
            writer.addBranch(in.name, arguments[0], static_cast<std::uint32_t>(in.whenTrue),
                             static_cast<std::uint32_t>(in.whenFalse));
            break;
        case InstructionKind::Loop:
            writer.addLoop(in.name, arguments[0], arguments[1], arguments[2], static_cast<std::uint32_t>(in.body));
            break;
        case InstructionKind::Row: writer.addRow(in.name, arguments[0], arguments[1], arguments[2]); break;
        case InstructionKind::Swap: writer.addSwap(in.name, arguments[0], arguments[1]); break;
        }
        image.instructions.push_back(
            {in.name, runtime::kInstructionWords[static_cast<int>(in.kind)], in.subgraph, in.runs});
    }
    for (std::size_t i = 0; i < m_inputs.size(); ++i)
        writer.addInput(tensorIndex(m_inputs[i]), i < m_options.inputLayouts.size() ? m_options.inputLayouts[i] : "");
    for (std::size_t i = 0; i < m_outputs.size(); ++i)
        writer.addOutput(tensorIndex(m_outputs[i]),
                         i < m_options.outputLayouts.size() ? m_options.outputLayouts[i] : "");
    for (std::size_t i = 0; i < m_counts.size(); ++i) {
        const graph::OutputExtent& extent = m_graph.outputExtents[i];
        writer.addExtent(static_cast<std::uint32_t>(extent.output), static_cast<std::uint32_t>(extent.axis),
                         tensorIndex(m_counts[i]));
    }
    sizes.arena = onProcessor;
    sizes.weights = m_constants.bytes();
    image.weightsBytes = m_constants.bytes();
    sizes.phases = image.phases.size();
    image.description = writer.finish(sizes);
    for (const auto& [place, buffer] : m_constantBuffers)
        image.usedWeightsBytes += std::get<1>(place);
    image.weights = std::move(m_ownConstants).take();

    runtime::Image opened;
    runtime::ErrorText error;
    if (!runtime::openImage(image.description.data(), image.description.size(), opened, error))
        return makeError(Errc::Internal, fmt::format("the planned model does not hold together: {}", error.text));
    return image;
}

} // namespace lathe::deploy
