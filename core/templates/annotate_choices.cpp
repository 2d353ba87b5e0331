#include "core/templates/annotate_choices.h"

#include "core/support/message.h"
#include "core/templates/split_choices.h"

#include <algorithm>
#include <array>

namespace lathe::templates {
namespace {

constexpr std::array<std::string_view, kMarkCount> kMarkNames = {
    "none",        "vec",         "unroll",      "blockIdx.x", "blockIdx.y", "blockIdx.z",
    "threadIdx.x", "threadIdx.y", "threadIdx.z", "vthread",    "fuse"};

Error badAnnotation(std::string part, std::string wanted)
{
    return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

/// The innermost axes get these marks, the surplus of outer ones is fused.
Entity bound(std::int32_t axes, const std::vector<Mark>& marks)
{
    AnnotateEntity entity{std::vector<Mark>(static_cast<std::size_t>(axes) - marks.size(), Mark::Fuse)};
    entity.marks.insert(entity.marks.end(), marks.begin(), marks.end());
    return entity;
}

Result<std::vector<Entity>> binding(const std::string& knob, const AnnotateRule& rule)
{
    using enum Mark;
    static const std::vector<std::vector<Mark>> kPlain = {
        {BlockZ, BlockY, BlockX, ThreadZ, ThreadY, ThreadX}, {BlockY, BlockX, ThreadY, ThreadX}, {BlockX, ThreadX}};
    static const std::vector<std::vector<Mark>> kVirtual = {
        {BlockZ, BlockY, BlockX, VThread, VThread, VThread, ThreadZ, ThreadY, ThreadX},
        {BlockY, BlockX, VThread, VThread, ThreadY, ThreadX},
        {BlockX, VThread, ThreadX}};
    for (const std::vector<Mark>& marks : rule.policy == "bind_gpu" ? kPlain : kVirtual)
        if (rule.axes >= std::ssize(marks))
            return std::vector<Entity>{bound(rule.axes, marks)};
    return badAnnotation("the number of axes of " + knob, rule.policy == "bind_gpu" ? "at least 2" : "at least 3");
}

Result<std::vector<Entity>> anchors(const std::string& knob, const AnnotateRule& rule)
{
    if (rule.anchors < 1 || rule.anchors > rule.axes)
        return badAnnotation("the number of anchors of " + knob, "between 1 and its axes");
    std::vector<Entity> choices;
    std::vector<std::int32_t> places(static_cast<std::size_t>(rule.anchors));
    for (std::int32_t i = 0; i < rule.anchors; ++i)
        places[static_cast<std::size_t>(i)] = i;
    for (;;) {
        if (choices.size() == kMaxChoices)
            return badAnnotation("the number of choices of " + knob, "at most " + std::to_string(kMaxChoices));
        choices.emplace_back(AnchorEntity{places});
        std::int32_t i = rule.anchors - 1;
        while (i >= 0 && places[static_cast<std::size_t>(i)] == rule.axes - rule.anchors + i)
            --i;
        if (i < 0)
            return choices;
        ++places[static_cast<std::size_t>(i)];
        for (std::int32_t j = i + 1; j < rule.anchors; ++j)
            places[static_cast<std::size_t>(j)] = places[static_cast<std::size_t>(j - 1)] + 1;
    }
}

/// The marks in the words of a policy; empty: one is no mark.
std::vector<Mark> alternatives(std::string_view policy)
{
    std::vector<Mark> marks;
    for (std::size_t begin = 0; begin <= policy.size();) {
        const std::size_t end = std::min(policy.find('_', begin), policy.size());
        const std::string_view word = policy.substr(begin, end - begin);
        if (word == "try" || word == "none")
            marks.push_back(Mark::None);
        else if (word == "vec")
            marks.push_back(Mark::Vec);
        else if (word == "unroll")
            marks.push_back(Mark::Unroll);
        else
            return {};
        begin = end + 1;
    }
    return marks;
}

Result<std::vector<Entity>> combinations(const std::string& knob, const AnnotateRule& rule)
{
    const std::vector<Mark> marks = alternatives(rule.policy);
    if (marks.empty())
        return badAnnotation("the policy " + rule.policy.substr(0, 40) + " of " + knob,
                             "of the words try, unroll and vec");
    std::size_t count = 1;
    for (std::int32_t i = 0; i < rule.axes && count <= kMaxChoices; ++i)
        count *= marks.size();
    if (count > kMaxChoices)
        return badAnnotation("the number of choices of " + knob, "at most " + std::to_string(kMaxChoices));
    std::vector<Entity> choices;
    for (std::size_t index = 0; index < count; ++index) {
        AnnotateEntity entity{std::vector<Mark>(static_cast<std::size_t>(rule.axes))};
        std::size_t rest = index;
        for (std::size_t axis = entity.marks.size(); axis-- > 0; rest /= marks.size())
            entity.marks[axis] = marks[rest % marks.size()];
        if (std::count(entity.marks.begin(), entity.marks.end(), Mark::Vec) <= 1)
            choices.emplace_back(std::move(entity));
    }
    return choices;
}

} // namespace

Result<std::vector<Entity>> annotateChoices(const std::string& knob, const AnnotateRule& rule)
{
    if (rule.axes < 1 || rule.axes > 64)
        return badAnnotation("the number of axes of " + knob, "between 1 and 64");
    if (rule.policy == "bind_gpu" || rule.policy == "bind_gpu_virtual")
        return binding(knob, rule);
    if (rule.policy == "locate_cache")
        return anchors(knob, rule);
    return combinations(knob, rule);
}

std::string_view toString(Mark mark)
{
    return kMarkNames[static_cast<std::size_t>(mark)];
}

std::optional<Mark> markFromString(std::string_view name)
{
    const auto* const found = std::find(kMarkNames.begin(), kMarkNames.end(), name);
    return found == kMarkNames.end() ? std::nullopt : std::optional(static_cast<Mark>(found - kMarkNames.begin()));
}

} // namespace lathe::templates
