#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::backend {

/// What a script can make go wrong. All are real: a process dies by a signal, sleeps, or leaves other values behind.
enum class Fault : std::uint8_t
{
    None,
    BuildFailed,
    BuildCrash,
    BuildHang,
    Crash,
    Hang,
    Wrong,
    OutOfBounds,
    Slow, ///< or, with a factor below one, fast
    Lucky ///< slow by its factor, below one say, but only the first time that it is measured
};
std::string_view toString(Fault fault); ///< "build-failed", "crash" ...

/// The names that measure gives to kernels: "k<ordinal>_<16 hex digits of the candidate's hash>", so that generators
/// and scripts can tell which trial they see.
std::string kernelName(std::int64_t ordinal, std::uint64_t candidateHash);
struct KernelIdentity
{
    std::int64_t ordinal = -1;
    std::uint64_t candidateHash = 0;
};
std::optional<KernelIdentity> parseKernelName(std::string_view name);

/// Faults by trial, for tests and demonstrations: a JSON file
///     {"seed": 1, "rules": [{"fault": "crash", "ordinal": 7}, {"fault": "hang", "candidate": "00ab..."},
///                           {"fault": "wrong", "every": 10, "offset": 3}, {"fault": "slow", "rate": 0.05, "factor":
///                           4}, {"fault": "lucky", "ordinal": 9, "factor": 0.5}]}
/// The first rule that fits decides. `rate` draws from (seed, candidate), so it is the same in every process and order.
class FaultScript
{
public:
    static Result<FaultScript> parse(std::string_view json);
    struct Decision
    {
        Fault fault = Fault::None;
        double factor = 1; ///< Slow, Lucky
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

} // namespace lathe::backend
