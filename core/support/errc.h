#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lathe {

/// What a person would act on. Closed: the code travels beside the message through processes, the project database and
/// the window, where failures are counted and coloured by it. Values are stored: append, never renumber.
enum class Errc : std::uint8_t
{
    Ok = 0, ///< only inside stored results; an Error never carries it
    InvalidArgument = 1, ///< the caller's or the user's words are off
    NotFound = 2,
    Unsupported = 3, ///< understood, but this build or back end cannot do it
    BadFile = 4, ///< truncated, hostile, or not what its name says
    IllegalSchedule = 5, ///< steps that do not apply to the compute DAG, or break a hardware limit
    BuildFailed = 6,
    BuildTimeout = 7,
    RunTimeout = 8,
    WrongAnswer = 9,
    DeviceLost = 10,
    WorkerCrashed = 11,
    Cancelled = 12,
    StoreFailed = 13, ///< disk full, read-only, locked, damaged
    Incompatible = 14, ///< another version, build id, schema or target
    Internal = 15 ///< our bug, or a library's exception
};

/// "RunTimeout"; stable, used in JSON and SQL.
std::string_view toString(Errc code);
std::optional<Errc> errcFromString(std::string_view name);

} // namespace lathe
