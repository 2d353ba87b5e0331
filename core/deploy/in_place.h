#pragma once

#include "core/compute/dag.h"

#include <string>
#include <vector>

namespace lathe::deploy {

/// Which inputs (by position in Dag::inputs) the kernel of a one-output DAG may overwrite with its output: those of
/// which output element i reads element i alone, directly or through operations that do so too. In any schedule that
/// computes each output element once, an element is then read before it is written.
std::vector<bool> overwritableInputs(const compute::Dag& dag);

/// Whether a schedule (JSON text of its steps) may compute an output element twice: nothing is then overwritten.
bool recomputes(const std::string& steps);

} // namespace lathe::deploy
