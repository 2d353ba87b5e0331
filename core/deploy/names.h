#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace lathe::deploy {

/// Letters, digits and underscores, not starting with a digit; other characters become one underscore. Empty: "model".
std::string cIdentifier(std::string_view text);

/// NAME of a library: `wanted`, else the file's stem without "lib", made a C identifier, else "model".
std::string libraryName(std::string_view wanted, const std::filesystem::path& file);

} // namespace lathe::deploy
