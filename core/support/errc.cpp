#include "core/support/errc.h"

#include <array>

namespace lathe {

namespace {
constexpr std::array<std::string_view, 16> kNames = {"Ok",         "InvalidArgument", "NotFound",     "Unsupported",
                                                     "BadFile",    "IllegalSchedule", "BuildFailed",  "BuildTimeout",
                                                     "RunTimeout", "WrongAnswer",     "DeviceLost",   "WorkerCrashed",
                                                     "Cancelled",  "StoreFailed",     "Incompatible", "Internal"};
}

std::string_view toString(Errc code)
{
    const auto i = static_cast<std::size_t>(code);
    return i < kNames.size() ? kNames[i] : "Internal";
}

std::optional<Errc> errcFromString(std::string_view name)
{
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == name)
            return static_cast<Errc>(i);
    return std::nullopt;
}

} // namespace lathe
