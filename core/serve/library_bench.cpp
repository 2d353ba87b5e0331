#include "core/serve/library_bench.h"

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

/// Fork and join of nothing by the runtime's own pool: what each run of a library adds.
double dispatchMs(unsigned threads)
{
    runtime::PoolOptions options;
    options.threads = threads;
    runtime::Pool* pool = runtime::Pool::create(options);
    if (pool == nullptr)
        return std::numeric_limits<double>::quiet_NaN();
    double ns[11] = {};
    const runtime::RepeatPlan plan{200, std::size(ns), 0, 0, 1};
    runtime::timeRepeats(
        plan,
        [](void* p) -> std::int32_t {
            static_cast<runtime::Pool*>(p)->run([](void*, std::uint32_t, std::uint32_t) {}, nullptr);
            return 0;
        },
        pool, ns);
    runtime::Pool::destroy(pool);
    return runtime::summarize(ns, std::size(ns)).median * 1e-6;
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

Result<wire::LibraryTimes> benchLibrary(LoadedLibrary& library, const wire::LibraryPlan& plan, double runSeconds)
{
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
