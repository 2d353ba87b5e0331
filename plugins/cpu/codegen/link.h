#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace lathe::cpu {

using Bytes = std::vector<std::byte>;

/// Links objects into a shared object that needs nothing, by LLD inside this process. Only one link runs at a time.
/// Errors: BuildFailed with the linker's words, among them the name of an undefined symbol.
Result<Bytes> linkArtifact(std::span<const Bytes> objects, const std::vector<std::string>& exports);

/// Several relocatable objects as one.
Result<Bytes> linkRelocatable(std::span<const Bytes> objects);

} // namespace lathe::cpu
