#include "plugins/cuda/model/sass_loops.h"

#include "core/support/message.h"
#include "plugins/cuda/model/sass_trips.h"

#include <algorithm>
#include <map>

namespace lathe::cuda {

void SassCounts::add(const SassInstruction& instruction, double times)
{
    by[static_cast<std::size_t>(instruction.kind)] += times;
    total += times;
    const std::size_t width = instruction.bytes >= 16 ? 2 : instruction.bytes >= 8 ? 1 : 0;
    switch (instruction.kind) {
    case SassClass::SharedLoad: sharedLoads[width] += times; break;
    case SassClass::SharedStore: sharedStores[width] += times; break;
    case SassClass::GlobalLoad: globalLoads[width] += times; break;
    case SassClass::GlobalStore: globalStores[width] += times; break;
    default: break;
    }
}

std::size_t sassCodeEnd(const SassKernel& kernel)
{
    std::size_t end = 0;
    for (std::size_t i = 0; i < kernel.instructions.size(); ++i)
        if (kernel.instructions[i].base() == "EXIT" || kernel.instructions[i].base() == "RET")
            end = i + 1;
    return end > 0 ? end : kernel.instructions.size();
}

Result<SassProfile> SassProfile::create(const SassKernel& kernel, std::span<const std::uint64_t> extents)
{
    SassProfile profile;
    const std::size_t end = sassCodeEnd(kernel);
    const auto& code = kernel.instructions;
    // Loops by their first instruction; of several branches to it the last one closes the loop.
    std::map<std::size_t, std::size_t> closing;
    for (std::size_t i = 0; i < end; ++i) {
        const auto target = code[i].target();
        if (!target || *target > code[i].address)
            continue;
        const auto first = std::lower_bound(
            code.begin(), code.end(), *target,
            [](const SassInstruction& c, std::uint32_t address) { return c.address < address; });
        const auto at = static_cast<std::size_t>(first - code.begin());
        const bool isTrap = at == i && code[i].guard == kTruePredicate && code[i].operands.size() == 1;
        if (!isTrap)
            closing[at] = i;
    }
    for (const auto& [first, last] : closing)
        profile.m_loops.push_back({first, last, -1, 0, 1, TripSource::Unknown});
    std::sort(profile.m_loops.begin(), profile.m_loops.end(), [](const SassLoop& a, const SassLoop& b) {
        return a.first != b.first ? a.first < b.first : a.last > b.last;
    });
    auto& loops = profile.m_loops;
    std::vector<std::int32_t> open;
    auto extent = extents.begin();
    for (std::size_t l = 0; l < loops.size(); ++l) {
        while (!open.empty() && loops[static_cast<std::size_t>(open.back())].last < loops[l].first)
            open.pop_back();
        if (!open.empty()) {
            loops[l].parent = open.back();
            loops[l].depth = static_cast<std::int32_t>(open.size());
            if (loops[static_cast<std::size_t>(open.back())].last < loops[l].last)
                return makeError(Errc::Unsupported, say(Msg::CudaModelLoops, kernel.name));
        }
        open.push_back(static_cast<std::int32_t>(l));
        if (const auto trips = tripsOf(kernel, loops[l])) {
            loops[l].trips = *trips;
            loops[l].source = TripSource::Code;
        } else if (extent != extents.end()) {
            loops[l].trips = *extent++;
            loops[l].source = TripSource::Caller;
        }
    }
    profile.m_weights.assign(code.size(), 0);
    profile.m_loopOf.assign(code.size(), -1);
    for (std::size_t i = 0; i < end; ++i)
        profile.m_weights[i] = 1;
    for (std::size_t l = 0; l < loops.size(); ++l)
        for (std::size_t i = loops[l].first; i <= loops[l].last; ++i) {
            profile.m_weights[i] *= static_cast<double>(loops[l].trips);
            profile.m_loopOf[i] = static_cast<std::int32_t>(l);
        }
    std::vector<double> executed(loops.size(), 0);
    for (std::size_t i = 0; i < end; ++i) {
        profile.m_whole.add(code[i], profile.m_weights[i]);
        if (profile.m_loopOf[i] >= 0)
            executed[static_cast<std::size_t>(profile.m_loopOf[i])] += profile.m_weights[i];
    }
    for (std::size_t l = 0; l < loops.size(); ++l) {
        const bool isInnermost = std::none_of(loops.begin(), loops.end(), [l](const SassLoop& other) {
            return other.parent == static_cast<std::int32_t>(l);
        });
        if (isInnermost && (profile.m_hot < 0 || executed[l] > executed[static_cast<std::size_t>(profile.m_hot)]))
            profile.m_hot = static_cast<std::int32_t>(l);
    }
    for (std::size_t i = 0; i < end; ++i)
        if (profile.m_loopOf[i] == profile.m_hot)
            profile.m_hotCounts.add(code[i], 1);
    return profile;
}

bool SassProfile::allTripsKnown() const
{
    return std::none_of(m_loops.begin(), m_loops.end(),
                        [](const SassLoop& l) { return l.source == TripSource::Unknown; });
}

} // namespace lathe::cuda
