#include "tests/cuda_driver/driver/reuse.h"

#include <algorithm>

namespace lathe::cuda_driver {

namespace {

bool equal(const ptx::Size3& a, const ptx::Size3& b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

} // namespace

bool LaunchReuse::isOf(const Known& known, const ptx::LaunchRequest& request)
{
    return known.program == request.program && known.kernel == request.kernel && equal(known.grid, request.grid)
           && equal(known.block, request.block) && known.dynamicShared == request.dynamicShared
           && std::ranges::equal(known.parameters, request.parameters);
}

const ptx::LaunchReport* LaunchReuse::find(const ptx::LaunchRequest& request, ptx::DeviceMemory& memory) const
{
    const auto found = std::ranges::find_if(m_known, [&](const Known& known) { return isOf(known, request); });
    if (found == m_known.end())
        return nullptr;
    const bool isAsLeft = std::ranges::all_of(found->versions, [&](const auto& one) {
        const ptx::Allocation* const allocation = memory.find(one.first);
        return allocation && allocation->base == one.first && allocation->version == one.second;
    });
    return isAsLeft ? &found->report : nullptr;
}

void LaunchReuse::keep(const ptx::LaunchRequest& request, ptx::DeviceMemory& memory, const ptx::LaunchReport& report)
{
    std::erase_if(m_known, [&](const Known& known) { return isOf(known, request); });
    if (report.fault || !report.isRepeatable)
        return;
    Known known;
    for (const uint64_t base : report.read)
        if (std::ranges::find(report.written, base) != report.written.end())
            return;
    for (const auto* const touched : {&report.read, &report.written})
        for (const uint64_t base : *touched)
            known.versions.emplace_back(base, memory.find(base)->version);
    known.program = request.program;
    known.kernel = request.kernel;
    known.grid = request.grid;
    known.block = request.block;
    known.dynamicShared = request.dynamicShared;
    known.parameters.assign(request.parameters.begin(), request.parameters.end());
    known.report = report;
    m_known.push_front(std::move(known));
    if (m_known.size() > kMost)
        m_known.pop_back();
}

} // namespace lathe::cuda_driver
