#include "core/templates/conv_layouts.h"

#include "core/support/message.h"
#include "core/templates/spaces.h"
#include "core/templates/workload_args.h"

namespace lathe::templates {
namespace {

/// The inner of the knob's two sizes, which divides the channels.
Result<std::int64_t> channelBlock(const Config& config, const char* knob, std::int64_t channels)
{
    const std::vector<std::int64_t>* sizes = config.sizes(knob);
    if (sizes == nullptr)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateKnobUnset, knob));
    if (sizes->size() != 2 || sizes->back() < 1 || channels % sizes->back() != 0)
        return makeError(Errc::InvalidArgument, say(Msg::TemplateNoChoice, entityText(*config.find(knob)), knob));
    return sizes->back();
}

LaidOut blocked(std::int64_t batch, std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t block)
{
    return {{batch, channels / block, height, width, block}, "NCHW" + std::to_string(block) + "c"};
}

} // namespace

Result<ConvLayouts> convLayouts(const Workload& workload, const Config& config)
{
    if (!workload.task.ends_with("conv2d_NCHWc.x86"))
        return notFor(workload, "the template", "one with blocks of channels");
    LATHE_TRY_ASSIGN(const ConvArgs conv, convArgs(workload));
    LATHE_TRY_ASSIGN(const std::int64_t ic, channelBlock(config, "tile_ic", conv.inChannels));
    LATHE_TRY_ASSIGN(const std::int64_t oc, channelBlock(config, "tile_oc", conv.outChannels));
    return ConvLayouts{blocked(conv.batch, conv.inChannels, conv.height, conv.width, ic),
                       blocked(conv.batch, conv.outChannels, conv.outHeight(), conv.outWidth(), oc)};
}

} // namespace lathe::templates
