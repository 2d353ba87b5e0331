#include "core/templates/template_steps.h"

#include "core/ir/bounds.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <algorithm>

namespace lathe::templates {

using schedule::Annotation;
using search::LoopPart;
using search::StageLoops;
using search::StepEmitter;

std::int64_t Scheduled::fullLanes() const
{
    return std::max<std::int64_t>(1, vectorBytes / sizeOf(anchor().dtype));
}

std::int64_t Scheduled::lanesOf(std::int64_t extent) const
{
    for (std::int64_t lanes = std::min(fullLanes(), extent); lanes > 1; --lanes)
        if (extent % lanes == 0)
            return lanes;
    return 1;
}

Pattern patternOf(const MatchedNest& nest)
{
    if (nest.dense() != nullptr)
        return Pattern::Dense;
    return nest.conv()->depthwise ? Pattern::DepthwiseConv2d : Pattern::Conv2d;
}

Result<ConvArgs> convOf(const MatchedNest& nest)
{
    if (nest.conv() == nullptr || nest.conv()->depthwise)
        return makeError(Errc::Unsupported, say(Msg::TemplateForConv));
    return *nest.conv();
}

Result<ConvArgs> depthwiseOf(const MatchedNest& nest)
{
    if (nest.conv() == nullptr || !nest.conv()->depthwise)
        return makeError(Errc::Unsupported, say(Msg::TemplateForDepthwise));
    return *nest.conv();
}

Result<DenseArgs> denseOf(const MatchedNest& nest)
{
    if (nest.dense() == nullptr)
        return makeError(Errc::Unsupported, say(Msg::TemplateForDense));
    return *nest.dense();
}

std::optional<std::int64_t> unrollWithin(StageLoops& stage, std::span<const std::pair<LoopPart, std::int64_t>> loops,
                                         std::int64_t body, std::int64_t most)
{
    for (std::size_t i = loops.size(); i-- > 0;) {
        const auto& [loop, extent] = loops[i];
        if (extent == 1)
            continue;
        const std::int64_t unrolled = cappedProduct({body, extent});
        if (unrolled > most)
            return std::nullopt;
        stage.annotate(loop, Annotation::Unroll);
        body = unrolled;
    }
    return body;
}

Result<std::vector<std::int64_t>> splitSizes(const Config& config, const std::string& knob, std::size_t count,
                                             std::int64_t extent)
{
    const std::vector<std::int64_t>* sizes = config.sizes(knob);
    if (sizes == nullptr || sizes->size() != count)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateNoSplit, knob, count));
    std::vector<std::int64_t> all = *sizes;
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < count; ++i) {
        if (all[i] < 1 || all[i] > (std::int64_t{1} << 24) || inner > (std::int64_t{1} << 24))
            return makeError(Errc::InvalidArgument, say(Msg::TemplateSizeWrong, knob, all[i]));
        inner = cappedProduct({inner, all[i]});
    }
    all[0] = ir::ceilDivide(extent, inner);
    return all;
}

std::int64_t cappedProduct(std::span<const std::int64_t> sizes)
{
    return checkedElementCount(sizes).value_or(kMostElements);
}

std::int64_t cappedProduct(std::initializer_list<std::int64_t> sizes)
{
    return cappedProduct(std::span(sizes.begin(), sizes.size()));
}

Result<std::int64_t> optionOf(const Config& config, const std::string& knob)
{
    if (const std::optional<std::int64_t> number = config.number(knob))
        return *number;
    return makeError(Errc::InvalidArgument, say(Msg::TemplateKnobUnset, knob));
}

void blockChannels(StepEmitter& emitter, std::int32_t stage, const ImageTensor& image,
                   std::span<const std::int64_t> shape, std::int64_t block)
{
    if (block == 1)
        return;
    const auto extent = [&shape](std::int32_t dim) { return shape[static_cast<std::size_t>(dim)]; };
    const std::int64_t channels = extent(image.dims[1]);
    const std::int64_t blocks = ir::ceilDivide(channels, block);
    schedule::LayoutStep step{stage,
                              {{image.dims[0], 1, extent(image.dims[0])},
                               {image.dims[1], block, blocks},
                               {image.dims[2], 1, extent(image.dims[2])},
                               {image.dims[3], 1, extent(image.dims[3])},
                               {image.dims[1], 1, block}}};
    // Axes of one element say nothing: two layouts that differ in them alone are one, and are written the same way.
    std::erase_if(step.axes,
                  [&](const schedule::LayoutStep::Axis& axis) { return axis.extent == 1 && extent(axis.dim) != 1; });
    bool isPlain = step.axes.size() == shape.size();
    for (std::size_t j = 0; isPlain && j < step.axes.size(); ++j)
        isPlain = step.axes[j].dim == static_cast<std::int32_t>(j) && step.axes[j].div == 1;
    if (!isPlain)
        emitter.add(std::move(step));
}

void packKernel(StepEmitter& emitter, const MatchedNest& nest, std::int64_t inBlock, std::int64_t outBlock)
{
    if (!nest.weightIsConstant || nest.conv() == nullptr)
        return;
    const ConvArgs& conv = *nest.conv();
    const std::array<std::int32_t, 4>& dims = nest.weightDims;
    schedule::LayoutStep step{emitter.stageOf(nest.weight), {}};
    step.axes.push_back({dims[0], outBlock, conv.outChannels / outBlock});
    if (dims[1] >= 0)
        step.axes.push_back({dims[1], inBlock, conv.inChannels / inBlock});
    step.axes.push_back({dims[2], 1, conv.kernelHeight});
    step.axes.push_back({dims[3], 1, conv.kernelWidth});
    if (dims[1] >= 0)
        step.axes.push_back({dims[1], 1, inBlock});
    step.axes.push_back({dims[0], 1, outBlock});
    for (std::int32_t d = 0; d < 4; ++d) // the multiplier of depthwise kernels, which is 1
        if (std::find(dims.begin(), dims.end(), d) == dims.end())
            step.axes.insert(step.axes.begin(), {d, 1, 1});
    emitter.add(std::move(step));
}

void packRows(StepEmitter& emitter, const MatchedNest& nest, const DenseArgs& dense, std::int64_t block)
{
    if (nest.weightIsConstant)
        emitter.add(schedule::LayoutStep{emitter.stageOf(nest.weight),
                                         {{nest.weightDims[0], block, dense.n / block},
                                          {nest.weightDims[1], 1, dense.k},
                                          {nest.weightDims[0], 1, block}}});
}

std::int32_t sumStage(StepEmitter& emitter, std::int32_t anchor, std::int32_t owner)
{
    return owner == anchor ? emitter.cacheWrite(anchor, "local") : emitter.stageOf(anchor);
}

void inlineWithBorder(StepEmitter& emitter, const MatchedNest& nest)
{
    std::vector<std::int32_t> all = nest.inlined;
    if (nest.border >= 0)
        all.push_back(nest.border);
    std::sort(all.begin(), all.end(), std::greater<>()); // who reads before who is read
    for (const std::int32_t op : all)
        emitter.inlineOp(op);
}

} // namespace lathe::templates
