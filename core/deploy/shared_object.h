#pragma once

#include "core/support/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace lathe::deploy {

/// What a shared object says about itself in its dynamic section: read from the file, nothing is loaded.
struct SharedObjectFacts
{
    std::string machine; ///< as Target::machine() names it; empty: another than libraries are exported for
    std::string soname;
    std::vector<std::string> needed; ///< DT_NEEDED
    std::vector<std::string> exported; ///< defined dynamic symbols
    struct Import
    {
        std::string symbol;
        std::string version; ///< "GLIBC_2.17", or ""
    };
    std::vector<Import> imported;
};

/// Errors: NotFound, BadFile (no 64-bit little-endian shared object, or damaged).
Result<SharedObjectFacts> readSharedObject(const std::filesystem::path& file);

/// NAME of a deploy library, from its exported lathe_NAME_api_version. Errors: those above; BadFile if it is none.
Result<std::string> findLibraryName(const std::filesystem::path& file);

} // namespace lathe::deploy
