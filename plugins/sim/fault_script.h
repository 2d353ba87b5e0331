#pragma once

#include "core/support/result.h"
#include "plugins/sim/fault.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::sim {

std::string_view toString(Fault fault); ///< "build-failed", "crash" ...

/// Acts out BuildCrash and BuildHang here and now; BuildFailed is the Error.
Result<> actBuildFault(Fault fault);

/// Faults by trial, for tests and demonstrations: the JSON file of a target `sim -script=FILE`,
///     {"seed": 1, "rules": [{"fault": "crash", "ordinal": 7}, {"fault": "hang", "candidate": "00ab..."},
///                           {"fault": "wrong", "every": 10, "offset": 3}, {"fault": "slow", "rate": 0.05, "factor":
///                           4}, {"fault": "lucky", "ordinal": 9, "factor": 0.5},
///                           {"fault": "device-build-slow", "ordinal": 5, "seconds": 2}]}
/// The first rule that fits decides. `rate` draws from (seed, candidate), so it is the same in every process and order.
class FaultScript
{
public:
    static Result<FaultScript> parse(std::string_view json);
    struct Decision
    {
        Fault fault = Fault::None;
        double factor = 1; ///< Slow, Lucky
        double seconds = 1; ///< DeviceBuildSlow
    };
    Decision decide(std::string_view kernelName) const;
    bool empty() const { return m_rules.empty(); }

private:
    struct Rule
    {
        Decision decision;
        std::optional<std::int64_t> ordinal;
        std::string candidate; ///< prefix of the hash in hex
        std::int64_t every = 0;
        std::int64_t offset = 0;
        double rate = -1;
    };
    std::uint64_t m_seed = 0;
    std::vector<Rule> m_rules;
};

} // namespace lathe::sim
