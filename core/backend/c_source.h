#pragma once

#include "core/ir/loop_nest.h"
#include "core/support/result.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe::backend {

/// One kernel function of a source text, and how it is started.
struct SourceLaunch
{
    /// The name of what it computes and a hash of its program: launches of the same text have the same symbol, whatever
    /// kernel they are of.
    std::string symbol;
    /// What its parameters point to, in order: positions in LoopNest::buffers, of parameters and of Team scratch alone.
    std::vector<std::int32_t> buffers;
    std::array<std::int64_t, 3> grid = {1, 1, 1}; ///< blocks (work-groups) along x, y, z
    std::array<std::int64_t, 3> block = {1, 1, 1}; ///< threads (work-items) of a block
    std::int64_t sharedBytes = 0; ///< of a block, declared in the text
    std::int64_t dynamicSharedBytes =
        0; ///< of these, what the text declares without a size: the launch must ask for it
    std::string text; ///< of the function; behind KernelSource::head it is a program of its own
};

struct KernelSource
{
    std::string head; ///< extensions and small functions that the launches use
    std::vector<SourceLaunch> launches; ///< in the order in which they run

    std::string text() const; ///< of all together, those of the same text once
};

/// A nest of launches as OpenCL C 1.2 for people and compilers: the names of the schedule, a loop a line, unrolled
/// loops written out where a register tile needs that, loops over lanes as vectors of 16 bytes where their elements lie
/// next to each other. Parameters and Team scratch must begin at multiples of 16 bytes. What is computed is what the
/// interpreters compute, but for the device's own functions (exp, tanh, ...) and for products that it joins with what
/// is added to them. Errors: Unsupported, by name: types and intrinsics that OpenCL C has no form for, a buffer of 2^31
/// elements.
Result<KernelSource> printOpenCl(const ir::LoopNest& nest);

/// The same as CUDA C++, for NVRTC without a header and without options on numbers: its own (-fmad=true, -ftz=false,
/// -prec-div=true, -prec-sqrt=true) are those that the text counts on. Kernels are `extern "C"`, under their symbols. A
/// block of more than 48 KiB of shared memory declares it without a size (SourceLaunch::dynamicSharedBytes). f16 and
/// bf16 have their conversions in the text. For compute capability 5.0 and later.
/// Errors: as above; every element type has a form.
Result<KernelSource> printCuda(const ir::LoopNest& nest);

} // namespace lathe::backend
