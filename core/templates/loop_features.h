#pragma once

#include "core/ir/loop_nest.h"

#include <vector>

namespace lathe::templates {

// What the reference's cost model sees of a lowered kernel (autotvm.md 7.2), from Lathe's own loops. Numbers are
// log2(1 + x), below 0 -log2(1 - x), but for levels and marks.
//
// Each loop has, in the order in which loops begin: its length, how deep it lies, the product of the lengths from the
// outermost to it (topdown), the largest count x reuse of what is touched inside it (bottomup), which of 11 kinds it
// is, and the additions, multiplications and divisions inside it. Of each tensor that is touched inside a loop: by how
// many elements its place moves with the loop (stride), how many elements the loop and those inside it touch (count),
// and how often each of them (reuse). The blocks and threads of a launch are loops, too.

/// The kind `itervar`: all loops with all that they touch, tensors by name. Its length depends on the configuration.
std::vector<float> iterVarFeatures(const ir::LoopNest& nest);

/// The kind `curve`: for each tensor that the innermost loops touch, in the order of their names, how reuse grows with
/// count, count with reuse, count with topdown, and topdown with count, loop by loop: 20 points of each, at 0, 1, .. 19
/// as log2, with the value there and how far the last loop before it lies. 160 numbers a tensor.
std::vector<float> curveFeatures(const ir::LoopNest& nest);

} // namespace lathe::templates
