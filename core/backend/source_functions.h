#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace lathe::backend {

/// A small function of ours that a text may need before its kernels: what core/compute/README.md asks for and the
/// language leaves open, or has otherwise.
struct SourceHelper
{
    std::string_view name; ///< with TYPE in place of the type's name
    std::string_view text;
};
std::span<const SourceHelper> sourceHelpers();

/// What functions of the intermediate representation are called in OpenCL C.
std::span<const std::pair<std::string_view, std::string_view>> languageFunctions();

/// A helper's name or text, of that type.
std::string ofType(std::string_view text, std::string_view type);

} // namespace lathe::backend
