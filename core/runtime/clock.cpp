#include "core/runtime/clock.h"

#include <ctime>

namespace lathe::runtime {

std::uint64_t nowNanoseconds()
{
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

Statistics summarize(double* values, std::size_t count)
{
    Statistics s;
    if (count == 0)
        return s;
    // Shell sort: a few hundred values, and no need for the library's sort.
    for (std::size_t gap = count / 2; gap > 0; gap /= 2)
        for (std::size_t i = gap; i < count; ++i) {
            const double v = values[i];
            std::size_t k = i;
            for (; k >= gap && values[k - gap] > v; k -= gap)
                values[k] = values[k - gap];
            values[k] = v;
        }
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i)
        sum += values[i];
    s.mean = sum / static_cast<double>(count);
    double squares = 0;
    for (std::size_t i = 0; i < count; ++i)
        squares += (values[i] - s.mean) * (values[i] - s.mean);
    s.std = __builtin_sqrt(squares / static_cast<double>(count));
    s.min = values[0];
    s.max = values[count - 1];
    s.median = count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    const double rank = 0.95 * static_cast<double>(count - 1);
    const auto below = static_cast<std::size_t>(rank);
    const std::size_t above = below + 1 < count ? below + 1 : below;
    s.p95 = values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
    return s;
}

std::int32_t timeRepeats(const RepeatPlan& plan, TimedCall call, void* context, double* results)
{
    if (const std::int32_t code = call(context); code != 0)
        return code;
    std::uint64_t number = plan.number > 0 ? plan.number : 1;
    const double minNanoseconds = plan.minRepeatMs * 1e6;
    for (std::uint32_t r = 0; r < plan.repeat; ++r) {
        while (true) {
            const std::uint64_t start = nowNanoseconds();
            for (std::uint64_t i = 0; i < number; ++i)
                if (const std::int32_t code = call(context); code != 0)
                    return code;
            const auto elapsed = static_cast<double>(nowNanoseconds() - start);
            const double each = elapsed / static_cast<double>(number);
            if (elapsed >= minNanoseconds) {
                results[r] = each;
                break;
            }
            const double byTime = minNanoseconds / (each > 1 ? each : 1) + 1,
                         byGrowth = static_cast<double>(number) * 1.618;
            const auto grown = static_cast<std::uint64_t>(byTime > byGrowth ? byTime : byGrowth);
            number = grown > number ? grown : number + 1; // 1 * 1.618 is 1 again
        }
        if (plan.cooldownMs > 0 && plan.repeatsToCooldown > 0 && r % plan.repeatsToCooldown == 0) {
            const auto pause = static_cast<std::int64_t>(plan.cooldownMs * 1e6);
            const timespec t{static_cast<time_t>(pause / 1'000'000'000), static_cast<long>(pause % 1'000'000'000)};
            nanosleep(&t, nullptr);
        }
    }
    return 0;
}

} // namespace lathe::runtime
