#pragma once

#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lathe::schedule {

/// Values as in the reference's records (auto-scheduler.md 3.1).
enum class Annotation : std::uint8_t
{
    None = 0,
    Unroll = 1,
    Vectorize = 2,
    Parallel = 3,
    VThread = 4,
    BlockX = 5,
    ThreadX = 6,
    BlockY = 7,
    ThreadY = 8,
    BlockZ = 9,
    ThreadZ = 10,
    Tensorize = 11
};

// The reference's 14 transform steps. `stage` is the stage's id at that point of the history, `iter` an iterator's
// index.
struct AnnotateStep
{
    std::int32_t stage, iter;
    Annotation annotation;
}; ///< AN
struct FuseStep
{
    std::int32_t stage;
    std::vector<std::int32_t> iters;
}; ///< FU, consecutive; may be empty (zero-rank stage)
struct PragmaStep
{
    std::int32_t stage, iter;
    std::string pragma;
}; ///< PR, "auto_unroll_max_step$N"
struct ReorderStep
{
    std::int32_t stage;
    std::vector<std::int32_t> order;
}; ///< RE
/// SP: n lengths give n+1 parts; a missing length is open (to be filled by a genome). extent 0: unknown.
struct SplitStep
{
    std::int32_t stage, iter;
    std::int64_t extent;
    std::vector<std::optional<std::int64_t>> lengths;
    bool innerToOuter = true;
};
struct FollowSplitStep
{
    std::int32_t stage, iter, sourceStep, parts;
}; ///< FSP
struct FollowFusedSplitStep
{
    std::int32_t stage, iter;
    std::vector<std::int32_t> sourceSteps;
    std::int32_t level;
    bool factor;
}; ///< FFSP
struct StorageAlignStep
{
    std::int32_t stage, iter, factor, offset;
}; ///< SA
struct ComputeAtStep
{
    std::int32_t stage, target, targetIter;
}; ///< CA
struct ComputeInlineStep
{
    std::int32_t stage;
}; ///< CI
struct ComputeRootStep
{
    std::int32_t stage;
}; ///< CR
struct CacheReadStep
{
    std::int32_t stage;
    std::string scope;
    std::vector<std::int32_t> readers;
}; ///< CHR, new stage at stage+1
struct CacheWriteStep
{
    std::int32_t stage;
    std::string scope;
}; ///< CHW, new stage at stage, original becomes stage+1
struct RfactorStep
{
    std::int32_t stage, iter, factorIter;
}; ///< RF

// Lathe's own. A record that uses them is skipped on export to the reference's logs, with the reason.

/// LY: the tensor of `stage` (placeholder or computed) lies in memory as given: physical axes {dim, div, extent},
/// outermost first (core/runtime/index_map.h). On a constant placeholder: weights packed ahead of time.
struct LayoutStep
{
    std::int32_t stage;
    struct Axis
    {
        std::int32_t dim;
        std::int64_t div, extent;
    };
    std::vector<Axis> axes;
};
/// PT: iterations of loop `iter` are divided into prologue, steady state and epilogue, so that boundary conditions of
/// what is computed inside (padding, tails) are decided at code generation (edge-specialised tiles).
struct PartitionStep
{
    std::int32_t stage, iter;
};
/// PF: inside loop `iter` of `stage`, each line of `source` (a stage that it reads) is prefetched `distanceBytes`
/// ahead. 0: instead, what the loops around the stage read next is prefetched, spread evenly over the loops that read
/// the same data again.
struct PrefetchStep
{
    std::int32_t stage, iter, source;
    std::int64_t distanceBytes;
};
/// PS: dimension `dim` of the stage's buffer gets `elements` more of stride.
struct PadStrideStep
{
    std::int32_t stage, dim;
    std::int64_t elements;
};
/// FD: the stage, attached at a row loop of its consumer, keeps its last `rows` rows of `dim` in a ring buffer.
/// No sketch makes one yet: it is for regions of several operators that are computed row by row.
struct FoldStep
{
    std::int32_t stage, dim;
    std::int64_t rows;
};

/// OV: like SP by one length, but where that does not divide the extent the last part is moved back until it ends with
/// the extent: no part runs past the edge, some elements are computed and stored twice. Only loops over the output's
/// axes.
struct OverlapStep
{
    std::int32_t stage, iter;
    std::int64_t length;
};

/// SG: `stage`, a copy in shared memory that is computed in a loop of its reader, is filled count - 1 iterations of
/// that loop ahead, in slices of its buffer, where the device can by asynchronous copies (staged_copies.h).
struct StagesStep
{
    std::int32_t stage, count;
    static constexpr std::int32_t kMost = 8;
};

/// SH: the threads of loop `iter`, which divides a sum, exchange their parts from register to register within warps of
/// `warp` lanes; only what the warps come to goes through shared memory. Of loops bound to threadIdx.x, on devices
/// whose warps have just so many lanes (limit "shuffle_width").
struct ShuffleStep
{
    std::int32_t stage, iter, warp;
};

/// LB: room for at least `count` blocks of the stage's launch on a core at a time: the compiler gives a thread all the
/// registers that they leave, and no more (the second number of CUDA's __launch_bounds__; nothing where a language has
/// no such word). Without it, that is the compiler's choice. Of stages at root.
struct LeastBlocksStep
{
    std::int32_t stage, count;
    static constexpr std::int32_t kMost = 32;
};

using Step = std::variant<AnnotateStep, FuseStep, PragmaStep, ReorderStep, SplitStep, FollowSplitStep,
                          FollowFusedSplitStep, StorageAlignStep, ComputeAtStep, ComputeInlineStep, ComputeRootStep,
                          CacheReadStep, CacheWriteStep, RfactorStep, LayoutStep, PartitionStep, PrefetchStep,
                          PadStrideStep, FoldStep, OverlapStep, StagesStep, ShuffleStep, LeastBlocksStep>;

/// The reference's JSON, e.g. ["SP", 3, 0, 56, [1, 7, 2], 1]; ours alike with the short names above.
nlohmann::json toJson(const Step& step);
/// Errors: BadFile naming the element that is off.
Result<Step> stepFromJson(const nlohmann::json& json);
nlohmann::json toJson(const std::vector<Step>& steps);
Result<std::vector<Step>> stepsFromJson(const nlohmann::json& json);
bool isReferenceStep(const Step& step);
/// Whether elements may be stored more than once (OV): what is read must then not be overwritten by it.
bool storesTwice(const std::vector<Step>& steps);

} // namespace lathe::schedule
