#pragma once

#include "core/compute/definitions/elementwise.h"
#include "core/graph/operator.h"

namespace lathe::graph::operators {

// OpTraits::demands of the operators: the inverse of what each does to a range of values.

using Demands = decltype(OpTraits::demands);

Demands binaryDemands(compute::Binary binary); ///< null where nothing is known
Demands negativeDemands();
Demands absDemands();
Demands sameDemands(); ///< what is asked of the results, of each operand: cast, rounding, the largest of several
Demands clipDemands(); ///< attributes "min" and "max"
Demands selectionDemands(); ///< the condition first, then two tensors of which it picks
Demands sumDemands(); ///< as many elements as the operand has for one of the result, or along attribute "axis"
Demands noDemands(); ///< the operands may be anything: comparisons, positions
/// Places to write to (OpTraits::picksFrom) name each element once; the other operands are what comes out.
Demands scatterDemands();

} // namespace lathe::graph::operators
