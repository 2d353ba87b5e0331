#include "core/deploy/image_writer.h"
#include "core/runtime/executor.h"
#include "core/support/check.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace lathe;
using namespace lathe::runtime;

namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20; ///< of what is run
constexpr std::uint64_t kMostPhases = 64;

std::int32_t doNothing(const LatheArgs*, void*, std::uint32_t, std::uint32_t)
{
    return 0;
}

void oneByOne(void*, std::uint32_t parts, void (*body)(void* context, std::uint32_t part), void* context)
{
    for (std::uint32_t part = 0; part < parts; ++part)
        body(context, part);
}

/// All tensors are zero, so that no loop has a trip.
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
    if (h.arenaBytes + h.weightsBytes + h.teamScratchBytes + h.partScratchBytes + ports > kMostBytes
        || h.phaseCount > kMostPhases)
        return 0;
    alignas(64) static const std::byte weights[kMostBytes] = {};
    const std::vector<LathePhase> phases(h.phaseCount, doNothing);
    run({description.data(), size, weights, sizeof weights, phases.data(), phases.size()});
    return 0;
}
