#include "core/templates/config_space.h"

#include <algorithm>

namespace lathe::templates {
namespace {

constexpr std::uint64_t kMaxSize = (std::uint64_t{1} << 63) - 1;

Error badSpace(std::string part, std::string wanted)
{
    return makeError(Errc::InvalidArgument, say(Msg::TemplateWrong, std::move(part), std::move(wanted)));
}

template<typename T>
std::vector<Entity> entitiesOf(std::vector<std::vector<T>> lists)
{
    std::vector<Entity> entities;
    entities.reserve(lists.size());
    for (std::vector<T>& list : lists)
        if constexpr (std::is_same_v<T, std::int64_t>)
            entities.emplace_back(SplitEntity{std::move(list)});
        else
            entities.emplace_back(ReorderEntity{std::move(list)});
    return entities;
}

/// Whether a split is this choice, with its outermost size written out or not.
bool isSplit(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& choice, std::int64_t extent)
{
    if (sizes.size() != choice.size() || sizes.empty()
        || !std::equal(sizes.begin() + 1, sizes.end(), choice.begin() + 1))
        return false;
    return sizes[0] == choice[0] || sizes[0] == splitExtents(choice, extent)[0];
}

bool isChoice(const Entity& entity, const Entity& choice, std::int64_t extent)
{
    const auto* split = std::get_if<SplitEntity>(&entity);
    const auto* other = std::get_if<SplitEntity>(&choice);
    return split != nullptr && other != nullptr ? isSplit(split->sizes, other->sizes, extent) : entity == choice;
}

/// Appends what one knob adds to the features.
class FeatureWriter
{
public:
    FeatureWriter(const Knob* knob, std::vector<float>& out)
        : m_knob(knob)
        , m_out(out)
    {
    }
    void operator()(const SplitEntity& split)
    {
        for (const std::int64_t size : split.sizes)
            m_out.push_back(static_cast<float>(size));
    }
    void operator()(const ReorderEntity& reorder)
    {
        for (const std::int32_t axis : reorder.order)
            m_out.push_back(static_cast<float>(axis));
    }
    void operator()(const AnchorEntity& anchor)
    {
        for (const std::int32_t axis : anchor.positions)
            m_out.push_back(static_cast<float>(axis));
    }
    void operator()(const AnnotateEntity& annotate)
    {
        for (const Mark mark : annotate.marks)
            for (std::int32_t i = 0; i < kMarkCount; ++i)
                m_out.push_back(i == static_cast<std::int32_t>(mark) ? 1.0F : 0.0F);
    }
    void operator()(const OptionEntity& option) { m_out.push_back(number(option)); }

private:
    float number(const OptionEntity& option) const
    {
        if (const bool* flag = std::get_if<bool>(&option.value.value))
            return *flag ? 1.0F : 0.0F;
        if (const std::int64_t* whole = option.value.whole())
            return static_cast<float>(*whole);
        if (const Real* real = std::get_if<Real>(&option.value.value))
            return static_cast<float>(real->value);
        if (m_knob != nullptr && !option.value.isNull())
            for (std::size_t i = 0; i < m_knob->choices.size(); ++i)
                if (m_knob->choices[i] == Entity(option))
                    return static_cast<float>(i);
        return 0;
    }

    const Knob* m_knob;
    std::vector<float>& m_out;
};

} // namespace

Result<> ConfigSpace::add(Knob knob)
{
    if (find(knob.name) != nullptr)
        return badSpace("the name of the knob " + knob.name, "that of one knob alone");
    if (knob.choices.empty())
        return badSpace("the number of choices of " + knob.name, "at least 1");
    if (knob.choices.size() > kMaxSize / m_size)
        return badSpace("the number of configurations", "below 2^63");
    m_size *= knob.choices.size();
    m_knobs.push_back(std::move(knob));
    return {};
}

Result<> ConfigSpace::addSplit(const std::string& name, const SplitRule& rule)
{
    LATHE_TRY_ASSIGN(auto choices, splitChoices(name, rule));
    return add({name, KnobKind::Split, entitiesOf(std::move(choices)), rule.extent});
}

Result<> ConfigSpace::addReorder(const std::string& name, const ReorderRule& rule)
{
    LATHE_TRY_ASSIGN(auto choices, reorderChoices(name, rule));
    return add({name, KnobKind::Reorder, entitiesOf(std::move(choices))});
}

Result<> ConfigSpace::addAnnotate(const std::string& name, const AnnotateRule& rule)
{
    LATHE_TRY_ASSIGN(auto choices, annotateChoices(name, rule));
    return add({name, KnobKind::Annotate, std::move(choices)});
}

Result<> ConfigSpace::addOption(const std::string& name, const std::vector<JsonValue>& values)
{
    if (values.size() > kMaxChoices)
        return badSpace("the number of choices of " + name, "at most " + std::to_string(kMaxChoices));
    std::vector<Entity> choices;
    for (const JsonValue& value : values)
        choices.emplace_back(OptionEntity{value});
    return add({name, KnobKind::Option, std::move(choices)});
}

Result<> ConfigSpace::addOption(const std::string& name, std::initializer_list<std::int64_t> values)
{
    return addOption(name, *jsonWholes(values).list());
}

const Knob* ConfigSpace::find(std::string_view name) const
{
    const auto found = std::find_if(m_knobs.begin(), m_knobs.end(),
                                    [name](const Knob& knob) { return knob.name == name; });
    return found == m_knobs.end() ? nullptr : &*found;
}

std::vector<std::uint32_t> ConfigSpace::digits(std::uint64_t index) const
{
    std::vector<std::uint32_t> digits;
    digits.reserve(m_knobs.size());
    for (const Knob& knob : m_knobs) {
        digits.push_back(static_cast<std::uint32_t>(index % knob.choices.size()));
        index /= knob.choices.size();
    }
    return digits;
}

std::uint64_t ConfigSpace::indexOf(std::span<const std::uint32_t> digits) const
{
    std::uint64_t index = 0;
    for (std::size_t j = m_knobs.size(); j-- > 0;)
        index = index * m_knobs[j].choices.size() + digits[j];
    return index;
}

Result<Config> ConfigSpace::at(std::uint64_t index) const
{
    if (index >= m_size)
        return makeError(Errc::InvalidArgument,
                         say(Msg::TemplateNoIndex, std::to_string(index), std::to_string(m_size)));
    Config config;
    config.index = index;
    const std::vector<std::uint32_t> places = digits(index);
    config.knobs.reserve(m_knobs.size());
    for (std::size_t j = 0; j < m_knobs.size(); ++j)
        config.knobs.emplace_back(m_knobs[j].name, m_knobs[j].choices[places[j]]);
    return config;
}

Result<std::uint64_t> ConfigSpace::indexOf(const Config& config) const
{
    for (const auto& each : config.knobs)
        if (find(each.first) == nullptr)
            return makeError(Errc::NotFound, say(Msg::TemplateNoKnob, each.first));
    std::vector<std::uint32_t> places;
    for (const Knob& knob : m_knobs) {
        const Entity* entity = config.find(knob.name);
        if (entity == nullptr)
            return makeError(Errc::NotFound, say(Msg::TemplateKnobUnset, knob.name));
        const auto found = std::find_if(knob.choices.begin(), knob.choices.end(),
                                        [&](const Entity& choice) { return isChoice(*entity, choice, knob.extent); });
        if (found == knob.choices.end())
            return makeError(Errc::NotFound, say(Msg::TemplateNoChoice, entityText(*entity), knob.name));
        places.push_back(static_cast<std::uint32_t>(found - knob.choices.begin()));
    }
    return indexOf(places);
}

std::optional<Message> ConfigSpace::refusal(const Config& config) const
{
    for (const Constraint& constraint : m_constraints)
        if (std::optional<Message> reason = constraint.refusal(config))
            return reason;
    return std::nullopt;
}

std::vector<float> ConfigSpace::features(const Config& config) const
{
    std::vector<float> out, usual;
    for (const Knob& knob : m_knobs) {
        usual.clear();
        std::visit(FeatureWriter(&knob, usual), knob.choices.front());
        const std::size_t end = out.size() + usual.size();
        if (const Entity* const chosen = config.find(knob.name))
            std::visit(FeatureWriter(&knob, out), *chosen);
        out.resize(end); // of a configuration of another space, a knob may be missing or longer
    }
    return out;
}

} // namespace lathe::templates
