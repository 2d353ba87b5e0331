#pragma once

#include "core/templates/template_table.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::templates {

// What the file of a person's own template says (user_template.h has its format), read and checked.

/// An axis of a pattern by its name: which loop of the sum it is.
struct UserAxis
{
    std::string name;
    bool summed = false;
    std::size_t place = 0; ///< in MatchedNest::spatial, or ::reduce
};

const std::vector<UserAxis>& axesOf(Pattern pattern);
const UserAxis* findAxis(Pattern pattern, std::string_view name); ///< null: the pattern has no such axis

/// "x.1": the axis and the part.
struct UserLoop
{
    const UserAxis* axis = nullptr;
    std::int32_t part = 0;

    friend bool operator==(const UserLoop&, const UserLoop&) = default;
};

/// Nothing: it names no loop that the pattern can have.
std::optional<UserLoop> loopOf(Pattern pattern, std::string_view text);

enum class UserVerb : std::uint8_t
{
    Split,
    Order,
    SumAt,
    Unroll,
    Vectorize,
    Pack,
    Parallel
};

struct UserStep
{
    UserVerb verb = UserVerb::Split;
    std::vector<UserLoop> loops; ///< one, or all of an order or a layout
    std::string knob; ///< that a split is by
    std::string condition; ///< knob; empty: always
    std::int32_t count = 0; ///< of Parallel
};

struct UserKnob
{
    std::string name;
    std::string axis; ///< of a split; empty: an option
    std::size_t parts = 2;
    SplitPolicy policy = SplitPolicy::Factors;
    std::int64_t largest = 0; ///< 0: no limit
    std::vector<JsonValue> values; ///< of an option: all whole numbers of 32 bits, or all true and false; none twice
};

struct UserDefinition
{
    std::string name;
    Pattern pattern = Pattern::Conv2d;
    std::vector<UserKnob> knobs;
    std::vector<UserStep> steps;

    const UserKnob* find(std::string_view knob) const; ///< null: there is no such knob
};

/// The space of a workload of the definition's pattern. Errors: as ConfigSpace's.
Result<ConfigSpace> userSpace(const UserDefinition& definition, const Workload& workload);

} // namespace lathe::templates
