#pragma once

#include "core/backend/source_language.h"

#include <span>
#include <string>
#include <string_view>

namespace lathe::backend {

/// Helpers that all languages share. Of vectors, too, where the language computes with vectors.
std::span<const SourceHelper> sharedHelpers();

/// A helper's name or text, of that type.
std::string ofType(std::string_view text, std::string_view type);

} // namespace lathe::backend
