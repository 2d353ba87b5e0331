#pragma once

#include "core/schedule/lower.h"
#include "core/wire/artifact.h"

namespace lathe::backend {

/// What an artifact's descriptor says of a kernel whose symbols follow from its name: phases "<nest.name>_p<i>", or
/// launches "<nest.name>_<i>", unless the back end names them otherwise. Each launch takes the parameters and the
/// scratch that its body names, in the order of LoopNest::buffers; a buffer of Scope::Team is scratch.
KernelInfo kernelInfo(const schedule::LoweredKernel& kernel);

} // namespace lathe::backend
