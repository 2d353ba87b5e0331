#include "plugins/cpu/device/limits.h"

#include "core/runtime/clock.h"
#include "core/runtime/memory.h"
#include "plugins/cpu/device/machine.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

// Both probes are written with vectors of the compiler's own, once for each width: as many sums as hide a
// multiply-add's latency of four cycles on two units and fit the registers. This file is compiled with contraction, so
// that a * b + c is one instruction.

namespace lathe::cpu {

namespace {

template<std::size_t Bytes>
using Vector __attribute__((vector_size(Bytes))) = float;

constexpr std::uint64_t kSteps = 400'000; ///< of multiply-adds, each of all sums
/// Others take turns with this program on shared machines: in so many rounds each probe meets a quiet moment.
constexpr int kRounds = 15;

// One function a width, since an instruction set is an attribute of a function and templates do not inherit it from who
// calls. The sums are variables one by one: an array of them would stay in memory.
#define LATHE_12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define LATHE_24(X) LATHE_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define LATHE_BEGIN(k) V sum##k = V{} + (1.0f + 0.01f * k); // different, or they would be computed as one
#define LATHE_STEP(k) sum##k = sum##k * factor + term;
#define LATHE_END(k) *out += sum##k[0];
#define LATHE_LOAD(k) sum##k += v[i + k];

#define LATHE_PROBES(suffix, bytes, sums, attributes)                                                                  \
    attributes void multiplyAdd##suffix(float* out)                                                                    \
    {                                                                                                                  \
        using V = Vector<bytes>;                                                                                       \
        const V factor = V{} + 0.999f, term = V{} + 0.001f;                                                            \
        sums(LATHE_BEGIN) for (std::uint64_t i = 0; i < kSteps; ++i)                                                   \
        {                                                                                                              \
            asm volatile("" ::: "memory");                                                                             \
            sums(LATHE_STEP)                                                                                           \
        }                                                                                                              \
        sums(LATHE_END)                                                                                                \
    }                                                                                                                  \
    attributes void readAll##suffix(const std::byte* from, std::size_t count, float* out)                              \
    {                                                                                                                  \
        using V = Vector<bytes>;                                                                                       \
        const V* v = reinterpret_cast<const V*>(from);                                                                 \
        LATHE_12(LATHE_BEGIN)                                                                                          \
        for (std::size_t i = 0; i + 12 <= count / bytes; i += 12){LATHE_12(LATHE_LOAD)} LATHE_12(LATHE_END)            \
    }

#if defined(__x86_64__)
LATHE_PROBES(512, 64, LATHE_24, __attribute__((target("avx512f"))))
LATHE_PROBES(256, 32, LATHE_12, __attribute__((target("avx2,fma"))))
#endif
LATHE_PROBES(128, 16, LATHE_12, )
#undef LATHE_PROBES
#undef LATHE_LOAD
#undef LATHE_END
#undef LATHE_STEP
#undef LATHE_BEGIN
#undef LATHE_24
#undef LATHE_12

struct Probe
{
    void (*multiplyAdd)(float*);
    void (*readAll)(const std::byte*, std::size_t, float*);
    double flopPerStep;
};

Probe pick()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return {multiplyAdd512, readAll512, 2.0 * 24 * 16};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return {multiplyAdd256, readAll256, 2.0 * 12 * 8};
#endif
    return {multiplyAdd128, readAll128, 2.0 * 12 * 4};
}

struct Job
{
    Probe probe;
    const std::byte* data = nullptr; ///< null: multiply-adds
    std::size_t share = 0; ///< bytes of a part
    int passes = 1;
};

void work(void* context, std::uint32_t part, std::uint32_t)
{
    const Job& job = *static_cast<const Job*>(context);
    float out = 0;
    if (job.data == nullptr)
        job.probe.multiplyAdd(&out);
    for (int pass = 0; job.data != nullptr && pass < job.passes; ++pass)
        job.probe.readAll(job.data + part * job.share, job.share, &out);
    asm volatile("" : : "m"(out));
}

double secondsOf(runtime::Pool& pool, Job job)
{
    const std::uint64_t start = runtime::nowNanoseconds();
    pool.run(work, &job);
    return static_cast<double>(runtime::nowNanoseconds() - start) * 1e-9;
}

} // namespace

std::string machineLimits(runtime::Pool& pool)
{
    const Probe probe = pick();
    const auto threads = static_cast<double>(pool.parts());
    nlohmann::json limits;
    const auto l1 = static_cast<double>(cacheBytes(1)), l2 = static_cast<double>(cacheBytes(2)),
               l3 = static_cast<double>(cacheBytes(3));
    struct Level
    {
        const char* name;
        double holds, used; ///< bytes of all threads
    };
    // Of each cache so much that it is surely served from there. The last one is shared, on servers with strangers too.
    const Level levels[] = {{"L1", l1 * threads, 0.5 * l1 * threads},
                            {"L2", l2 * threads, 0.6 * l2 * threads},
                            {"L3", l3, std::max(0.3 * l3, 2 * l2 * threads)},
                            {"memory", 0, std::max(192e6, 2 * l3)}};
    struct Read
    {
        Level level;
        Job job;
        double seconds = HUGE_VAL;
    };
    std::vector<Read> reads;
    runtime::Pages pages;
    if (pages.allocate(static_cast<std::size_t>(levels[3].used), true)) {
        std::memset(pages.data(), 0, pages.bytes()); // else all of it would be one page of zeros
        for (const Level& level : levels) {
            const std::size_t share = static_cast<std::size_t>(level.used / threads) / 4096 * 4096;
            if (share > 0)
                reads.push_back(
                    {level,
                     {probe, pages.data(), share, std::max(1, static_cast<int>(16e6 / static_cast<double>(share)))}});
        }
    }
    double multiplySeconds = HUGE_VAL;
    for (int round = 0; round < kRounds; ++round) {
        multiplySeconds = std::min(multiplySeconds, secondsOf(pool, {probe, nullptr, 0, 1}));
        for (Read& read : reads)
            read.seconds = std::min(read.seconds, secondsOf(pool, read.job));
    }
    limits["gflops"] = threads * probe.flopPerStep * static_cast<double>(kSteps) / multiplySeconds * 1e-9;
    limits["levels"] = nlohmann::json::array();
    for (const Read& read : reads) {
        const double bytes = static_cast<double>(read.job.share) * threads * read.job.passes;
        limits["levels"].push_back(
            {{"name", read.level.name}, {"bytes", read.level.holds}, {"gbytes_per_s", bytes / read.seconds * 1e-9}});
    }
    return limits.dump();
}

} // namespace lathe::cpu
