#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lathe::deploy {

/// Files of resources/deploy, with @NAME@ where the library's name goes.
extern const std::string_view kHeaderTemplate;
extern const std::string_view kExampleC;
extern const std::string_view kExampleCpp;
extern const std::string_view kExamplePython;

/// @NAME@ replaced, everywhere.
std::string fillTemplate(std::string_view text, std::string_view name);

/// Suffixes of the functions that the header declares: "run", "create" ... The header is their one truth.
std::vector<std::string> interfaceFunctions();

} // namespace lathe::deploy
