#pragma once

#include "core/graph/operator.h"
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

/// Whether that operator is to be tested: LATHE_TEST_OPERATOR names one, by hand; else every one is.
bool isAsked(std::string_view op);

/// find(i) for the i-th of the names, on as many threads as there are cores here, and a row of QTest's table for each,
/// whose column "index" says which of the findings are its.
std::vector<Findings> findingsInRows(const std::vector<std::string>& names,
                                     const std::function<Findings(std::size_t)>& find);
/// The same of the entries of the operator registry that are asked for.
std::vector<Findings> findingsOfOperators(const std::function<Findings(const graph::OpDef&)>& find);

} // namespace lathe::net
