#pragma once

#include "core/backend/c_source.h"
#include "core/schedule/launch_resources.h"
#include "plugins/cuda/codegen/cubin.h"
#include "plugins/cuda/codegen/nvrtc.h"
#include "plugins/cuda/expected/expectation.h"
#include "plugins/cuda/model/kernel_facts.h"
#include "tests/plugins/cuda/kernels/drawn.h"

#include <filesystem>
#include <set>

namespace lathe::cuda::kernels {

/// A launch as the compiler has it beside what is known of it before.
struct CompiledLaunch
{
    std::string symbol, source;
    schedule::LaunchResources expected; ///< for a GPU of the capability that it is compiled for
    CubinKernel made;
    std::int64_t spilledBytes = 0;
    std::size_t buffers = 0; ///< that the kernel takes
    LoopExtents extents;
    std::string cubin;
    double seconds = 0; ///< that the compiler took

    bool areThreadsExact() const { return made.threads == expected.threads; }
    bool isSharedExact() const { return made.sharedBytes == expected.sharedBytes; }
    /// How far the estimate is from what the compiler took, in parts of that.
    double registersOff() const;
};

/// All launches of a kernel, each a program of its own as in the plugin; those whose symbol is in `seen` are left out,
/// and the others' are added. Errors: those of the printer; BuildFailed.
Result<std::vector<CompiledLaunch>> compile(const DrawnKernel& kernel, const Nvrtc& compiler, int capability,
                                            std::set<std::string>* seen = nullptr);

/// What the machine code tells of where instructions go.
struct ReadLaunch
{
    KernelReading reading;
    SassProfile profile;
    std::string text; ///< of nvdisasm

    /// Of float32 products among the instructions of one pass through the loop in which most are executed, of what
    /// stands in it without what loops inside it do.
    double hotShare() const { return profile.hot().share(SassClass::Ffma); }
    double wholeShare() const { return profile.whole().share(SassClass::Ffma); } ///< of all that is executed
};
/// For one GPU, whose generation the code was made for. Errors: those of nvdisasm and of the model; Unsupported where
/// nothing tells how often a loop runs.
Result<ReadLaunch> read(const CompiledLaunch& launch, const std::filesystem::path& nvdisasm, const GpuFacts& gpu);

} // namespace lathe::cuda::kernels
