// Two hand-scheduled kernels beside this machine's peak, all three emitted by plugins/cpu and timed in turn. Times are
// the thread's own processor time, so that a busy machine disturbs little. Usage: bench_kernels [--list] [--rounds N]
// [-mcpu=..]

#include "plugins/cpu/codegen/cpu_codegen.h"
#include "tests/bench/kernels/convolution_nests.h"
#include "tests/plugins/cpu/loaded_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

using namespace lathe;
using namespace lathe::test;

namespace {

double threadSeconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Bench
{
    std::string name;
    double flop = 0;
    schedule::LoweredKernel kernel;
    double expected = 0; ///< fraction of peak found by the study
    std::unique_ptr<LoadedKernels> loaded;
    backend::EmitInfo info;
    std::vector<std::shared_ptr<void>> memory;
    std::vector<void*> tensors;
    std::vector<double> gflops;
    int calls = 1;

    double timeOnce()
    {
        const double start = threadSeconds();
        for (int i = 0; i < calls; ++i)
            loaded->run(0, tensors);
        return flop * calls / (threadSeconds() - start) * 1e-9;
    }
};

template<typename T>
T require(Result<T> result)
{
    if (!result) {
        fmt::print(stderr, "{}\n", result.error().message);
        std::exit(1);
    }
    return *std::move(result);
}

void prepare(Bench& bench, backend::Codegen& codegen, bool list, bool ir)
{
    const backend::Artifact artifact = require(codegen.build({&bench.kernel, 1}));
    bench.info = artifact.kernels[0].info;
    bench.loaded = std::make_unique<LoadedKernels>(require(LoadedKernels::load(artifact)));
    unsigned seed = 1;
    for (const std::int32_t p : bench.kernel.nest.parameters) {
        const ir::Buffer& b = bench.kernel.nest.buffers[static_cast<std::size_t>(p)];
        std::size_t count = 1;
        for (const std::int64_t e : b.shape)
            count *= static_cast<std::size_t>(e);
        constexpr std::size_t kPage = 1 << 21;
        bench.memory.emplace_back(std::aligned_alloc(kPage, (count * 4 + kPage) / kPage * kPage), std::free);
        auto* values = static_cast<float*>(bench.memory.back().get());
        for (std::size_t i = 0; i < count; ++i) {
            seed = seed * 1664525 + 1013904223;
            values[i] = static_cast<float>(seed >> 8) * 0x1p-24F * 0.5F;
        }
        bench.tensors.push_back(values);
    }
    if (list)
        fmt::print("{}\n", require(codegen.listing(bench.kernel, "assembly")).text);
    if (ir)
        fmt::print("{}\n", require(codegen.listing(bench.kernel, "ir")).text);
    constexpr double kSlice = 4e-3;
    bench.timeOnce();
    const double once = bench.flop / (bench.timeOnce() * 1e9);
    bench.calls = std::max(1, static_cast<int>(kSlice / once));
}

double quantile(std::vector<double> values, double q)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// A few output points against double precision, borders included.
bool isRight(const Bench& bench, const ConvolutionShape& s)
{
    const auto* x = static_cast<const float*>(bench.tensors[0]);
    const auto* w = static_cast<const float*>(bench.tensors[1]);
    const auto* y = static_cast<const float*>(bench.tensors[2]);
    const int group = s.lanes * s.vectors;
    for (const int oc : {0, 17, s.outChannels - 1}) {
        for (const int h : {0, 1, s.height / 2, s.height - 1}) {
            for (const int col : {0, 13, 14, s.width - 1}) {
                double sum = 0;
                for (int c = 0; c < s.channels; ++c) {
                    for (int kh = 0; kh < s.kernel; ++kh) {
                        for (int kw = 0; kw < s.kernel; ++kw) {
                            const int r = h + kh - (s.kernel - 1) / 2;
                            const int q = col + kw - (s.kernel - 1) / 2;
                            if (r < 0 || r >= s.height || q < 0 || q >= s.width)
                                continue;
                            const std::size_t xi = ((static_cast<std::size_t>(c / s.lanes) * s.height + r) * s.width
                                                    + q)
                                                       * s.lanes
                                                   + c % s.lanes;
                            const std::size_t wi = ((((static_cast<std::size_t>(oc / group) * (s.channels / s.lanes)
                                                       + c / s.lanes)
                                                          * s.kernel
                                                      + kh)
                                                         * s.kernel
                                                     + kw)
                                                        * s.lanes
                                                    + c % s.lanes)
                                                       * group
                                                   + oc % group;
                            sum += static_cast<double>(x[xi]) * w[wi];
                        }
                    }
                }
                const double got = y[((static_cast<std::size_t>(oc / s.lanes) * s.height + h) * s.width + col) * s.lanes
                                     + oc % s.lanes];
                if (std::abs(got - std::max(sum, 0.0)) > 1e-5 * std::abs(sum) + 1e-5) {
                    fmt::print("{}: [{}, {}, {}] is {}, should be {}\n", bench.name, oc, h, col, got, sum);
                    return false;
                }
            }
        }
    }
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    int rounds = 60;
    bool list = false;
    bool ir = false;
    bool all = false;
    std::string target = "cpu";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = std::atoi(argv[++i]);
        else if (std::strcmp(argv[i], "--list") == 0)
            list = true;
        else if (std::strcmp(argv[i], "--ir") == 0)
            ir = true;
        else if (std::strcmp(argv[i], "--all") == 0)
            all = true;
        else
            target += fmt::format(" {}", argv[i]);
    }
    const auto codegen = require(cpu::CpuCodegen::create(require(Target::parse(target))));
    constexpr int kSteps = 2000;
    std::vector<Bench> benches;
    benches.push_back({"peak", 2.0 * 24 * 16 * kSteps, peakLoop(24, 16, kSteps), 1.0, {}, {}, {}, {}, {}, 1});
    std::vector<ConvolutionShape> shapes;
    ConvolutionShape three;
    ConvolutionShape one{256, 64, 56, 56, 1, 14, 2, 4, 16, true};
    shapes.push_back(three);
    shapes.push_back(one);
    if (all) {
        for (const int unroll : {1, 2, 4, 8, 16}) {
            three.channelUnroll = unroll;
            one.channelUnroll = unroll;
            shapes.push_back(three);
            shapes.push_back(one);
        }
        three.channelUnroll = 4;
        one.channelUnroll = 4;
        one.prefetchInput = false;
        shapes.push_back(one);
        one.prefetchInput = true;
        for (const auto& [pixels, vectors] : {std::pair{8, 2}, {7, 4}, {4, 4}, {28, 1}, {8, 1}}) {
            three.pixels = one.pixels = pixels;
            three.vectors = one.vectors = vectors;
            shapes.push_back(three);
            shapes.push_back(one);
        }
    }
    for (const ConvolutionShape& s : shapes)
        benches.push_back(
            {fmt::format("{}x{} {}->{} @{} {}x{} unroll {}{}", s.kernel, s.kernel, s.channels, s.outChannels, s.height,
                         s.pixels, s.vectors, s.channelUnroll, s.prefetchInput ? " pf" : ""),
             s.flop(),
             convolution(s),
             s.kernel == 3 ? 0.93 : 0.88,
             {},
             {},
             {},
             {},
             {},
             1});
    for (Bench& bench : benches)
        prepare(bench, *codegen, list, ir);
    bool right = true;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        right = isRight(benches[i + 1], shapes[i]) && right;
    for (int round = 0; round < rounds; ++round)
        for (Bench& bench : benches)
            bench.gflops.push_back(bench.timeOnce());
    fmt::print("{:34} {:>8} {:>8} {:>9} {:>9} {:>7} {:>8} {:>8}\n", "kernel", "median", "best", "of peak", "(best)",
               "spills", "bytes", "build ms");
    for (const Bench& bench : benches) {
        std::vector<double> fractions;
        for (std::size_t r = 0; r < bench.gflops.size(); ++r)
            fractions.push_back(bench.gflops[r] / benches[0].gflops[r]);
        fmt::print("{:34} {:8.1f} {:8.1f} {:8.1f}% {:8.1f}% {:7} {:8} {:8.1f}\n", bench.name,
                   quantile(bench.gflops, 0.5), quantile(bench.gflops, 0.95), 100 * quantile(fractions, 0.5),
                   100 * quantile(bench.gflops, 0.95) / quantile(benches[0].gflops, 0.95), bench.info.vectorSpills,
                   bench.info.codeBytes, bench.info.emitMs);
    }
    // The study's fractions less ten percent.
    for (std::size_t i = 1; i < 3; ++i) {
        const double fraction = quantile(benches[i].gflops, 0.95) / quantile(benches[0].gflops, 0.95);
        if (fraction < 0.9 * benches[i].expected) {
            fmt::print("{} reaches {:.0f}% of peak; at least {:.0f}% is wanted\n", benches[i].name, 100 * fraction,
                       90 * benches[i].expected);
            right = false;
        }
    }
    return right ? 0 : 1;
}
