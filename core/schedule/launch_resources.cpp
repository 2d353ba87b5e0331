#include "core/schedule/launch_resources.h"

#include "core/ir/bounds.h"
#include "core/ir/scratch.h"
#include "core/schedule/register_model.h"
#include "core/schedule/register_model_nvidia.h"

namespace lathe::schedule {

namespace {

using ir::Scope;

constexpr std::int64_t kVectorBytes = 16; ///< to which ir::sharedBytes rounds

std::int64_t bytesOf(const ir::LoopNest& nest, const std::vector<std::int32_t>& buffers, Scope scope)
{
    std::int64_t bytes = 0;
    for (const std::int32_t id : buffers)
        if (const ir::Buffer& buffer = nest.buffers[static_cast<std::size_t>(id)]; buffer.scope == scope)
            bytes += ir::elementCount(buffer) * sizeOf(buffer.dtype);
    return bytes;
}

} // namespace

std::int64_t sharedElements(const ir::Buffer& buffer)
{
    const std::int64_t size = sizeOf(buffer.dtype);
    return ir::ceilDivide(ir::elementCount(buffer) * size, kVectorBytes) * kVectorBytes / size;
}

LaunchSizes sizesOf(const ir::LoopNest& nest, const ir::Launch& launch)
{
    LaunchSizes made;
    made.grid = launch.grid;
    made.block = launch.block;
    made.threads = launch.block[0] * launch.block[1] * launch.block[2];
    made.sharedBytes = ir::sharedBytes(nest, launch);
    made.localBytes = bytesOf(nest, ir::buffersOf(launch.body), Scope::Local);
    return made;
}

std::vector<LaunchSizes> sizesOf(const ir::LoopNest& nest)
{
    std::vector<LaunchSizes> all;
    all.reserve(nest.launches.size());
    for (const ir::Launch& launch : nest.launches)
        all.push_back(sizesOf(nest, launch));
    return all;
}

LaunchResources resourcesOf(const ir::LoopNest& nest, const ir::Launch& launch, const Hardware& hardware)
{
    LaunchResources made{sizesOf(nest, launch), 0, 0};
    if (const auto room = NvidiaRoom::of(hardware)) {
        const NvidiaRegisters registers = estimateNvidiaRegisters(nest, launch, *room);
        made.registers = registers.taken;
        made.neededRegisters = registers.needed;
    } else {
        made.registers = made.neededRegisters = estimateRegisters(nest, launch);
    }
    return made;
}

std::vector<LaunchResources> resourcesOf(const ir::LoopNest& nest, const Hardware& hardware)
{
    std::vector<LaunchResources> all;
    all.reserve(nest.launches.size());
    for (const ir::Launch& launch : nest.launches)
        all.push_back(resourcesOf(nest, launch, hardware));
    return all;
}

} // namespace lathe::schedule
