#include "core/session/options/tune_options.h"

#include "core/policy/policy_table.h"
#include "core/session/head_start.h"
#include "core/session/options/option_table.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace lathe::session {

Result<> check(const TuneOptions& o)
{
    TuneOptions held = o;
    held.minRepeatMs = minRepeatMs(o);
    for (const SetOption& option : valuesOf(held))
        if (std::string wrong = validationError(option); !wrong.empty())
            return makeError(Errc::InvalidArgument, std::move(wrong));
    LATHE_TRY_ASSIGN(const policy::PolicyPtr policy, policy::findPolicy(o.policy));
    if (!o.headStart.empty() && o.headStart != kNoHeadStart && !policy->takesHeadStart)
        return makeError(Errc::InvalidArgument, say(Msg::HeadStartOfPolicy, policy::kDefaultPolicy, o.policy));
    return {};
}

double expectedTrials(const TuneOptions& options)
{
    double expected = std::numeric_limits<double>::infinity();
    if (options.seconds > 0)
        expected = options.seconds * 12; // trials a second, cautiously
    if (options.trials > 0)
        expected = std::min(expected, static_cast<double>(options.trials));
    return expected;
}

double minRepeatMs(const TuneOptions& options)
{
    const auto policy = policy::findPolicy(options.policy);
    return options.minRepeatMs.value_or(policy ? (*policy)->minRepeatMs : policy::PolicyEntry().minRepeatMs);
}

} // namespace lathe::session
