#include "plugins/cuda/device/limits.h"

#include "core/runtime/read_speeds.h"
#include "plugins/cuda/device/stopwatch.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <vector>

namespace lathe::cuda {
namespace {

constexpr int kChains = 8; ///< of products and sums that do not wait for each other
constexpr int kSteps = 16; ///< of each in a round, beside three instructions of the loop
constexpr int kReads = 4; ///< of 16 bytes in a round
constexpr double kOperations = 2.0 * kChains * kSteps, kBytes = 16.0 * kReads; ///< of a round
constexpr unsigned kBlock = 256;
constexpr std::uint64_t kLeastSet = 4ULL << 20, kMostSet = 512ULL << 20;

std::string numbered(const char* name, int number)
{
    return name + std::to_string(number);
}

/// The number of this thread among all, in %r1; of all, in %r2.
constexpr const char* kThread = "    mov.u32 %r3, %ctaid.x;\n"
                                "    mov.u32 %r4, %ntid.x;\n"
                                "    mov.u32 %r5, %tid.x;\n"
                                "    mad.lo.u32 %r1, %r3, %r4, %r5;\n"
                                "    mov.u32 %r6, %nctaid.x;\n"
                                "    mul.lo.u32 %r2, %r6, %r4;\n";
/// Leaves %f0 where the thread's own number is in the buffer at %rd1, so that nothing is left out.
constexpr const char* kStore = "    mul.wide.u32 %rd2, %r1, 4;\n"
                               "    add.u64 %rd3, %rd1, %rd2;\n"
                               "    st.global.f32 [%rd3], %f0;\n"
                               "    ret;\n"
                               "}\n";

/// A kernel with its rounds in %r7.
std::string kernel(const char* name, const std::string& parameters, const std::string& before, const std::string& round,
                   const std::string& behind)
{
    std::string text = std::string(".visible .entry ") + name + "(" + parameters
                       + ", .param .u32 rounds)\n{\n    .reg .pred %p<2>;\n    .reg .b32 %r<24>;\n"
                         "    .reg .f32 %f<40>;\n    .reg .b64 %rd<24>;\n";
    text += std::string(kThread) + "    ld.param.u64 %rd1, [out];\n    cvta.to.global.u64 %rd1, %rd1;\n"
            + "    ld.param.u32 %r7, [rounds];\n" + before;
    text += "LOOP:\n" + round + "    sub.u32 %r7, %r7, 1;\n    setp.ne.u32 %p1, %r7, 0;\n    @%p1 bra LOOP;\n";
    return text + behind + kStore;
}

std::string arithmetic()
{
    std::string before = "    ld.param.f32 %f20, [x];\n    ld.param.f32 %f21, [y];\n    cvt.rn.f32.u32 %f0, %r5;\n";
    std::string round, behind;
    for (int c = 1; c < kChains; ++c)
        before += "    add.f32 " + numbered("%f", c) + ", " + numbered("%f", c - 1) + ", 0f3F800000;\n";
    for (int s = 0; s < kSteps; ++s)
        for (int c = 0; c < kChains; ++c)
            round += "    fma.rn.f32 " + numbered("%f", c) + ", " + numbered("%f", c) + ", %f20, %f21;\n";
    for (int c = 1; c < kChains; ++c)
        behind += "    add.f32 %f0, %f0, " + numbered("%f", c) + ";\n";
    return kernel("arithmetic", ".param .u64 out, .param .f32 x, .param .f32 y", before, round, behind);
}

/// Each round reads at four places that are as far apart as there are threads, of 16 bytes each.
std::string reads()
{
    const int sums = 4 * kReads;
    std::string before = "    ld.param.u64 %rd10, [from];\n    cvta.to.global.u64 %rd10, %rd10;\n"
                         "    ld.param.u32 %r10, [mask];\n    mov.u32 %r11, %r1;\n";
    std::string round, behind;
    for (int s = 0; s < sums; ++s)
        before += "    mov.f32 " + numbered("%f", s) + ", 0f00000000;\n";
    for (int r = 0; r < kReads; ++r) {
        round += "    and.b32 %r12, %r11, %r10;\n    mul.wide.u32 %rd11, %r12, 16;\n    add.u64 "
                 + numbered("%rd", 12 + r) + ", %rd10, %rd11;\n    add.u32 %r11, %r11, %r2;\n";
        const int first = 16 + 4 * r;
        round += "    ld.global.v4.f32 {" + numbered("%f", first) + ", " + numbered("%f", first + 1) + ", "
                 + numbered("%f", first + 2) + ", " + numbered("%f", first + 3) + "}, [" + numbered("%rd", 12 + r)
                 + "];\n";
    }
    for (int s = 0; s < sums; ++s)
        round += "    add.f32 " + numbered("%f", s) + ", " + numbered("%f", s) + ", " + numbered("%f", 16 + s) + ";\n";
    for (int s = 1; s < sums; ++s)
        behind += "    add.f32 %f0, %f0, " + numbered("%f", s) + ";\n";
    return kernel("reads", ".param .u64 out, .param .u64 from, .param .u32 mask", before, round, behind);
}

/// Loaded, and gone with its owner.
class Probes
{
public:
    Probes(OpenedDevice& device, unsigned blocks)
        : m_device(device)
        , m_blocks(blocks)
    {
        if (device.driver().moduleLoad(&m_module, limitsPtx().c_str(), 0, nullptr, nullptr) != kSuccess)
            m_module = nullptr;
    }
    ~Probes()
    {
        if (m_module != nullptr)
            m_device.driver().moduleUnload(m_module);
    }
    Probes(const Probes&) = delete;
    Probes& operator=(const Probes&) = delete;

    /// Rounds of all threads together in a second, the best of some launches; 0: it did not run.
    /// @param parameters  of the kernel before `rounds`
    double roundsPerSecond(const char* name, std::vector<void*> parameters) const
    {
        constexpr double kLeastSeconds = 2e-3;
        constexpr unsigned kMostRounds = 1 << 24;
        constexpr int kTries = 3;
        Function function = nullptr;
        if (m_module == nullptr || m_device.driver().moduleGetFunction(&function, m_module, name) != kSuccess)
            return 0;
        unsigned rounds = 64;
        parameters.push_back(&rounds);
        double best = 0;
        for (int tries = 0; tries < kTries;) {
            const double seconds = run(function, parameters);
            if (!(seconds > 0))
                return 0;
            if (seconds < kLeastSeconds && rounds < kMostRounds) {
                rounds *= 4;
                continue;
            }
            best = std::max(best, static_cast<double>(rounds) * m_blocks * kBlock / seconds);
            ++tries;
        }
        return best;
    }

private:
    double run(Function function, std::vector<void*>& parameters) const
    {
        const Driver& driver = m_device.driver();
        Stopwatch watch(driver, m_device.stream());
        if (watch.begin() != kSuccess
            || driver.launch(function, m_blocks, 1, 1, kBlock, 1, 1, 0, m_device.stream(), parameters.data(), nullptr)
                   != kSuccess
            || watch.end() != kSuccess || watch.finish() != kSuccess)
            return 0;
        return 1e-9 * static_cast<double>(watch.nanoseconds());
    }

    OpenedDevice& m_device;
    unsigned m_blocks;
    LoadedModule m_module = nullptr;
};

/// Freed with its owner.
class OwnBuffer
{
public:
    OwnBuffer(const Driver& driver, std::size_t bytes)
        : m_driver(driver)
    {
        if (driver.memAlloc(&address, bytes) != kSuccess)
            address = 0;
    }
    ~OwnBuffer()
    {
        if (address != 0)
            m_driver.memFree(address);
    }
    OwnBuffer(const OwnBuffer&) = delete;
    OwnBuffer& operator=(const OwnBuffer&) = delete;

    Address address = 0;

private:
    const Driver& m_driver;
};

} // namespace

std::string limitsPtx()
{
    return ".version 6.0\n.target sm_50\n.address_size 64\n" + arithmetic() + reads();
}

std::string measureLimits(OpenedDevice& device)
{
    constexpr unsigned kBlocksOfProcessor = 8;
    const Driver& driver = device.driver();
    const std::uint64_t most = std::min(kMostSet, device.facts().memoryBytes / 8);
    if (driver.isOnProcessor || most < kLeastSet)
        return "{}";
    const std::uint64_t largest = std::bit_floor(most);
    const auto blocks = static_cast<unsigned>(std::max<std::uint64_t>(device.facts().processors, 1))
                        * kBlocksOfProcessor;
    OwnBuffer out(driver, sizeof(float) * blocks * kBlock), from(driver, largest);
    if (out.address == 0 || from.address == 0 || driver.fill(from.address, 0, largest / 4, device.stream()) != kSuccess)
        return "{}";
    const Probes probes(device, blocks);
    float x = 0.5F, y = 1;
    const double gflops = 1e-9 * kOperations * probes.roundsPerSecond("arithmetic", {&out.address, &x, &y});
    std::vector<ReadSpeed> speeds;
    for (std::uint64_t bytes = kLeastSet; gflops > 0 && bytes <= largest; bytes *= 2) {
        auto mask = static_cast<unsigned>(bytes / 16 - 1);
        speeds.push_back(
            {bytes, 1e-9 * kBytes * probes.roundsPerSecond("reads", {&out.address, &from.address, &mask})});
    }
    device.note(driver.streamSynchronize(device.stream()), "the measurement of its limits");
    return limitsText<nlohmann::json>(gflops, speeds);
}

} // namespace lathe::cuda
