#include "core/deploy/image_writer.h"

#include <algorithm>
#include <cstring>

namespace lathe::deploy {

namespace {

template<typename T>
runtime::ImageTable appendTable(std::vector<std::byte>& out, const T* first, std::size_t count)
{
    out.resize((out.size() + 7) / 8 * 8);
    const runtime::ImageTable table{out.size(), count};
    const auto* const bytes = reinterpret_cast<const std::byte*>(first);
    out.insert(out.end(), bytes, bytes + count * sizeof(T));
    return table;
}

} // namespace

ImageWriter::ImageWriter(std::string_view networkName)
{
    m_strings.push_back('\0'); // offset 0 is the empty string
    m_name = addString(networkName);
}

std::uint32_t ImageWriter::addString(std::string_view text)
{
    if (text.empty())
        return 0;
    const auto offset = static_cast<std::uint32_t>(m_strings.size());
    m_strings.append(text.substr(0, text.find('\0')));
    m_strings.push_back('\0');
    return offset;
}

std::uint32_t ImageWriter::addTensor(const Tensor& tensor)
{
    runtime::ImageTensor record{};
    record.name = addString(tensor.name);
    record.dtype = static_cast<std::uint32_t>(tensor.dtype);
    record.storage = static_cast<std::uint32_t>(tensor.storage);
    record.device = tensor.device;
    record.inPlaceOf = tensor.inPlaceOf;
    record.firstAxis = static_cast<std::uint32_t>(m_axes.size());
    record.offset = tensor.offset;
    record.bytes = static_cast<std::uint64_t>(tensor.map.elementCount() * sizeOf(tensor.dtype));
    record.logicalRank = tensor.map.logicalRank;
    record.physicalRank = tensor.map.physicalRank;
    for (int d = 0; d < tensor.map.logicalRank; ++d)
        record.shape[d] = tensor.map.logicalShape[d];
    for (int j = 0; j < tensor.map.physicalRank; ++j) {
        const IndexMap::Axis& axis = tensor.map.axes[j];
        m_axes.push_back({axis.dim, axis.div, axis.extent, axis.stride});
    }
    m_tensors.push_back(record);
    return static_cast<std::uint32_t>(m_tensors.size() - 1);
}

void ImageWriter::addInstruction(runtime::InstructionKind kind, std::string_view name,
                                 std::span<const std::uint32_t> arguments, std::uint32_t outputCount,
                                 std::uint32_t firstPhase, std::uint32_t phaseCount, std::uint32_t device)
{
    runtime::ImageInstruction record{};
    record.kind = static_cast<std::uint32_t>(kind);
    record.name = addString(name);
    record.firstArgument = static_cast<std::uint32_t>(m_arguments.size());
    record.argumentCount = static_cast<std::uint32_t>(arguments.size());
    record.outputCount = outputCount;
    record.firstPhase = firstPhase;
    record.phaseCount = phaseCount;
    record.device = device;
    m_arguments.insert(m_arguments.end(), arguments.begin(), arguments.end());
    m_instructions.push_back(record);
}

void ImageWriter::addKernel(std::string_view name, std::span<const std::uint32_t> arguments, std::uint32_t outputCount,
                            std::uint32_t firstPhase, std::uint32_t phaseCount)
{
    addInstruction(runtime::InstructionKind::Kernel, name, arguments, outputCount, firstPhase, phaseCount);
}

std::uint32_t ImageWriter::addDevice(std::string_view target, std::uint64_t arenaBytes, std::uint64_t alignment)
{
    m_devices.push_back({addString(target), 0, arenaBytes, 0, alignment});
    return static_cast<std::uint32_t>(m_devices.size());
}

ImageWriter::Launches ImageWriter::addLaunches(std::uint32_t device, const KernelInfo& kernel)
{
    runtime::ImageDevice& on = m_devices[device - 1];
    std::vector<std::uint64_t> places; // of the kernel's scratch
    std::uint64_t end = 0;
    for (const std::int64_t bytes : kernel.scratch) {
        places.push_back(end);
        end = (end + static_cast<std::uint64_t>(bytes) + on.alignment - 1) / on.alignment * on.alignment;
    }
    on.scratchBytes = std::max(on.scratchBytes, end);
    const Launches written{static_cast<std::uint32_t>(m_launches.size()),
                           static_cast<std::uint32_t>(kernel.launches.size())};
    for (const LaunchInfo& launch : kernel.launches) {
        runtime::ImageLaunch record{};
        record.symbol = addString(launch.symbol);
        record.argumentCount = static_cast<std::uint32_t>(kernel.parameters.size());
        record.firstBuffer = static_cast<std::uint32_t>(m_launchBuffers.size());
        record.bufferCount = static_cast<std::uint32_t>(launch.buffers.size());
        for (std::size_t d = 0; d < 3; ++d) {
            record.grid[d] = static_cast<std::uint32_t>(launch.grid[d]);
            record.block[d] = static_cast<std::uint32_t>(launch.block[d]);
        }
        record.sharedBytes = static_cast<std::uint64_t>(launch.sharedBytes);
        m_launches.push_back(record);
        for (const std::int32_t buffer : launch.buffers) {
            const auto argument = static_cast<std::size_t>(buffer);
            if (argument < kernel.parameters.size()) {
                m_launchBuffers.push_back({0, 0, static_cast<std::uint32_t>(argument), 0});
                continue;
            }
            const std::size_t scratch = argument - kernel.parameters.size();
            m_launchBuffers.push_back(
                {places[scratch], static_cast<std::uint64_t>(kernel.scratch[scratch]), runtime::kScratchBuffer, 0});
        }
    }
    return written;
}

void ImageWriter::addDeviceKernel(std::string_view name, std::uint32_t device, std::span<const std::uint32_t> arguments,
                                  std::uint32_t outputCount, Launches launches)
{
    addInstruction(runtime::InstructionKind::Kernel, name, arguments, outputCount, launches.first, launches.count,
                   device);
}

void ImageWriter::addCopy(std::string_view name, std::uint32_t from, std::uint32_t to)
{
    const std::uint32_t arguments[] = {from, to};
    addInstruction(runtime::InstructionKind::Copy, name, arguments, 1, 0, 0);
}

void ImageWriter::addTransform(std::string_view name, std::uint32_t from, std::uint32_t to)
{
    const std::uint32_t arguments[] = {from, to};
    addInstruction(runtime::InstructionKind::Transform, name, arguments, 1, 0, 0);
}

void ImageWriter::addBranch(std::string_view name, std::uint32_t condition, std::uint32_t whenTrue,
                            std::uint32_t whenFalse)
{
    addInstruction(runtime::InstructionKind::Branch, name, {&condition, 1}, 0, whenFalse, whenTrue);
}

void ImageWriter::addLoop(std::string_view name, std::uint32_t trips, std::uint32_t condition, std::uint32_t iteration,
                          std::uint32_t body)
{
    const std::uint32_t arguments[] = {trips, condition, iteration};
    addInstruction(runtime::InstructionKind::Loop, name, arguments, 1, 0, body);
}

void ImageWriter::addRow(std::string_view name, std::uint32_t from, std::uint32_t iteration, std::uint32_t to)
{
    const std::uint32_t arguments[] = {from, iteration, to};
    addInstruction(runtime::InstructionKind::Row, name, arguments, 1, 0, 0);
}

void ImageWriter::addSwap(std::string_view name, std::uint32_t one, std::uint32_t other)
{
    const std::uint32_t arguments[] = {one, other};
    addInstruction(runtime::InstructionKind::Swap, name, arguments, 2, 0, 0);
}

void ImageWriter::setTarget(std::string_view target, std::span<const std::string> features)
{
    m_target = addString(target);
    m_features.clear();
    for (const std::string& feature : features)
        m_features.push_back(addString(feature));
}

void ImageWriter::addInput(std::uint32_t tensor, std::string_view layout)
{
    m_inputs.push_back({tensor, addString(layout)});
}

void ImageWriter::addOutput(std::uint32_t tensor, std::string_view layout)
{
    m_outputs.push_back({tensor, addString(layout)});
}

void ImageWriter::addExtent(std::uint32_t output, std::uint32_t axis, std::uint32_t count)
{
    m_extents.push_back({output, axis, count, 0});
}

std::vector<std::byte> ImageWriter::finish(const Sizes& sizes) const
{
    runtime::ImageHeader header{};
    std::memcpy(header.magic, runtime::kImageMagic, sizeof header.magic);
    header.version = runtime::kImageVersion;
    header.headerBytes = sizeof header;
    header.arenaBytes = sizes.arena;
    header.weightsBytes = sizes.weights;
    header.teamScratchBytes = sizes.teamScratch;
    header.partScratchBytes = (sizes.partScratch + runtime::kTensorAlignment - 1) / runtime::kTensorAlignment
                              * runtime::kTensorAlignment;
    header.phaseCount = sizes.phases;
    header.name = m_name;
    header.target = m_target;
    std::vector<std::byte> out(sizeof header);
    header.tensors = appendTable(out, m_tensors.data(), m_tensors.size());
    header.axes = appendTable(out, m_axes.data(), m_axes.size());
    header.instructions = appendTable(out, m_instructions.data(), m_instructions.size());
    header.arguments = appendTable(out, m_arguments.data(), m_arguments.size());
    header.inputs = appendTable(out, m_inputs.data(), m_inputs.size());
    header.outputs = appendTable(out, m_outputs.data(), m_outputs.size());
    header.extents = appendTable(out, m_extents.data(), m_extents.size());
    header.strings = appendTable(out, m_strings.data(), m_strings.size());
    header.features = appendTable(out, m_features.data(), m_features.size());
    header.devices = appendTable(out, m_devices.data(), m_devices.size());
    header.launches = appendTable(out, m_launches.data(), m_launches.size());
    header.launchBuffers = appendTable(out, m_launchBuffers.data(), m_launchBuffers.size());
    header.totalBytes = out.size();
    std::memcpy(out.data(), &header, sizeof header);
    sealImage(out);
    return out;
}

void sealImage(std::span<std::byte> description)
{
    if (description.size() < sizeof(runtime::ImageHeader))
        return;
    const std::uint64_t checksum = runtime::imageChecksum(description.data(), description.size());
    std::memcpy(description.data() + offsetof(runtime::ImageHeader, checksum), &checksum, sizeof checksum);
}

} // namespace lathe::deploy
