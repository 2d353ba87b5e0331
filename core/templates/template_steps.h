#pragma once

#include "core/schedule/step.h"
#include "core/search/lathe/step_emitter.h"
#include "core/templates/config.h"
#include "core/templates/matched_nest.h"
#include "core/templates/winograd_nest.h"

#include <functional>
#include <initializer_list>
#include <span>

namespace lathe::templates {

/// What a template computes.
enum class Pattern : std::uint8_t
{
    Conv2d, ///< over all channels
    DepthwiseConv2d,
    Dense
};

/// What a template turns into steps, beside a configuration.
struct Scheduled
{
    const compute::Dag& dag;
    const MatchedNest& nest;
    std::int64_t vectorBytes = 32; ///< of a vector register
    std::int64_t maxThreads = 0; ///< of a block of a GPU; 0: unknown
    const WinogradNest* winograd = nullptr; ///< of the DAG, where it is winograd's; the nest then has arguments alone

    /// The reduction.
    const compute::Op& anchor() const
    {
        return dag.ops[static_cast<std::size_t>(winograd != nullptr ? winograd->product : nest.anchor)];
    }
    /// Whether the channels of the task's images lie innermost. Then they need no blocks to be read as vectors, and
    /// images keep the layout of the network.
    bool channelsInnermost() const { return nest.output.dims[1] == 3; }
    std::int64_t fullLanes() const; ///< of a vector register, at least 1
    /// The most lanes of one vector that divide an extent.
    std::int64_t lanesOf(std::int64_t extent) const;
};

using StepsOf = std::function<Result<std::vector<schedule::Step>>(const Scheduled& scheduled, const Config& config)>;

// The templates' schedules, as their loops are described in autotvm.md 3. Errors: InvalidArgument (a knob is missing),
// Unsupported (the nest is not of this kind).
Result<std::vector<schedule::Step>> convStepsX86(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> depthwiseStepsX86(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> densePackStepsX86(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> denseNopackStepsX86(const Scheduled& scheduled, const Config& config);
// 3.2
Result<std::vector<schedule::Step>> convStepsCuda(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> depthwiseStepsCuda(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> denseSmallBatchSteps(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> denseLargeBatchSteps(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> winogradStepsCuda(const Scheduled& scheduled, const Config& config);
// 3.3
Result<std::vector<schedule::Step>> convStepsMali(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> depthwiseStepsMali(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> denseStepsMali(const Scheduled& scheduled, const Config& config);
Result<std::vector<schedule::Step>> winogradStepsMali(const Scheduled& scheduled, const Config& config);

// What several of them share.

/// What the nest computes.
Pattern patternOf(const MatchedNest& nest);

// The arguments of what a template is for. Errors: Unsupported, the nest is of another operator.
Result<ConvArgs> convOf(const MatchedNest& nest); ///< over all channels
Result<ConvArgs> depthwiseOf(const MatchedNest& nest);
Result<DenseArgs> denseOf(const MatchedNest& nest);

/// Multiply-adds of vectors that are unrolled for one kernel at most: more compile too long and leave the code cache.
/// A configuration that asks for more keeps its outer small loops as loops.
inline constexpr std::int64_t kMostUnrolled = 256;
/// Vectors that a tile sums up at most to be unrolled, twice the registers that the largest processors have: the code
/// of 512 took LLVM eight seconds, and was thirty times slower than the best.
inline constexpr std::int64_t kMostAccumulators = 64;

/// A product of sizes, all at least 1, that foreign records may have made absurdly large: no more than kMostElements.
std::int64_t cappedProduct(std::span<const std::int64_t> sizes);
std::int64_t cappedProduct(std::initializer_list<std::int64_t> sizes);

/// Statements that auto_unroll_max_step asks for at most; the largest of the reference's spaces.
inline constexpr std::int64_t kMostAutoUnrolled = 1500;
/// How many statements are written out: auto_unroll_max_step where unroll_explicit is set. Where it is not, loops stay
/// loops, and what becomes of them is left to the device's compiler. Errors: InvalidArgument, with the knob.
Result<std::int64_t> autoUnrollSteps(const Config& config);

/// Unrolls loops from the last to the first of `loops`, until the body would exceed `most`. `body`: what is inside
/// them. Returns what it is now; nothing if a loop is left, so that what is around it stays, too.
std::optional<std::int64_t> unrollWithin(search::StageLoops& stage,
                                         std::span<const std::pair<search::LoopPart, std::int64_t>> loops,
                                         std::int64_t body, std::int64_t most);

/// The sizes of a split of `count` parts, the first computed from the extent where it is -1.
/// Errors: InvalidArgument, with the knob.
Result<std::vector<std::int64_t>> splitSizes(const Config& config, const std::string& knob, std::size_t count,
                                             std::int64_t extent);
/// Errors: InvalidArgument, with the knob.
Result<std::int64_t> optionOf(const Config& config, const std::string& knob);

/// LY: an image with its channels in blocks, [N, C/block, H, W, block]; no step where that is how it lies anyway.
void blockChannels(search::StepEmitter& emitter, std::int32_t stage, const ImageTensor& image,
                   std::span<const std::int64_t> shape, std::int64_t block);

/// LY of a convolution's weight, if it is a constant: OIHW{ic}i{oc}o, as the loops walk it.
void packKernel(search::StepEmitter& emitter, const MatchedNest& nest, std::int64_t inBlock, std::int64_t outBlock);

/// LY of a dense operator's weight, if it is a constant: [N/block, K, block].
void packRows(search::StepEmitter& emitter, const MatchedNest& nest, const DenseArgs& dense, std::int64_t block);

/// The stage that sums, in registers: the reduction itself where another operation stores what becomes of it, else a
/// copy of it.
std::int32_t sumStage(search::StepEmitter& emitter, std::int32_t anchor, std::int32_t owner);

/// All that has no loops of its own, the padding too, is computed where it is read.
void inlineWithBorder(search::StepEmitter& emitter, const MatchedNest& nest);

} // namespace lathe::templates
