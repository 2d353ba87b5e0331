#pragma once

#include "core/runtime/package.h"

namespace lathe::opencl {

/// Name of the artifact's format in its descriptor: a package whose programs are launches as OpenCL C, with what the
/// builder's driver made of that, if it has one, and DeviceFacts::identity of the device whose driver it was.
inline constexpr const char* kFormat = "opencl-c";

using runtime::pack;
using runtime::PackedProgram;
using runtime::unpack;

} // namespace lathe::opencl
