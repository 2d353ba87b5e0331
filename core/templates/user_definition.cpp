#include "core/templates/user_definition.h"

#include <algorithm>

namespace lathe::templates {
namespace {

std::int64_t extentOfAxis(const Workload& workload, const UserAxis& axis, Pattern pattern)
{
    if (pattern == Pattern::Dense) {
        const auto dense = denseArgs(workload);
        return !dense ? 1 : axis.name == "m" ? dense->m : axis.name == "n" ? dense->n : dense->k;
    }
    const auto conv = convArgs(workload);
    if (!conv)
        return 1;
    if (axis.summed)
        return axis.place == 0 ? conv->inChannels : axis.place == 1 ? conv->kernelHeight : conv->kernelWidth;
    return axis.place == 0   ? conv->batch
           : axis.place == 1 ? conv->outChannels
           : axis.place == 2 ? conv->outHeight()
                             : conv->outWidth();
}

} // namespace

const std::vector<UserAxis>& axesOf(Pattern pattern)
{
    static const std::vector<UserAxis> conv = {{"n", false, 0}, {"co", false, 1}, {"y", false, 2}, {"x", false, 3},
                                               {"ci", true, 0}, {"ky", true, 1},  {"kx", true, 2}};
    static const std::vector<UserAxis> depthwise = {{"n", false, 0}, {"co", false, 1}, {"y", false, 2},
                                                    {"x", false, 3}, {"ky", true, 1},  {"kx", true, 2}};
    static const std::vector<UserAxis> dense = {{"m", false, 0}, {"n", false, 3}, {"k", true, 0}};
    return pattern == Pattern::Conv2d ? conv : pattern == Pattern::DepthwiseConv2d ? depthwise : dense;
}

const UserAxis* findAxis(Pattern pattern, std::string_view name)
{
    const std::vector<UserAxis>& axes = axesOf(pattern);
    const auto found = std::find_if(axes.begin(), axes.end(), [name](const UserAxis& a) { return a.name == name; });
    return found == axes.end() ? nullptr : &*found;
}

std::optional<UserLoop> loopOf(Pattern pattern, std::string_view text)
{
    UserLoop loop;
    const std::size_t dot = text.find('.');
    loop.axis = findAxis(pattern, text.substr(0, dot));
    if (loop.axis == nullptr)
        return std::nullopt;
    if (dot == std::string_view::npos)
        return loop;
    const std::string_view part = text.substr(dot + 1);
    if (part.size() != 1 || part[0] < '0' || part[0] > '9')
        return std::nullopt;
    loop.part = part[0] - '0';
    return loop;
}

const UserKnob* UserDefinition::find(std::string_view knob) const
{
    const auto found = std::find_if(knobs.begin(), knobs.end(), [knob](const UserKnob& k) { return k.name == knob; });
    return found == knobs.end() ? nullptr : &*found;
}

Result<ConfigSpace> userSpace(const UserDefinition& definition, const Workload& workload)
{
    ConfigSpace space;
    for (const UserKnob& knob : definition.knobs) {
        if (knob.axis.empty()) {
            LATHE_TRY(space.addOption(knob.name, knob.values));
            continue;
        }
        SplitRule rule{extentOfAxis(workload, *findAxis(definition.pattern, knob.axis), definition.pattern),
                       static_cast<std::int32_t>(knob.parts), knob.policy};
        if (knob.largest > 0)
            rule.filter = [largest = knob.largest](std::span<const std::int64_t> sizes) {
                return sizes.back() <= largest;
            };
        LATHE_TRY(space.addSplit(knob.name, rule));
    }
    return space;
}

} // namespace lathe::templates
