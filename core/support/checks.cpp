#include "core/support/checks.h"

#include <cstdlib>
#include <string_view>

namespace lathe {

bool checksAreOn()
{
    static const bool on = [] {
        const char* const given = std::getenv("LATHE_CHECKS");
        return given != nullptr && std::string_view(given) == "1";
    }();
    return on;
}

} // namespace lathe
