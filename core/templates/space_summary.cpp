#include "core/templates/space_summary.h"

#include "core/support/random.h"

#include <fmt/format.h>

namespace lathe::templates {

InvalidShare invalidShare(const ConfigSpace& space, std::uint64_t most, std::uint64_t seed)
{
    InvalidShare share;
    share.exact = space.size() <= most;
    share.checked = share.exact ? space.size() : most;
    if (space.constraints().empty())
        return share;
    Random random(seed);
    for (std::uint64_t i = 0; i < share.checked; ++i) {
        const Result<Config> config = space.at(share.exact ? i : random.below(space.size()));
        for (const Constraint& constraint : space.constraints())
            if (config && constraint.refusal(*config)) {
                ++share.invalid;
                ++share.byConstraint[constraint.name];
                break;
            }
    }
    return share;
}

std::string describe(const ConfigSpace& space)
{
    constexpr std::size_t kShown = 4;
    std::string text = fmt::format("{} {}\n", space.size(), space.size() == 1 ? "configuration" : "configurations");
    for (const Knob& knob : space.knobs()) {
        text += fmt::format("{}: {}{}, {}:", knob.name, toString(knob.kind),
                            knob.extent > 0 ? fmt::format(" of {}", knob.extent) : std::string(),
                            counted(knob.choices.size(), "choice|choices"));
        const std::size_t count = knob.choices.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (count > kShown + 2 && i == kShown) {
                text += "; ...";
                i = count - 1;
            }
            text += (i == 0 ? " " : "; ") + entityText(knob.choices[i]);
        }
        text += '\n';
    }
    return text;
}

std::string_view toString(KnobKind kind)
{
    switch (kind) {
    case KnobKind::Split: return "split";
    case KnobKind::Reorder: return "order";
    case KnobKind::Annotate: return "marks";
    case KnobKind::Option: break;
    }
    return "option";
}

} // namespace lathe::templates
