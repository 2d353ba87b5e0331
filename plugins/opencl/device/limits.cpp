#include "plugins/opencl/device/limits.h"

#include "plugins/opencl/device/program.h"
#include "plugins/opencl/device/stopwatch.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>

namespace lathe::opencl {
namespace {

constexpr const char* kSource = R"(
#define STEP(a) a = a * x + y
__kernel void arithmetic(__global float* out, float x, float y, int rounds)
{
    float a = get_local_id(0), b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    for (int r = 0; r < rounds; ++r) {
        STEP(a); STEP(b); STEP(c); STEP(d); STEP(e); STEP(f); STEP(g); STEP(h);
        STEP(a); STEP(b); STEP(c); STEP(d); STEP(e); STEP(f); STEP(g); STEP(h);
    }
    out[get_global_id(0)] = a + b + c + d + e + f + g + h;
}
__kernel void reads(__global float* out, __global const float4* from, uint mask, int rounds)
{
    const uint threads = get_global_size(0);
    float4 a = 0, b = 0, c = 0, d = 0;
    uint at = get_global_id(0);
    for (int r = 0; r < rounds; ++r) {
        a += from[at & mask];
        b += from[(at + threads) & mask];
        c += from[(at + 2 * threads) & mask];
        d += from[(at + 3 * threads) & mask];
        at += 4 * threads;
    }
    a += b + c + d;
    out[get_global_id(0)] = a.x + a.y + a.z + a.w;
}
)";
constexpr double kOperations = 32; ///< of a round of `arithmetic`
constexpr double kBytes = 64; ///< of a round of `reads`
constexpr std::size_t kBlock = 256;
constexpr std::uint64_t kLeastSet = 4ULL << 20, kMostSet = 512ULL << 20;

/// One of the two kernels, with its fixed arguments.
class Probe
{
public:
    Probe(const Driver& driver, cl_command_queue queue, bool hasEvents, std::size_t threads, const Program& program,
          const char* name)
        : m_driver(driver)
        , m_queue(queue)
        , m_hasEvents(hasEvents)
        , m_threads(threads)
    {
        cl_int code = CL_SUCCESS;
        m_kernel = driver.createKernel(program.get(), name, &code);
    }
    ~Probe()
    {
        if (m_kernel != nullptr)
            m_driver.releaseKernel(m_kernel);
    }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    template<typename Value>
    void set(cl_uint number, const Value& value) const
    {
        if (m_kernel != nullptr)
            m_driver.setKernelArg(m_kernel, number, sizeof(Value), static_cast<const void*>(&value));
    }

    /// Rounds of all threads together in a second, the best of some launches; 0: it did not run.
    double roundsPerSecond() const
    {
        constexpr double kLeastSeconds = 2e-3;
        constexpr int kMostRounds = 1 << 24, kTries = 3;
        double best = 0;
        for (int rounds = 64, tries = 0; m_kernel != nullptr && tries < kTries;) {
            const double seconds = run(rounds);
            if (!(seconds > 0))
                return 0;
            if (seconds < kLeastSeconds && rounds < kMostRounds) {
                rounds *= 4;
                continue;
            }
            best = std::max(best, static_cast<double>(rounds) * static_cast<double>(m_threads) / seconds);
            ++tries;
        }
        return best;
    }

private:
    double run(int rounds) const
    {
        set(3, rounds);
        Stopwatch watch(m_driver, m_queue, m_hasEvents);
        const std::size_t block = kBlock;
        if (m_driver.enqueueNdRangeKernel(m_queue, m_kernel, 1, nullptr, &m_threads, &block, 0, nullptr,
                                          watch.next(true, true))
                != CL_SUCCESS
            || watch.close() != CL_SUCCESS || watch.finish() != CL_SUCCESS)
            return 0;
        return 1e-9 * static_cast<double>(watch.nanoseconds());
    }

    const Driver& m_driver;
    cl_command_queue m_queue;
    bool m_hasEvents;
    std::size_t m_threads;
    cl_kernel m_kernel = nullptr;
};

/// Released with its owner.
class Buffer
{
public:
    Buffer(const Driver& driver, cl_context context, std::size_t bytes)
        : m_driver(driver)
    {
        cl_int code = CL_SUCCESS;
        memory = driver.createBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
    }
    ~Buffer()
    {
        if (memory != nullptr)
            m_driver.releaseMemObject(memory);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    cl_mem memory = nullptr;

private:
    const Driver& m_driver;
};

} // namespace

std::string measureLimits(const Driver& driver, cl_context context, cl_command_queue queue, const DeviceFacts& facts,
                          bool hasEvents)
{
    constexpr std::size_t kBlocksOfUnit = 8;
    std::string problem;
    const Program program = Program::fromSource(driver, context, facts.id, kSource, problem);
    const std::size_t threads = kBlock * kBlocksOfUnit * std::max<std::size_t>(facts.units, 1);
    const std::uint64_t most = std::min({kMostSet, facts.largestBuffer, facts.memoryBytes / 8});
    if (!program || facts.mostThreads < kBlock || most < kLeastSet)
        return "{}";
    const std::uint64_t largest = std::bit_floor(most);
    const Buffer out(driver, context, threads * sizeof(float)), from(driver, context, largest);
    const cl_uint pattern = 0;
    if (out.memory == nullptr || from.memory == nullptr
        || driver.enqueueFillBuffer(queue, from.memory, &pattern, sizeof pattern, 0, largest, 0, nullptr, nullptr)
               != CL_SUCCESS)
        return "{}";

    const Probe arithmetic(driver, queue, hasEvents, threads, program, "arithmetic");
    arithmetic.set(0, out.memory);
    arithmetic.set(1, 0.5F);
    arithmetic.set(2, 1.0F);
    const double gflops = 1e-9 * kOperations * arithmetic.roundsPerSecond();

    const Probe reads(driver, queue, hasEvents, threads, program, "reads");
    reads.set(0, out.memory);
    reads.set(1, from.memory);
    std::vector<ReadSpeed> speeds;
    for (std::uint64_t bytes = kLeastSet; bytes <= largest; bytes *= 2) {
        reads.set(2, static_cast<cl_uint>(bytes / sizeof(cl_float4) - 1));
        speeds.push_back({bytes, 1e-9 * kBytes * reads.roundsPerSecond()});
    }
    return limitsText(gflops, speeds);
}

std::string limitsText(double gflops, const std::vector<ReadSpeed>& speeds)
{
    return lathe::limitsText<nlohmann::json>(gflops, speeds);
}

} // namespace lathe::opencl
