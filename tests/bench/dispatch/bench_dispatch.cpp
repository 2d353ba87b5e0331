// What the pool adds to a network of small kernels after a rest: 26 kernels of 20 us a part, 0.1 s of sleep before each
// series, as a program has that infers now and then. Beside it, in the same series, the caller's part of the work
// alone: the ratio is 1 if forks and joins cost nothing.

#include "core/runtime/clock.h"
#include "core/runtime/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

using namespace lathe::runtime;

namespace {

constexpr int kKernels = 26, kSeries = 40;
constexpr double kKernelNs = 20e3, kSeriesNs = 20e6;

volatile double g_sink;

void spend(int steps)
{
    double x = 1;
    for (int i = 0; i < steps; ++i)
        x = x * 1.0000001 + 1e-9;
    g_sink = x;
}

/// Milliseconds of one network, mean over about 20 ms.
template<typename F>
double series(const F& network)
{
    network();
    network();
    const std::uint64_t start = nowNanoseconds();
    int count = 0;
    do {
        network();
        ++count;
    } while (static_cast<double>(nowNanoseconds() - start) < kSeriesNs);
    return static_cast<double>(nowNanoseconds() - start) * 1e-6 / count;
}

void print(const char* what, std::vector<double> ms)
{
    std::sort(ms.begin(), ms.end());
    fmt::print("{:<6} median {:.3f} ms, least {:.3f}, most {:.3f}\n", what, ms[ms.size() / 2], ms.front(), ms.back());
}

} // namespace

int main()
{
    Pool* const pool = Pool::create({});
    if (pool == nullptr)
        return 1;
    constexpr int kProbe = 2'000'000;
    const std::uint64_t start = nowNanoseconds();
    spend(kProbe);
    int steps = static_cast<int>(kProbe / (static_cast<double>(nowNanoseconds() - start) / kKernelNs));
    std::vector<double> forked, alone, ratios;
    for (int s = 0; s < kSeries; ++s) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        forked.push_back(series([&] {
            for (int k = 0; k < kKernels; ++k)
                pool->run([](void* context, std::uint32_t, std::uint32_t) { spend(*static_cast<int*>(context)); },
                          &steps);
        }));
        alone.push_back(series([&] {
            for (int k = 0; k < kKernels; ++k)
                spend(steps);
        }));
        ratios.push_back(forked.back() / alone.back());
    }
    fmt::print("{} parts\n", pool->parts());
    print("forked", forked);
    print("alone", alone);
    std::sort(ratios.begin(), ratios.end());
    fmt::print("ratio: median {:.2f}, nine in ten below {:.2f}, most {:.2f}\n", ratios[kSeries / 2],
               ratios[kSeries * 9 / 10], ratios.back());
    Pool::destroy(pool);
    return 0;
}
