#include "plugins/cuda/model/kernel_facts.h"

#include "core/support/message.h"
#include "plugins/cuda/model/occupancy.h"
#include "plugins/cuda/model/sass_timing.h"

#include <algorithm>
#include <map>
#include <set>

namespace lathe::cuda {
namespace {

using Sectors = std::vector<std::uint64_t>;

void makeUnique(Sectors& sectors)
{
    std::sort(sectors.begin(), sectors.end());
    sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
}

/// Sorted `all` without those of sorted `known`.
Sectors without(const Sectors& all, const Sectors& known)
{
    Sectors rest;
    std::set_difference(all.begin(), all.end(), known.begin(), known.end(), std::back_inserter(rest));
    return rest;
}

void append(Sectors& to, const WarpAccess& access)
{
    for (std::size_t lane = 0; lane < kWarpLanes; ++lane)
        if ((access.lanes >> lane & 1U) != 0) {
            const std::uint64_t first = access.at[lane] / kSectorBytes;
            const std::uint64_t last = (access.at[lane] + static_cast<std::uint64_t>(access.bytes) - 1) / kSectorBytes;
            for (std::uint64_t sector = first; sector <= last; ++sector)
                if (to.empty() || to.back() != sector)
                    to.push_back(sector);
        }
}

/// What the loads of some blocks fetch, by the innermost loop around them (-1: none) and by its pass.
using Fetched = std::map<std::pair<std::int32_t, std::int32_t>, Sectors>;

constexpr std::int32_t kPasses = 2; ///< the second one stands for all that follow

class Reading
{
public:
    Reading(const SassModule& module, const SassKernel& kernel, const SassLaunch& launch, const GpuFacts& gpu,
            const KernelFactsOptions& options, SassProfile profile)
        : m_kernel(kernel)
        , m_launch(launch)
        , m_gpu(gpu)
        , m_options(options)
        , m_profile(std::move(profile))
        , m_accesses(kernel.instructions.size())
        , m_hasDriverShared(module.capability >= 90)
    {
    }

    const SassProfile& profile() const { return m_profile; }

    Result<KernelReading> read(const SassWalk& walk)
    {
        KernelFacts& facts = m_reading.facts;
        facts.blocks = m_launch.blocks();
        facts.threads = m_launch.threads();
        facts.registers = m_kernel.registers;
        // From sm_90 on the assembler counts the driver's share in.
        constexpr std::int64_t kDriverShared = 1024;
        facts.sharedBytes = m_kernel.sharedBytes
                            - (m_hasDriverShared && m_kernel.sharedBytes >= kDriverShared ? kDriverShared : 0)
                            + m_launch.dynamicSharedBytes;
        const Occupancy occupancy = occupancyOf(m_gpu, facts.threads, facts.registers, facts.sharedBytes);
        if (occupancy.blocks < 1)
            return makeError(Errc::IllegalSchedule, say(Msg::CudaModelDoesNotFit, std::string(m_gpu.name)));
        m_resident = std::min<std::int64_t>(occupancy.blocks, (facts.blocks + m_gpu.sms - 1) / m_gpu.sms);

        followBlock(walk);
        followWave(walk);
        counts();
        LATHE_TRY(cycles());
        m_reading.whole = m_profile.whole();
        m_reading.hot = m_profile.hot();
        m_reading.allTripsKnown = m_profile.allTripsKnown();
        return m_reading;
    }

private:
    /// What is known of an instruction that accesses memory, over the warps of one block.
    struct Access
    {
        double passes = 0, sectors = 0, times = 0;
        bool isGlobal = false, isStore = false, isUnknown = false;
        Sectors later; ///< of loads, in the second pass or outside loops
    };

    /// One block's warps, two passes through each loop.
    void followBlock(const SassWalk& walk)
    {
        Fetched fetched;
        Sectors stored;
        const std::int64_t block = m_launch.blocks() / 2;
        for (std::int64_t warp = 0; warp < m_launch.warps(); ++warp)
            walk.run(block, warp, kPasses, [&](const WalkAccess& found) {
                Access& access = m_accesses[found.instruction];
                access.isGlobal = access.isGlobal || found.space == WalkSpace::Global;
                access.isStore = found.isStore;
                // A copy from global to shared memory comes twice, the second time as the load.
                const bool isLoadOfCopy = m_kernel.instructions[found.instruction].kind == SassClass::AsyncCopy
                                          && found.space == WalkSpace::Global;
                const bool isPast = isLoadOfCopy && m_kernel.instructions[found.instruction].has("BYPASS");
                access.times += isLoadOfCopy ? 0 : 1;
                if (!found.isKnown) {
                    access.isUnknown = true;
                    const double words = std::max(found.access.bytes / 4, 1);
                    access.passes += isPast ? 0 : words;
                    access.sectors += found.space == WalkSpace::Global ? 4 * words : 0;
                    return;
                }
                access.passes += isPast ? 0 : bankPasses(found.access); // past the level-1 cache
                if (found.space == WalkSpace::Shared)
                    return;
                access.sectors += sectorsOf(found.access);
                if (found.isStore) {
                    append(stored, found.access);
                    return;
                }
                append(fetched[{m_profile.loopOf(found.instruction), found.pass}], found.access);
                if (found.pass != 1)
                    append(access.later, found.access);
            });
        for (auto& [where, sectors] : fetched)
            makeUnique(sectors);
        // The level-1 cache holds what one pass of the resident blocks fetches, or nothing of it.
        const double room = static_cast<double>(m_gpu.arrayBytes)
                            - static_cast<double>(m_resident * (m_reading.facts.sharedBytes + 1024));
        for (const auto& [where, sectors] : fetched) {
            const auto& [loop, pass] = where;
            if (pass != (loop < 0 ? 0 : 1))
                continue;
            double first = static_cast<double>(sectors.size()), later = first;
            if (const auto second = fetched.find({loop, 2}); loop >= 0 && second != fetched.end())
                later = static_cast<double>(without(second->second, sectors).size());
            if (static_cast<double>(sectors.size() * kSectorBytes) * static_cast<double>(m_resident) > room) {
                first = later = 0;
                for (std::size_t i = 0; i < m_accesses.size(); ++i)
                    if (m_profile.loopOf(i) == loop && m_accesses[i].isGlobal && !m_accesses[i].isStore
                        && m_accesses[i].times > 0)
                        first = later += m_accesses[i].sectors / m_accesses[i].times
                                         * static_cast<double>(m_launch.warps());
            }
            m_reading.facts.fillBytes += total(loop, first, later) * kSectorBytes;
        }
        // Stores go to the level-2 cache one by one; it joins parts of a sector before memory gets it.
        double storedSectors = 0;
        for (const Access& access : m_accesses)
            if (access.isStore && access.isGlobal && !access.isUnknown)
                storedSectors += access.sectors;
        makeUnique(stored);
        const double whole = storedSectors > 0 ? static_cast<double>(stored.size()) / storedSectors : 1;
        for (std::size_t i = 0; i < m_accesses.size(); ++i) {
            Access& access = m_accesses[i];
            makeUnique(access.later);
            if (!access.isGlobal || access.times < 1 || (!access.isStore && !access.isUnknown))
                continue;
            const double bytes = access.sectors / access.times * kSectorBytes * static_cast<double>(m_launch.warps())
                                 * m_profile.weight(i);
            m_reading.facts.fillBytes += bytes;
            m_reading.facts.memoryBytes += bytes * static_cast<double>(m_launch.blocks())
                                           * (access.isUnknown ? 1 : whole);
        }
        m_blockFetched = std::move(fetched);
    }

    /// Over a loop's passes, the first one and all later ones.
    double total(std::int32_t loop, double first, double later) const
    {
        if (loop < 0)
            return first;
        const SassLoop& l = m_profile.loops()[static_cast<std::size_t>(loop)];
        const double reached = m_profile.weight(l.first) / static_cast<double>(l.trips);
        return reached * (first + later * static_cast<double>(l.trips - 1));
    }

    /// What the blocks that are resident together fetch, each datum once: they run side by side, and the level-2 cache
    /// gives to all of them what one has fetched.
    void followWave(const SassWalk& walk)
    {
        const std::int64_t blocks = m_launch.blocks();
        const std::int64_t wave = std::min(blocks, m_resident * m_gpu.sms);
        const std::int64_t followed = std::clamp<std::int64_t>(m_options.mostWarps / m_launch.warps(), 1, wave);
        const bool hasLoads = !m_blockFetched.empty();
        for (std::int64_t block = 0; hasLoads && block < followed; ++block)
            for (std::int64_t warp = 0; warp < m_launch.warps(); ++warp)
                walk.run(block, warp, kPasses, [&](const WalkAccess& found) {
                    if (found.space == WalkSpace::Global && !found.isStore && found.isKnown)
                        append(m_waveFetched[{m_profile.loopOf(found.instruction), found.pass}], found.access);
                });
        for (auto& [where, sectors] : m_waveFetched)
            makeUnique(sectors);
        const double waves = static_cast<double>(blocks) / static_cast<double>(followed);
        double bytes = 0;
        for (const auto& [where, sectors] : m_waveFetched) {
            const auto& [loop, pass] = where;
            if (pass != (loop < 0 ? 0 : 1))
                continue;
            const auto first = static_cast<double>(sectors.size());
            double later = first;
            if (const auto second = m_waveFetched.find({loop, 2}); loop >= 0 && second != m_waveFetched.end())
                later = static_cast<double>(without(second->second, sectors).size());
            bytes += total(loop, first, later) * kSectorBytes * waves;
        }
        if (m_options.footprintBytes && *m_options.footprintBytes <= static_cast<double>(m_gpu.cacheBytes))
            m_reading.facts.memoryBytes = *m_options.footprintBytes;
        else
            m_reading.facts.memoryBytes += bytes;
    }

    void counts()
    {
        KernelFacts& facts = m_reading.facts;
        const SassCounts& whole = m_profile.whole();
        facts.floats = whole.of(SassClass::Ffma) + whole.of(SassClass::Float);
        facts.integers = whole.of(SassClass::Integer) + whole.of(SassClass::IntegerMultiply)
                         + whole.of(SassClass::Move);
        facts.doubles = whole.of(SassClass::Double);
        facts.halves = whole.of(SassClass::Half);
        facts.specials = whole.of(SassClass::Special) + whole.of(SassClass::Shuffle) / 2; // 32 lanes a cycle
        for (std::size_t i = 0; i < m_accesses.size(); ++i) {
            const SassInstruction& instruction = m_kernel.instructions[i];
            const Access& access = m_accesses[i];
            if (instruction.kind == SassClass::Barrier && m_profile.loopOf(i) >= 0)
                facts.hasBarriers = true;
            if (instruction.kind == SassClass::LocalLoad || instruction.kind == SassClass::LocalStore)
                ++m_reading.localAccesses;
            if (access.isUnknown)
                ++m_reading.unknownAccesses;
            if (instruction.bytes > 0 && instruction.kind != SassClass::ConstantLoad)
                facts.accessCycles += m_profile.weight(i) * accessCycles(i);
        }
    }

    /// The SM's way to shared memory and the level-1 cache: so many threads' addresses a cycle, one pass over the banks
    /// a cycle.
    double accessCycles(std::size_t i) const
    {
        const Access& access = m_accesses[i];
        const double dense = std::max(m_kernel.instructions[i].bytes / 4, 1);
        const double passes = access.times > 0 ? access.passes / access.times : dense;
        return std::max(32 / m_gpu.accessLanes, passes * 128 / m_gpu.passBytes);
    }

    AccessTiming timing(std::size_t i) const
    {
        const SassInstruction& instruction = m_kernel.instructions[i];
        const Access& access = m_accesses[i];
        // Wide loads take longer by what goes into more registers (Huerta et al., table 2).
        const double wide = instruction.bytes >= 16 ? 1 : 0;
        AccessTiming timing{accessCycles(i), m_gpu.sharedLatency + 2 * wide};
        if (!access.isGlobal)
            return timing;
        timing.latency = m_gpu.firstLatency + 6 * wide;
        const std::int32_t loop = m_profile.loopOf(i);
        const auto known = [&access, loop](const Fetched& fetched) {
            const auto first = fetched.find({loop, 1});
            return first != fetched.end() && without(access.later, first->second).empty();
        };
        if (access.isUnknown || !(loop >= 0 && known(m_blockFetched)))
            timing.latency = !access.isUnknown && loop >= 0 && known(m_waveFetched) ? m_gpu.secondLatency
                                                                                    : m_gpu.memoryLatency;
        return timing;
    }

    Result<> cycles()
    {
        const std::size_t end = sassCodeEnd(m_kernel);
        std::map<std::int32_t, std::vector<std::size_t>> ofLoop;
        for (std::size_t i = 0; i < end; ++i)
            ofLoop[m_profile.loopOf(i)].push_back(i);
        for (const auto& [loop, indices] : ofLoop) {
            LATHE_TRY_ASSIGN(const WarpCycles cycles, warpCyclesOf(m_kernel.instructions, indices, loop >= 0,
                                                                   [this](std::size_t i) { return timing(i); }));
            const double times = m_profile.weight(indices.front());
            m_reading.facts.issueCycles += times * cycles.issue;
            m_reading.facts.aloneCycles += times * cycles.alone;
        }
        return {};
    }

    const SassKernel& m_kernel;
    const SassLaunch& m_launch;
    const GpuFacts& m_gpu;
    const KernelFactsOptions& m_options;
    SassProfile m_profile;
    std::vector<Access> m_accesses;
    bool m_hasDriverShared;
    std::int64_t m_resident = 1; ///< blocks of an SM
    Fetched m_blockFetched, m_waveFetched;
    KernelReading m_reading;
};

} // namespace

Result<KernelReading> readKernel(const SassModule& module, const SassKernel& kernel, const SassLaunch& launch,
                                 const GpuFacts& gpu, const KernelFactsOptions& options,
                                 std::span<const std::uint64_t> extents)
{
    LATHE_TRY_ASSIGN(SassProfile profile, SassProfile::create(kernel, extents));
    Reading reading(module, kernel, launch, gpu, options, std::move(profile));
    LATHE_TRY_ASSIGN(const SassWalk walk, SassWalk::create(module, kernel, reading.profile(), launch));
    return reading.read(walk);
}

} // namespace lathe::cuda
