#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::deploy {

/// The files that an export writes: the library, and beside it NAME.h, NAME.json and NAME_example.c, .cpp and .py.
struct ExportedFiles
{
    std::filesystem::path library, header, description;
    std::vector<std::filesystem::path> examples; ///< C, C++, Python

    /// `name` as of libraryName().
    static ExportedFiles of(const std::filesystem::path& library, const std::string& name);
    std::vector<std::filesystem::path> all() const;
};

/// Stands in the first lines of each text that an export writes: an export replaces the files that have it, and none
/// but those.
inline constexpr std::string_view kOwnMark = "Lathe writes this file anew with every export";

/// Those that are there and are not known to be Lathe's: without the mark or, for the library, no exported network.
/// An empty file is nobody's.
std::vector<std::filesystem::path> foreignFiles(const ExportedFiles& files);

/// Whether all of them can be written. Errors: InvalidArgument (no folder, a folder of that name, two of one name, or,
/// unless `overwrite`, foreign files, all of them named).
Result<> checkDestination(const ExportedFiles& files, bool overwrite);

} // namespace lathe::deploy
