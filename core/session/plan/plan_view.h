#pragma once

#include "core/session/views.h"

#include <cstdint>
#include <string>
#include <vector>

namespace lathe::session {

/// A function of the network whose layouts are chosen, with the kernel that it takes.
struct PlanNodeView
{
    std::int32_t task = -1; ///< -1: it only takes several inputs
    std::string name; ///< the function's
    std::string input, output; ///< layouts: "NCHW16c"
    double ms = 0; ///< of its kernel in one run of the network
    std::string trial; ///< empty: a default schedule, or no kernel of its own
};

/// A tensor between two of them, or from or to where all is plain.
struct PlanEdgeView
{
    std::int32_t from = -1, to = -1; ///< indices of nodes; -1: where all is plain
    std::string tensor;
    std::vector<std::int64_t> shape;
    std::string written, read; ///< layouts; where they differ, a conversion stands
    double ms = 0; ///< of its conversions in one run of the network
};

/// The layouts of a network.
struct PlanView
{
    std::vector<PlanNodeView> nodes;
    std::vector<PlanEdgeView> edges;
    double ms = 0, kernelsMs = 0; ///< kernels and conversions; kernels alone
    double fastestMs = 0, fastestKernelsMs = 0; ///< the same where each function takes its fastest kernel
    std::string solver; ///< "dp", "pbqp"
    bool optimal = false; ///< no choice is faster, as far as costs tell
};

/// What graph tuning has come to.
enum class PlanStep : std::uint8_t
{
    Timing, ///< conversions are timed
    Timed,
    Solving,
    Solved
};

} // namespace lathe::session
