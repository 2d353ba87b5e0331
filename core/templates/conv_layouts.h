#pragma once

#include "core/support/result.h"
#include "core/templates/config.h"
#include "core/templates/workload.h"

namespace lathe::templates {

/// A tensor as a configuration lays it out in memory.
struct LaidOut
{
    std::vector<std::int64_t> shape;
    std::string layout; ///< "NCHW16c"

    bool operator==(const LaidOut&) const = default;
};

struct ConvLayouts
{
    LaidOut input, output;
};

/// The layouts of a convolution whose channels are blocked: input [N, C/ic, H, W, ic] of NCHW{ic}c, output likewise by
/// oc, the inner sizes of tile_ic and tile_oc (autotvm.md 12.1, infer_layout).
/// Errors: InvalidArgument for a workload of another template, a configuration without these knobs, and blocks that do
/// not divide the channels.
Result<ConvLayouts> convLayouts(const Workload& workload, const Config& config);

} // namespace lathe::templates
