#pragma once

#include "tests/net/kernel_batch.h"
#include "tests/net/test_values.h"

#include <string>
#include <vector>

namespace lathe::net {

/// One operator on operands of given types.
struct OperatorCase
{
    std::string name; ///< "add float16 of [33], [33]"
    graph::Graph graph; ///< its inputs, the node and its results
    DType dtype = DType::F32; ///< that it is counted under
    std::vector<Domain> domains; ///< by input of the graph
    std::vector<std::int64_t> places; ///< by input: how many places it picks from; 0: it holds none
    std::vector<Schedule> schedules;

    std::vector<graph::HostTensor> inputs(Values values, std::uint64_t seed) const;
};

/// What every element type makes of a registry entry: the rows of tests/core/graph/operator_cases.h that name it, those
/// of this table, and, where it has neither, tensors of equal shapes. Each row is taken in every element type that the
/// operator's type rule accepts in the place of the row's own. Empty: a row is missing.
std::vector<OperatorCase> casesOf(const graph::OpDef& entry);

} // namespace lathe::net
