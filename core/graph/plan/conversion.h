#pragma once

#include "core/graph/plan/layout.h"
#include "core/runtime/dtype.h"

#include <compare>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace lathe::graph::plan {

/// A tensor that is written in one layout and read in another: what is measured of a conversion.
struct Conversion
{
    std::vector<std::int64_t> shape; ///< as the graph has it
    std::string order; ///< what its dimensions are: "NCHW"
    DType dtype = DType::F32;
    Layout from, to;
    auto operator<=>(const Conversion&) const = default;
};

/// "float32[1, 64, 56, 56] of NCHW from NCHW16c to NCHW"
std::string textOf(const Conversion& conversion);

/// Seconds of one conversion between different layouts. Infinite: it cannot be done. NaN: nobody knows.
using ConversionCost = std::function<double(const Conversion&)>;
using ConversionTable = std::map<Conversion, double>; ///< seconds

/// What the table has; NaN for others.
ConversionCost costFrom(ConversionTable table);

/// What the table has, and for others their elements times the mean time of an element of the table, so that a network
/// can be planned before all is measured (the reference's infer_layout). Where blocks are filled up, the side with more
/// elements counts: the reference gives such a conversion up. NaN where the table has no finite time.
ConversionCost estimateFrom(ConversionTable table);

} // namespace lathe::graph::plan
