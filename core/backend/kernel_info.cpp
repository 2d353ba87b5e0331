#include "core/backend/kernel_info.h"

#include "core/ir/scratch.h"

#include <fmt/format.h>

namespace lathe::backend {

KernelInfo kernelInfo(const schedule::LoweredKernel& kernel)
{
    const ir::LoopNest& nest = kernel.nest;
    KernelInfo info;
    info.name = nest.name;
    info.parameters = kernel.parameters;
    if (nest.launches.empty()) {
        for (std::size_t p = 0; p < nest.phases.size(); ++p)
            info.phases.push_back(fmt::format("{}_p{}", nest.name, p));
        info.teamScratchBytes = kernel.teamScratchBytes;
        info.partScratchBytes = kernel.partScratchBytes;
        return info;
    }
    info.form = KernelForm::Launches;
    std::vector<std::int32_t> place(nest.buffers.size(), -1); // among parameters and scratch
    for (std::size_t p = 0; p < nest.parameters.size(); ++p)
        place[static_cast<std::size_t>(nest.parameters[p])] = static_cast<std::int32_t>(p);
    for (std::size_t b = 0; b < nest.buffers.size(); ++b)
        if (nest.buffers[b].scope == ir::Scope::Team) {
            place[b] = static_cast<std::int32_t>(info.parameters.size() + info.scratch.size());
            info.scratch.push_back(ir::elementCount(nest.buffers[b]) * sizeOf(nest.buffers[b].dtype));
        }
    for (std::size_t l = 0; l < nest.launches.size(); ++l) {
        const ir::Launch& from = nest.launches[l];
        LaunchInfo launch{fmt::format("{}_{}", nest.name, l), {}, from.grid, from.block, ir::sharedBytes(nest, from)};
        for (const std::int32_t buffer : ir::buffersOf(from.body))
            if (place[static_cast<std::size_t>(buffer)] >= 0)
                launch.buffers.push_back(place[static_cast<std::size_t>(buffer)]);
        info.launches.push_back(std::move(launch));
    }
    return info;
}

} // namespace lathe::backend
