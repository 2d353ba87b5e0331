#pragma once

#include "core/support/result.h"
#include "core/target/target.h"

#include <filesystem>
#include <string>

namespace lathe::deploy {

/// PREFIX/lib/lathe/runtime/MACHINE-linux-gnu/liblathe_runtime.a, for a machine as Target::machine() names it. Errors:
/// Unsupported (no library can be made for it, or not by this build: names the package that was missing), NotFound.
Result<std::filesystem::path> findRuntimeArchive(const std::string& machine);

/// liblathe_KIND.a beside it, with the DeviceDriver of a kind of target. Errors: those above; NotFound.
Result<std::filesystem::path> findDriverArchive(const std::string& kind, const std::string& machine);

/// Whether libraries can be exported for `target`, known before anything is compiled. Errors: those above; Unsupported
/// (its back end makes no libraries, another system than Linux with glibc).
Result<> checkExportable(const Target& target);

} // namespace lathe::deploy
