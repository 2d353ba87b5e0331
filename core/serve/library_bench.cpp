#include "core/serve/library_bench.h"

#include "core/runtime/control_kernel.h"
#include "core/runtime/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe::serve {

namespace {

constexpr std::uint32_t kTurns = 10;
constexpr double kSeconds = 0.4; ///< of the network's runs, where that is more than kLeastRepeats
constexpr double kLeastRepeats = 30, kMostRepeats = 200;

/// Of a dispatch of `task` by the runtime's own pool, as a library's runs have one; not-a-number if there is no pool.
double dispatchNs(unsigned threads, runtime::Pool::Task task, const runtime::RepeatPlan& plan)
{
    runtime::PoolOptions options;
    options.threads = threads;
    runtime::Pool* pool = runtime::Pool::create(options);
    if (pool == nullptr)
        return std::numeric_limits<double>::quiet_NaN();
    struct Dispatch
    {
        runtime::Pool* pool;
        runtime::Pool::Task task;
    } dispatch{pool, task};
    std::vector<double> ns(plan.repeat);
    runtime::timeRepeats(
        plan,
        [](void* p) -> std::int32_t {
            const auto* d = static_cast<const Dispatch*>(p);
            d->pool->run(d->task, nullptr);
            return 0;
        },
        &dispatch, ns.data());
    runtime::Pool::destroy(pool);
    return runtime::summarize(ns.data(), ns.size()).median;
}

/// Fork and join of nothing: what each run of a library adds.
double dispatchMs(unsigned threads)
{
    return dispatchNs(threads, [](void*, std::uint32_t, std::uint32_t) {}, {200, 11, 0, 0, 1}) * 1e-6;
}

/// The middle of three: one that another program strikes, and one at a lucky moment, do not count.
double controlNs(unsigned threads)
{
    return dispatchNs(threads, [](void*, std::uint32_t, std::uint32_t) { runtime::controlKernel(); }, {1, 3, 0, 0, 1});
}

struct BenchRuns
{
    int first = 4; ///< untold
    std::uint32_t repeats = 0;
    int sweeps = 0;
};

/// Of a library that takes so long: what is wanted, or less where it would take longer than allowed.
BenchRuns runsWithin(const wire::LibraryPlan& plan, double seconds)
{
    BenchRuns runs;
    runs.repeats = plan.repeat > 0
                       ? plan.repeat
                       : static_cast<std::uint32_t>(std::clamp(kSeconds / seconds, kLeastRepeats, kMostRepeats));
    runs.sweeps = static_cast<int>(std::clamp<double>(runs.repeats, kLeastRepeats, kMostRepeats) / 2);
    const double sweep = 2 * seconds; // each instruction runs twice
    const double wanted = (runs.first + 2) * seconds + runs.sweeps * sweep
                          + runs.repeats * std::max(plan.number * seconds, plan.minRepeatMs * 1e-3);
    if (plan.maxSeconds <= 0 || wanted <= plan.maxSeconds)
        return runs;
    const double share = plan.maxSeconds / wanted;
    const auto some = [&](double count, double least) {
        return std::max(std::min(count, least), std::floor(share * count));
    };
    return {static_cast<int>(some(runs.first, 0)), static_cast<std::uint32_t>(some(runs.repeats, 3)),
            static_cast<int>(some(runs.sweeps, 3))};
}

/// Each function's mean over the middle half of the sweeps, by what a sweep's figures add up to. The sum of these is a
/// middling sweep, as the network's median is a middling run: medians of the single functions would leave out the
/// moments in which another guest of the machine strikes one or the other, while every run has some of them.
std::vector<double> middling(const std::vector<ChainRow>& functions)
{
    const std::size_t sweeps = functions.empty() ? 0 : functions.front().ms.size();
    std::vector<std::pair<double, std::size_t>> sums;
    for (std::size_t s = 0; s < sweeps; ++s) {
        double sum = 0;
        for (const ChainRow& row : functions)
            sum += row.ms[s];
        sums.emplace_back(sum, s);
    }
    std::sort(sums.begin(), sums.end());
    const std::size_t first = sweeps / 4, last = sweeps - first;
    std::vector<double> means(functions.size());
    for (std::size_t f = 0; f < functions.size(); ++f)
        for (std::size_t k = first; k < last; ++k)
            means[f] += functions[f].ms[sums[k].second] / static_cast<double>(last - first);
    return means;
}

} // namespace

namespace {

/// One turn of several: the library ran just before, on inputs of its own.
Result<wire::LibraryTimes> timeTurn(LoadedLibrary& library, const wire::LibraryPlan& plan)
{
    wire::LibraryTimes times;
    const double before = controlNs(library.threads());
    const runtime::RepeatPlan repeats{plan.number, std::max(1U, plan.repeat), plan.minRepeatMs, 0, 1};
    LATHE_TRY_ASSIGN(times.runsNs, library.time(repeats));
    times.controlNs = std::max(before, controlNs(library.threads())); // the state that the runs stood between
    times.callMs = std::numeric_limits<double>::quiet_NaN();
    times.threads = library.threads();
    return times;
}

} // namespace

Result<wire::LibraryTimes> benchLibrary(LoadedLibrary& library, const wire::LibraryPlan& plan, double runSeconds)
{
    if (plan.wholeOnly)
        return timeTurn(library, plan);
    const BenchRuns runs = runsWithin(plan, runSeconds);
    for (int i = 0; i < runs.first; ++i) // clocks, caches and page tables settle
        LATHE_TRY(library.run());
    wire::LibraryTimes times;
    std::vector<ChainRow> functions;
    runtime::RepeatPlan repeats{plan.number, 0, plan.minRepeatMs, 0, 1};
    // The whole network and its functions in turns, so that a bad moment of the machine strikes both.
    const auto turns = std::max<std::uint32_t>(
        1, std::min<std::uint32_t>(kTurns, std::min(runs.repeats, static_cast<std::uint32_t>(runs.sweeps))));
    for (std::uint32_t turn = 0; turn < turns; ++turn) {
        const auto part = [&](std::uint32_t all) { return all * (turn + 1) / turns - all * turn / turns; };
        repeats.repeat = part(runs.repeats);
        LATHE_TRY_ASSIGN(const std::vector<double> some, library.time(repeats));
        times.runsNs.insert(times.runsNs.end(), some.begin(), some.end());
        LATHE_TRY(library.timeChain(static_cast<int>(part(static_cast<std::uint32_t>(runs.sweeps))), functions));
    }
    const std::vector<double> means = middling(functions);
    for (std::size_t f = 0; f < functions.size(); ++f)
        times.functions.push_back({functions[f].name, functions[f].kind, means[f],
                                   *std::min_element(functions[f].ms.begin(), functions[f].ms.end())});
    times.callMs = dispatchMs(library.threads());
    times.threads = library.threads();
    return times;
}

} // namespace lathe::serve
