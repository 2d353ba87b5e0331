// The ladder of products on an RTX A6000 (tests/plugins/cuda/ladder): what the analytic model expects of each step,
// beside what was published. Reads machine code where NVRTC and nvdisasm are here, else the stored figures.
//
//   cuda_model                     the table for the RTX A6000
//   cuda_model "RTX 4090"          what the model expects of the same kernels elsewhere, in GFLOP/s
//   cuda_model --facts             the figures that ladder.cpp stores, as C++

#include "plugins/cuda/model/analytic_model.h"
#include "tests/plugins/cuda/gpu_named.h"
#include "tests/plugins/cuda/ladder/ladder.h"

#include <cstdio>
#include <cstring>
#include <string>

using namespace lathe;
using namespace lathe::cuda;

namespace {

void printFacts(std::string_view kernel, const KernelFacts& f)
{
    std::printf(
        "FACTS %s {.blocks = %lld, .threads = %lld, .registers = %d, .sharedBytes = %lld, .hasBarriers = %s, "
        ".issueCycles = %.0f, .aloneCycles = %.0f, .floats = %.0f, .integers = %.0f, .doubles = %.0f, "
        ".halves = %.0f, .specials = %.0f, .accessCycles = %.0f, .fillBytes = %.0f, .memoryBytes = %.0f, .flop = "
        "kFlop}\n",
        std::string(kernel).c_str(), static_cast<long long>(f.blocks), static_cast<long long>(f.threads), f.registers,
        static_cast<long long>(f.sharedBytes), f.hasBarriers ? "true" : "false", f.issueCycles, f.aloneCycles, f.floats,
        f.integers, f.doubles, f.halves, f.specials, f.accessCycles, f.fillBytes, f.memoryBytes);
}

int run(int argc, char** argv)
{
    const bool wantsFacts = argc > 1 && std::strcmp(argv[1], "--facts") == 0;
    const std::string name = argc > 1 && !wantsFacts ? argv[1] : "RTX A6000";
    const auto known = gpuNamed(name);
    if (!known) {
        std::fprintf(stderr, "%s\n", known.error().message.c_str());
        return 2;
    }
    const GpuFacts* const gpu = *known;
    const auto text = ladder::disassembly("sm_" + std::to_string(gpu->capability));
    if (!text)
        std::fprintf(stderr, "stored figures of sm_86 are taken: %s\n", text.error().message.c_str());
    Result<SassModule> module = text ? readSass(*text) : Result<SassModule>(text.error());
    if (text && !module) {
        std::fprintf(stderr, "%s\n", module.error().message.c_str());
        return 1;
    }
    const bool isChecked = gpu->capability == 86;
    if (!wantsFacts)
        std::printf(
            "%s, all of 4096: GFLOP/s expected at the base clock%s; float32 products in the hot loop; what binds\n",
            name.c_str(), isChecked ? ", % of cuBLAS expected (at the boost clock) and published" : "");
    for (const ladder::Step& step : ladder::steps()) {
        KernelFacts facts = step.stored;
        double share = 0;
        if (module) {
            const SassKernel* const kernel = module->find(step.kernel);
            if (kernel == nullptr)
                return 1;
            auto reading = readKernel(*module, *kernel, step.launch, *gpu);
            if (!reading) {
                std::fprintf(stderr, "%s\n", reading.error().message.c_str());
                return 1;
            }
            facts = reading->facts;
            share = reading->hot.share(SassClass::Ffma);
        }
        if (wantsFacts) {
            printFacts(step.kernel, facts);
            continue;
        }
        const auto held = launchTimeOf(facts, *gpu, GpuClock::Sustained),
                   boost = launchTimeOf(facts, *gpu, GpuClock::Boost);
        if (!held || !boost)
            return 1;
        std::printf("%-28s %8.0f", std::string(step.title).c_str(), ladder::kFlop / held->seconds / 1e9);
        if (isChecked) {
            const double expected = ladder::percentOf(held->seconds);
            const double published = step.publishedGflops / ladder::kCublasGflops * 100;
            std::printf("  %5.1f (%5.1f) of %5.1f  x %.2f", expected, ladder::percentOf(boost->seconds), published,
                        expected / published);
        }
        std::printf("  %4.1f %%  %s, %d blocks an SM\n", 100 * share, std::string(toString(held->bound)).c_str(),
                    held->occupancy.blocks);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    return run(argc, argv);
}
