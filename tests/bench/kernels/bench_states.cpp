// What default schedules reach of this machine's peak on layers of real networks, through lower() and plugins/cpu.
// Usage: bench_states [--rounds N] [--nest NAME] [--list NAME] [--only NAME] [--prefetch BYTES]

#include "core/schedule/default_schedule.h"
#include "tests/bench/kernels/convolution_nests.h"
#include "tests/plugins/cpu/codegen_fixture.h"
#include "tests/plugins/cpu/dag_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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

struct Row
{
    std::string name;
    double flop = 0;
    schedule::LoweredKernel kernel;
    std::unique_ptr<LoadedKernels> loaded;
    backend::EmitInfo info;
    std::vector<GuardedBuffer> memory;
    std::vector<void*> tensors;
    double best = 0;
    int calls = 1;

    double once()
    {
        const double start = threadSeconds();
        for (int i = 0; i < calls; ++i)
            loaded->run(0, tensors);
        return flop * calls / (threadSeconds() - start) * 1e-9;
    }
};

/// Adds a prefetch of the input, `bytes` ahead, to the outermost reduction loop of each convolution.
void prefetchData(schedule::State& state, std::int64_t bytes)
{
    for (std::size_t s = 0; s < state.stages().size(); ++s) {
        const std::vector<schedule::Iterator>& iters = state.stages()[s].iters;
        const auto loop = std::find_if(iters.begin(), iters.end(), [](const schedule::Iterator& i) {
            return i.kind == schedule::IterKind::Reduction;
        });
        for (std::size_t source = 0; loop != iters.end() && source < state.dag()->ops.size(); ++source)
            if (state.dag()->ops[source].name == "data")
                if (const Result<> added = state.apply(schedule::PrefetchStep{
                        static_cast<std::int32_t>(s), static_cast<std::int32_t>(loop - iters.begin()),
                        static_cast<std::int32_t>(source), bytes});
                    !added)
                    fmt::print("{}\n", added.error().message);
    }
}

} // namespace

int main(int argc, char** argv)
{
    int rounds = 20;
    std::int64_t prefetch = 0;
    std::string nest, list, only;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::strcmp(argv[i], "--rounds") == 0)
            rounds = std::atoi(argv[i + 1]);
        else if (std::strcmp(argv[i], "--nest") == 0)
            nest = argv[i + 1];
        else if (std::strcmp(argv[i], "--list") == 0)
            list = argv[i + 1];
        else if (std::strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
        else if (std::strcmp(argv[i], "--prefetch") == 0)
            prefetch = std::atoll(argv[i + 1]);
    }
    const auto codegen = codegenFor();
    std::vector<Row> rows;
    constexpr int kSteps = 2000;
    rows.push_back({"peak", 2.0 * 24 * 16 * kSteps, peakLoop(24, 16, kSteps), {}, {}, {}, {}, 0, 1});
    const std::pair<const char*, ConvLayer> layers[] = {
        {"3x3 64->64 @56", {56, 64, 64, 3, 1}},         {"3x3 128->128 @28", {28, 128, 128, 3, 1}},
        {"3x3 256->256 @14", {14, 256, 256, 3, 1}},     {"3x3 512->512 @7", {7, 512, 512, 3, 1}},
        {"3x3/2 64->128 @56", {56, 64, 128, 3, 2}},     {"7x7/2 3->64 @224", {224, 3, 64, 7, 2}},
        {"1x1 256->64 @56", {56, 256, 64, 1, 1}},       {"1x1 64->256 @56", {56, 64, 256, 1, 1}},
        {"1x1 1024->256 @14", {14, 1024, 256, 1, 1}},   {"1x1/2 256->512 @56", {56, 256, 512, 1, 2}},
        {"dw 3x3 144 @56", {56, 144, 144, 3, 1, true}}, {"dw 3x3/2 96 @112", {112, 96, 96, 3, 2, true}},
    };
    for (const auto& [name, layer] : layers) {
        if (!only.empty() && only != name)
            continue;
        schedule::DefaultScheduleOptions options;
        options.constantInputs = {false, true, true};
        const compute::DagPtr dag = convLayer(layer);
        const auto start = std::chrono::steady_clock::now();
        Result<schedule::State> state = schedule::defaultSchedule(dag, options);
        if (state && prefetch > 0)
            prefetchData(*state, prefetch);
        schedule::LowerOptions lowering;
        lowering.constantInputs = options.constantInputs;
        const Result<schedule::LoweredKernel> kernel = state ? schedule::lower(*state, lowering)
                                                             : Result<schedule::LoweredKernel>(state.error());
        if (!kernel) {
            fmt::print("{}: {}\n", name, kernel.error().message);
            continue;
        }
        if (nest == name)
            fmt::print("{}\n", ir::print(kernel->nest));
        if (list == name)
            fmt::print("{}\n", codegen->listing(*kernel, "assembly").has_value()
                                   ? codegen->listing(*kernel, "assembly")->text
                                   : "");
        const std::int64_t out = layer.size / layer.stride;
        const double flop = 2.0
                            * static_cast<double>(out * out * layer.kernel * layer.kernel * layer.filters
                                                  * (layer.depthwise ? 1 : layer.channels));
        rows.push_back({name, flop, *kernel, {}, {}, {}, {}, 0, 1});
        fmt::print("{}: lowered in {:.1f} ms\n", name,
                   std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    for (Row& row : rows) {
        const Result<backend::Artifact> artifact = codegen->build({&row.kernel, 1});
        if (!artifact) {
            fmt::print("{}: {}\n", row.name, artifact.error().message);
            return 1;
        }
        row.info = artifact->kernels[0].info;
        row.loaded = std::make_unique<LoadedKernels>(*LoadedKernels::load(*artifact));
        for (const std::int32_t p : row.kernel.nest.parameters) {
            const ir::Buffer& b = row.kernel.nest.buffers[static_cast<std::size_t>(p)];
            std::int64_t count = 1;
            for (std::size_t d = 0; d < b.shape.size(); ++d)
                count += (b.shape[d] - 1) * b.strides[d];
            row.memory.emplace_back(static_cast<std::size_t>(count) * 4);
            auto* values = static_cast<float*>(row.memory.back().data());
            for (std::int64_t i = 0; i < count; ++i)
                values[i] = static_cast<float>(i % 17) * 0.01F;
            row.tensors.push_back(values);
        }
        row.once();
        row.calls = std::max(1, static_cast<int>(2e-3 * row.once() * 1e9 / row.flop));
    }
    for (int round = 0; round < rounds; ++round)
        for (Row& row : rows)
            row.best = std::max(row.best, row.once());
    fmt::print("{:24} {:>8} {:>8} {:>7} {:>8} {:>9}\n", "kernel", "GF", "of peak", "spills", "bytes", "build ms");
    for (const Row& row : rows)
        fmt::print("{:24} {:8.1f} {:7.1f}% {:7} {:8} {:9.1f}\n", row.name, row.best, 100 * row.best / rows[0].best,
                   row.info.vectorSpills, row.info.codeBytes, row.info.emitMs);
    return 0;
}
