#include "tests/plugins/cuda/kernels/compiled.h"

#include "plugins/cuda/device/architecture.h"
#include "plugins/cuda/model/nvdisasm.h"

#include <algorithm>
#include <chrono>

namespace lathe::cuda::kernels {
namespace {

/// What the compiler goes by of a device of that capability, as the rules of the target have it.
Hardware hardwareOf(int capability)
{
    Hardware hardware;
    hardware.limits["compute_capability"] = {capability, architectureName(capability)};
    for (const Feature& feature : kFeatures)
        hardware.limits[feature.name] = {capability >= feature.since ? 1 : 0, architectureName(capability)};
    return hardware;
}

} // namespace

double CompiledLaunch::registersOff() const
{
    return static_cast<double>(expected.registers) / static_cast<double>(made.registers) - 1;
}

Result<std::vector<CompiledLaunch>> compile(const DrawnKernel& kernel, const Nvrtc& compiler, int capability,
                                            std::set<std::string>* seen)
{
    LATHE_TRY_ASSIGN(const backend::KernelSource source, backend::printCuda(kernel.kernel.nest));
    const std::vector<schedule::LaunchResources> expected = schedule::resourcesOf(kernel.kernel.nest,
                                                                                  hardwareOf(capability));
    std::vector<CompiledLaunch> launches;
    for (std::size_t i = 0; i < source.launches.size(); ++i) {
        if (seen != nullptr && !seen->insert(source.launches[i].symbol).second)
            continue;
        CompiledLaunch launch;
        launch.symbol = source.launches[i].symbol;
        launch.source = source.head + source.launches[i].text;
        launch.expected = expected[i];
        launch.buffers = source.launches[i].buffers.size();
        launch.extents = extentsOf(kernel.kernel.nest.launches[i]);
        const auto start = std::chrono::steady_clock::now();
        LATHE_TRY_ASSIGN(Compiled compiled, compiler.compile(launch.source, capability));
        launch.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const auto made = readCubin(compiled.cubin);
        if (!made || made->size() != 1)
            return makeError(Errc::BuildFailed, launch.symbol + ": no cubin with one kernel");
        launch.made = made->front();
        launch.made.sharedBytes += source.launches[i].dynamicSharedBytes;
        launch.spilledBytes = compiled.spilledBytes;
        launch.cubin = std::move(compiled.cubin);
        launches.push_back(std::move(launch));
    }
    return launches;
}

Result<ReadLaunch> read(const CompiledLaunch& launch, const std::filesystem::path& nvdisasm, const GpuFacts& gpu)
{
    LATHE_TRY_ASSIGN(std::string text, disassemble(nvdisasm, launch.cubin));
    LATHE_TRY_ASSIGN(const SassModule module, readSass(text));
    const SassKernel* const kernel = module.find(launch.symbol);
    if (kernel == nullptr)
        return makeError(Errc::BadFile, launch.symbol + " is not in its disassembly");
    SassLaunch started{launch.expected.grid, launch.expected.block, {}};
    constexpr std::uint32_t kApart = 1U << 27; // bytes between buffers, wherever they lie
    for (std::size_t b = 0; b < launch.buffers; ++b) {
        started.parameters.push_back(static_cast<std::uint32_t>(b + 1) * kApart);
        started.parameters.push_back(0);
    }
    KernelFactsOptions options;
    options.mostWarps = 256; // these are many kernels
    LATHE_TRY_ASSIGN(const SassProfile untold, SassProfile::create(*kernel));
    const auto unknown = std::ranges::count(untold.loops(), TripSource::Unknown, &SassLoop::source);
    const std::vector<std::uint64_t> extents = guessed(launch.extents, static_cast<std::size_t>(unknown));
    LATHE_TRY_ASSIGN(KernelReading reading, readKernel(module, *kernel, started, gpu, options, extents));
    LATHE_TRY_ASSIGN(SassProfile profile, SassProfile::create(*kernel, extents));
    if (!reading.allTripsKnown) // one pass instead of hundreds would make it the best of all
        return makeError(Errc::Unsupported, launch.symbol + ": nothing tells how often a loop runs");
    return ReadLaunch{std::move(reading), std::move(profile), std::move(text)};
}

} // namespace lathe::cuda::kernels
