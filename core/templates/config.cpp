#include "core/templates/config.h"

#include "core/templates/annotate_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lathe::templates {
namespace {

struct EntityPrinter
{
    std::string operator()(const SplitEntity& split) const { return fmt::format("[{}]", fmt::join(split.sizes, ", ")); }
    std::string operator()(const ReorderEntity& reorder) const
    {
        return fmt::format("[{}]", fmt::join(reorder.order, ", "));
    }
    std::string operator()(const AnnotateEntity& annotate) const
    {
        std::string text;
        for (const Mark mark : annotate.marks)
            text.append(text.empty() ? "" : ", ").append(toString(mark));
        return text;
    }
    std::string operator()(const AnchorEntity& anchor) const
    {
        return fmt::format("[{}]", fmt::join(anchor.positions, ", "));
    }
    std::string operator()(const OptionEntity& option) const { return jsonText(option.value); }
};

} // namespace

const Entity* Config::find(std::string_view knob) const
{
    const auto found = std::find_if(knobs.begin(), knobs.end(),
                                    [knob](const auto& each) { return each.first == knob; });
    return found == knobs.end() ? nullptr : &found->second;
}

const std::vector<std::int64_t>* Config::sizes(std::string_view knob) const
{
    const auto* split = std::get_if<SplitEntity>(find(knob));
    return split == nullptr ? nullptr : &split->sizes;
}

std::optional<std::int64_t> Config::number(std::string_view knob) const
{
    const auto* option = std::get_if<OptionEntity>(find(knob));
    if (option == nullptr)
        return std::nullopt;
    if (const bool* flag = std::get_if<bool>(&option->value.value))
        return *flag ? 1 : 0;
    const std::int64_t* whole = option->value.whole();
    return whole == nullptr ? std::nullopt : std::optional(*whole);
}

void Config::set(std::string_view knob, Entity entity)
{
    const auto found = std::find_if(knobs.begin(), knobs.end(),
                                    [knob](const auto& each) { return each.first == knob; });
    if (found == knobs.end())
        knobs.emplace_back(knob, std::move(entity));
    else
        found->second = std::move(entity);
}

std::string entityText(const Entity& entity)
{
    return std::visit(EntityPrinter(), entity);
}

std::string configText(const Config& config)
{
    std::string text;
    for (const auto& [name, entity] : config.knobs)
        text += (text.empty() ? "" : ", ") + name + ' ' + entityText(entity);
    return text;
}

} // namespace lathe::templates
