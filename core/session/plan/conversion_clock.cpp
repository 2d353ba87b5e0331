#include "core/session/plan/conversion_clock.h"

#include "core/runtime/layout_transform.h"
#include "core/runtime/pool.h"
#include "core/support/median.h"
#include "core/support/message.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

namespace lathe::session {

namespace {

using graph::plan::Conversion;

struct Work
{
    LayoutTransform transform;
    std::vector<std::byte> from, to;
    runtime::Pool* pool = nullptr;
};

/// As runtime::Executor does it.
void runPart(void* context, std::uint32_t part, std::uint32_t parts)
{
    Work& work = *static_cast<Work*>(context);
    if (work.transform.hasPadding()) {
        work.transform.zero(work.to.data(), part, parts);
        work.pool->barrier();
    }
    work.transform.copy(work.from.data(), work.to.data(), part, parts);
}

Result<double> timeOne(const Conversion& conversion, const ConversionTiming& timing, runtime::Pool& pool,
                       const std::stop_token& stop)
{
    LATHE_TRY_ASSIGN(const IndexMap from, graph::plan::indexMapOf(conversion.from, conversion.order, conversion.shape));
    LATHE_TRY_ASSIGN(const IndexMap to, graph::plan::indexMapOf(conversion.to, conversion.order, conversion.shape));
    Work work;
    work.pool = &pool;
    if (!work.transform.prepare(from, to, conversion.dtype))
        return makeError(Errc::Internal, "there is no memory for " + textOf(conversion));
    const auto bytes = static_cast<std::size_t>(sizeOf(conversion.dtype));
    work.from.resize(static_cast<std::size_t>(from.elementCount()) * bytes);
    work.to.resize(static_cast<std::size_t>(to.elementCount()) * bytes);
    std::vector<double> seconds;
    double sum = 0;
    for (std::int64_t i = -1; i < timing.runs && (i < 3 || sum < timing.secondsEach); ++i) {
        if (stop.stop_requested())
            return makeError(Errc::Cancelled, say(Msg::Stopped));
        const auto begin = std::chrono::steady_clock::now();
        pool.run(runPart, &work);
        const double one = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (i < 0)
            continue; // it brings pages and caches
        seconds.push_back(one);
        sum += one;
    }
    return medianOf(std::move(seconds));
}

} // namespace

Result<graph::plan::ConversionTable> timeConversions(std::span<const Conversion> conversions,
                                                     const ConversionTiming& timing, std::stop_token stop)
{
    graph::plan::ConversionTable table;
    if (conversions.empty())
        return table;
    runtime::PoolOptions options;
    options.threads = std::max(1U, timing.threads);
    const std::unique_ptr<runtime::Pool, runtime::PoolDeleter> pool(runtime::Pool::create(options));
    if (!pool)
        return makeError(Errc::Internal, "the system gives no threads to change layouts with");
    for (const Conversion& conversion : conversions) {
        LATHE_TRY_ASSIGN(table[conversion], timeOne(conversion, timing, *pool, stop));
    }
    return table;
}

} // namespace lathe::session
