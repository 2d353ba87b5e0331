#pragma once

#include "core/search/search_task.h"
#include "core/templates/workload_args.h"

#include <array>
#include <variant>
#include <vector>

namespace lathe::templates {

/// A tensor that the nest reads or writes whose layout in memory a template may choose, with the dimension that the
/// batch, the channels, the rows and the columns are.
struct ImageTensor
{
    std::int32_t op = -1; ///< of the DAG
    std::array<std::int32_t, 4> dims = {0, 1, 2, 3}; ///< batch, channel, height, width
};

/// What a template schedules, found in the compute DAG of a task: one reduction (the anchor) with what is computed in
/// its loops: the padding that it reads and the elementwise operations behind it. The layout of the task's images may
/// be any: which loop is the channel is told by how operands are indexed.
struct MatchedNest
{
    std::variant<ConvArgs, DenseArgs> args; ///< as the reference would call the operator
    std::int32_t anchor = -1; ///< the reduction
    std::int32_t owner = -1; ///< the last elementwise operation behind it; the anchor where there is none
    std::int32_t border = -1; ///< an operation that pads the data; -1: none
    std::vector<std::int32_t> inlined; ///< operations that have no loops of their own, consumers before producers
    std::int32_t weight = -1; ///< placeholder
    bool weightIsConstant = false; ///< it may be packed ahead of time

    /// Loops of the anchor, as StageLoops counts them: spatial axes, then reduce axes. Convolutions: batch, channel,
    /// row, column; dense: row of data, -1, -1, row of weight.
    std::array<std::int32_t, 4> spatial = {-1, -1, -1, -1};
    /// Convolutions: channel of the input (-1 for depthwise), row and column of the kernel; dense: K alone. -1: the
    /// definition has no such loop.
    std::array<std::int32_t, 3> reduce = {-1, -1, -1};
    std::int32_t loops = 0; ///< of the anchor
    /// Dimensions of the weight: output channel, input channel (-1 for depthwise), row, column of the kernel; dense: N,
    /// K.
    std::array<std::int32_t, 4> weightDims = {-1, -1, -1, -1};

    ImageTensor data; ///< what the anchor's data come from: a placeholder (of convolutions)
    ImageTensor padded; ///< as the anchor reads them: `border` if there is one, else `data`
    ImageTensor output; ///< the owner
    /// Other inputs of the output's shape that the owner reads element by element: a residual.
    std::vector<ImageTensor> residuals;

    const ConvArgs* conv() const { return std::get_if<ConvArgs>(&args); }
    const DenseArgs* dense() const { return std::get_if<DenseArgs>(&args); }
};

/// Finds it in one alternative of a task. Errors: Unsupported, with what the alternative has that no template knows.
Result<MatchedNest> matchNest(const search::SearchAlternative& alternative);

} // namespace lathe::templates
