#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "core/support/check.h"
#include "tests/support/late_device.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace lathe;
using namespace lathe::runtime;

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20; ///< of what is run
constexpr std::uint64_t kMostPhases = 64;
constexpr std::uint64_t kMostBuffers = 4096; ///< that launches of all instructions take
constexpr std::uint32_t kMostLoops = 4; ///< with kTrips each, one inside of the other at worst
constexpr std::int64_t kTrips =
    2; ///< so that what a loop's end exchanges is met by its next trip, and what that gives by another run

alignas(64) std::byte
    weights[kMostBytes]; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): what one input says of them

std::int32_t doNothing(const LatheArgs*, void*, std::uint32_t, std::uint32_t)
{
    return 0;
}

/// What its parameters point to is there.
bool touchAll(const std::vector<std::byte*>& buffers, const LaunchRequest&)
{
    for (std::byte* const buffer : buffers)
        if (buffer != nullptr)
            *buffer = std::byte{0};
    return true;
}

void oneByOne(void*, std::uint32_t parts, void (*body)(void* context, std::uint32_t part), void* context)
{
    for (std::uint32_t part = 0; part < parts; ++part)
        body(context, part);
}

/// Single numbers are counts of trips, and single truths are true, so that loops and branches are carried out. All else
/// is zero.
void fill(const ImageTensor& tensor, std::byte* data)
{
    const auto type = static_cast<DType>(tensor.dtype);
    if (type == DType::I64 && tensor.bytes == sizeof kTrips)
        std::memcpy(data, &kTrips, sizeof kTrips);
    else if (type == DType::Bool && tensor.bytes == 1)
        *data = std::byte{1};
}

void fillWeights(const Image& image)
{
    std::memset(weights, 0, image.header->weightsBytes);
    for (std::uint64_t i = 0; i < image.header->tensors.count; ++i)
        if (const ImageTensor& tensor = image.tensors[i]; static_cast<Storage>(tensor.storage) == Storage::Weights)
            fill(tensor, weights + tensor.offset);
}

void run(const ModelSource& source)
{
    Model model;
    ErrorText error;
    if (model.open(source, false, error) != Status::Ok)
        return;
    Status status = Status::Ok;
    Executor* const executor = Executor::create(model, {{2, false, 0}, oneByOne, nullptr}, status, error);
    if (executor == nullptr)
        return;
    const Image& image = model.image();
    for (std::uint32_t i = 0; i < image.header->inputs.count; ++i)
        if (auto* const data = static_cast<std::byte*>(executor->inputBuffer(i)); data != nullptr)
            fill(image.tensors[image.inputs[i].tensor], data);
    for (std::uint32_t i = 0; i < image.header->outputs.count; ++i)
        (void)executor->outputBuffer(i);
    for (int again = 0; again < 2; ++again) // tensors that were exchanged stay so
        (void)executor->run();
    if (const std::uint64_t count = model.image().header->instructions.count; count > 0)
        (void)executor->runChain(0, static_cast<std::uint32_t>(count - 1));
    Executor::destroy(executor);
}

} // namespace

/// Bytes of a model description but for its checksum, which is put right: an error with a sentence, or a network that
/// runs inside of its memory.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::vector<std::uint64_t> aligned(size / 8 + 1);
    std::memcpy(aligned.data(), data, size);
    const std::span<std::byte> description(reinterpret_cast<std::byte*>(aligned.data()), size);
    deploy::sealImage(description);
    Image image;
    ErrorText error;
    if (!openImage(description.data(), size, image, error)) {
        LATHE_CHECK(error.text[0] != '\0');
        return 0;
    }
    const ImageHeader& h = *image.header;
    std::uint64_t ports = 0;
    for (std::uint64_t i = 0; i < h.inputs.count; ++i)
        ports += image.tensors[image.inputs[i].tensor].bytes;
    for (std::uint64_t i = 0; i < h.outputs.count; ++i)
        ports += image.tensors[image.outputs[i].tensor].bytes;
    std::uint64_t beside = 0; // in the memory of devices
    for (std::uint64_t i = 0; i < h.devices.count; ++i)
        beside += image.devices[i].arenaBytes + image.devices[i].scratchBytes;
    if (h.arenaBytes + h.weightsBytes + h.teamScratchBytes + h.partScratchBytes + ports + beside > kMostBytes
        || h.phaseCount > kMostPhases)
        return 0;
    std::uint64_t loops = 0, buffers = 0;
    for (std::uint64_t i = 0; i < h.instructions.count; ++i) {
        const ImageInstruction& in = image.instructions[i];
        loops += static_cast<InstructionKind>(in.kind) == InstructionKind::Loop ? 1 : 0;
        for (std::uint32_t l = 0; in.device != 0 && l < in.phaseCount; ++l)
            buffers += 1 + image.launches[in.firstPhase + l].bufferCount;
    }
    if (loops > kMostLoops || buffers > kMostBuffers)
        return 0;
    fillWeights(image);
    const std::vector<LathePhase> phases(h.phaseCount, doNothing);
    ModelSource source{description.data(), size, weights, sizeof weights, phases.data(), phases.size()};
    const DeviceDriver* const drivers[] = {&late::driver()};
    source.drivers = drivers;
    source.driverCount = 1;
    late::device().others = touchAll;
    late::device().sharesMemory = data[offsetof(ImageHeader, checksum)] % 2 != 0; // which was put right
    run(source);
    const late::Device& left = late::device();
    LATHE_CHECK(left.contexts == 0 && left.queues == 0 && left.launches == 0 && left.pieces == 0);
    LATHE_CHECK(left.misuses == 0);
    return 0;
}
