#pragma once

#include "core/templates/config_space.h"
#include "tests/support/must.h"

#include <numeric>
#include <string>
#include <vector>

namespace lathe::templates::test {

/// Knobs x0, x1, ... of so many choices each, the numbers from 0.
inline ConfigSpace numberSpace(const std::vector<std::int64_t>& choices)
{
    ConfigSpace space;
    for (std::size_t j = 0; j < choices.size(); ++j) {
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(choices[j]));
        std::iota(numbers.begin(), numbers.end(), 0);
        lathe::test::must(space.addOption("x" + std::to_string(j), *jsonWholes(numbers).list()));
    }
    return space;
}

/// Refuses configurations by what the knob x0 chooses.
template<typename Rule>
void refuseWhere(ConfigSpace& space, Rule isBad)
{
    space.addConstraint({"x0", [isBad](const Config& config) -> std::optional<Message> {
                             if (!isBad(config.number("x0").value_or(0)))
                                 return std::nullopt;
                             return say(Msg::TemplateWrong, "x0", "allowed");
                         }});
}

/// How far a configuration is from the best, summed up over knobs: 0 at the best, where the choice of knob j is 3 * j +
/// 1 modulo their number.
inline double distance(const ConfigSpace& space, std::uint64_t index)
{
    const std::vector<std::uint32_t> digits = space.digits(index);
    double sum = 0;
    for (std::size_t j = 0; j < digits.size(); ++j) {
        const auto best = static_cast<double>((3 * j + 1) % space.knobs()[j].choices.size());
        const double d = static_cast<double>(digits[j]) - best;
        sum += d < 0 ? -d : d;
    }
    return sum;
}

} // namespace lathe::templates::test
