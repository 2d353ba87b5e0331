#pragma once

#include "core/runtime/dtype.h"
#include "core/support/result.h"
#include "tests/net/kernel_batch.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace lathe::net {

/// What came of one operator: what is wrong with it, of which the first is told, and what was tested.
struct Findings
{
    std::size_t wrong = 0;
    std::string text;
    std::size_t refused = 0; ///< cases that Lathe says it does not do
    std::set<std::string> refusals;
    std::set<std::pair<DType, Schedule>> covered;
    std::size_t kernels = 0;
    bool byFunction = false; ///< no kernel computes it
    std::size_t unrolled = 0; ///< runs of kernels of random schedules that unroll too much to be built

    void add(const std::string& what);
    /// Whether that is why a kernel cannot be run, in which case it is counted.
    bool excuses(Schedule schedule, const Error& error);
};

/// An operator whose findings are known and not mended yet, with the reason. They are told and do not fail the test, as
/// long as they are neither more nor fewer: whoever mends one takes its row away.
struct OpenFinding
{
    std::string_view op, reason;
    std::size_t wrong = 0; ///< how many there are
};
/// Null: its findings are to be none.
const OpenFinding* openFinding(std::span<const OpenFinding> open, std::string_view op);

/// work(i) for i below `count`, on as many threads as there are cores here.
void onAllCores(std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace lathe::net
