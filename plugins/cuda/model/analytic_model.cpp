#include "plugins/cuda/model/analytic_model.h"

#include "core/support/message.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lathe::cuda {
namespace {

constexpr double kWarp = 32;

/// Cycles that something takes, and what of.
struct Demand
{
    double cycles = 0;
    Bound bound = Bound::Issue;
};

Demand larger(const Demand& a, const Demand& b)
{
    return b.cycles > a.cycles ? b : a;
}

class Sm
{
public:
    Sm(const KernelFacts& facts, const GpuFacts& gpu)
        : m_facts(facts)
        , m_gpu(gpu)
        , m_warps(std::ceil(static_cast<double>(facts.threads) / kWarp))
    {
    }

    /// T(g) of the header.
    Demand time(double blocks) const
    {
        const Demand busy = demand(blocks);
        const double waits = std::max(m_facts.aloneCycles - m_facts.issueCycles, 0.0);
        const double alone = m_facts.hasBarriers ? waits + demand(1).cycles : m_facts.aloneCycles;
        return larger(busy, {alone, Bound::Latency});
    }

private:
    /// D(g): the first of equals names the bound.
    Demand demand(double blocks) const
    {
        const double ofScheduler = std::ceil(blocks * m_warps / m_gpu.schedulers);
        const auto lanes = [&](double instructions, double width, Bound bound) {
            return Demand{ofScheduler * kWarp * instructions / (width / m_gpu.schedulers), bound};
        };
        Demand most{ofScheduler * m_facts.issueCycles, Bound::Issue};
        most = larger(most, lanes(m_facts.floats, m_gpu.floatLanes, Bound::FloatLanes));
        if (m_gpu.integersShareLanes)
            most = larger(most, lanes(m_facts.floats + m_facts.integers, m_gpu.floatLanes, Bound::FloatLanes));
        most = larger(most, lanes(m_facts.integers, m_gpu.integerLanes, Bound::IntegerLanes));
        most = larger(most, lanes(m_facts.doubles, m_gpu.doubleLanes, Bound::OtherLanes));
        most = larger(most, lanes(m_facts.halves, m_gpu.halfLanes, Bound::OtherLanes));
        most = larger(most, lanes(m_facts.specials, m_gpu.specialLanes, Bound::OtherLanes));
        most = larger(most, {blocks * m_warps * m_facts.accessCycles, Bound::Access});
        return larger(most, {blocks * m_facts.fillBytes / m_gpu.fillBytes, Bound::Fill});
    }

    const KernelFacts& m_facts;
    const GpuFacts& m_gpu;
    double m_warps;
};

} // namespace

std::string_view toString(Bound bound)
{
    static constexpr std::array<std::string_view, 9> kNames = {
        "issue", "float32 lanes", "integer lanes", "other lanes", "shared memory and level-1 cache",
        "fill",  "level-2 cache", "memory",        "latency"};
    return kNames[static_cast<std::size_t>(bound)];
}

Result<LaunchTime> launchTimeOf(const KernelFacts& facts, const GpuFacts& gpu, GpuClock clock)
{
    LaunchTime time;
    time.occupancy = occupancyOf(gpu, facts.threads, facts.registers, facts.sharedBytes);
    if (time.occupancy.blocks < 1 || facts.blocks < 1)
        return makeError(Errc::IllegalSchedule, say(Msg::CudaModelDoesNotFit, std::string(gpu.name)));
    const double hz = clock == GpuClock::Boost ? gpu.boostHz : gpu.baseHz;
    const auto blocks = static_cast<double>(facts.blocks);
    const double ofBusiest = std::ceil(blocks / gpu.sms);
    const double resident = std::min<double>(time.occupancy.blocks, ofBusiest);
    const double rounds = std::floor(ofBusiest / resident);
    const double rest = ofBusiest - rounds * resident;
    const Sm sm(facts, gpu);
    const Demand full = sm.time(resident);
    double cycles = rounds * full.cycles;
    if (rest > 0)
        cycles += sm.time(rest).cycles;
    time.waves = blocks / (static_cast<double>(time.occupancy.blocks) * gpu.sms);
    time.smSeconds = cycles / hz;
    time.cacheSeconds = blocks * facts.fillBytes / gpu.cacheBytesPerCycle / hz;
    time.memorySeconds = facts.memoryBytes / gpu.memoryBytesPerSecond;
    time.seconds = time.smSeconds;
    time.bound = full.bound;
    if (time.cacheSeconds > time.seconds) {
        time.seconds = time.cacheSeconds;
        time.bound = Bound::Cache;
    }
    if (time.memorySeconds > time.seconds) {
        time.seconds = time.memorySeconds;
        time.bound = Bound::Memory;
    }
    const double warps = blocks * std::ceil(static_cast<double>(facts.threads) / kWarp);
    time.floatShare = time.seconds > 0 ? warps * kWarp * facts.floats / (gpu.floatLanes * gpu.sms) / hz / time.seconds
                                       : 0;
    return time;
}

Result<double> sequenceSecondsOf(std::span<const KernelFacts> launches, const GpuFacts& gpu, GpuClock clock,
                                 bool isGraph)
{
    double seconds = 0;
    for (const KernelFacts& facts : launches) {
        LATHE_TRY_ASSIGN(const LaunchTime time, launchTimeOf(facts, gpu, clock));
        seconds += time.seconds + (isGraph ? gpu.launchGapSeconds : gpu.launchSeconds);
    }
    return seconds;
}

} // namespace lathe::cuda
