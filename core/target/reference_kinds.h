#pragma once

#include "core/target/kinds.h"

namespace lathe {

/// What core knows without any plugin, in the order in which lists name it: the reference compiler's kinds of targets,
/// so that tasks, sketches and features of any can be shown, and the simulator, which stands in for them.
std::vector<TargetKind> referenceKinds();

} // namespace lathe
