#pragma once

#include "core/support/result.h"

#include <filesystem>

namespace lathe {

/// Whether nobody but root, the owner of this program and who runs it can have put code into a shared object that the
/// installation loads: it belongs to one of them, and neither it nor its folder may be written to by everybody (a
/// folder with the sticky bit may be). A group may be allowed to, as those who install together are one. Where
/// everybody may write to the program itself, as on file systems without permissions, nothing is refused. Errors:
/// Incompatible; none for a file that is not there.
Result<> checkTrusted(const std::filesystem::path& file);

/// The same, with `program` in place of the running one.
Result<> checkTrusted(const std::filesystem::path& file, const std::filesystem::path& program);

} // namespace lathe
