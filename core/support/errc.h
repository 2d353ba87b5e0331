#pragma once

#include "core/runtime/codes.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace lathe {

/// What a person would act on. Closed: the code travels beside the message through processes, the project database and
/// the window, where failures are counted and coloured by it. The values are those of the
/// header that plugins include (core/runtime/codes.h).
enum class Errc : std::uint8_t
{
    Ok = LATHE_ERRC_OK, ///< only inside stored results; an Error never carries it
    InvalidArgument = LATHE_ERRC_INVALID_ARGUMENT, ///< the caller's or the user's words are off
    NotFound = LATHE_ERRC_NOT_FOUND,
    Unsupported = LATHE_ERRC_UNSUPPORTED, ///< understood, but this build or back end cannot do it
    BadFile = LATHE_ERRC_BAD_FILE, ///< truncated, hostile, or not what its name says
    IllegalSchedule =
        LATHE_ERRC_ILLEGAL_SCHEDULE, ///< steps that do not apply to the compute DAG, or break a hardware limit
    BuildFailed = LATHE_ERRC_BUILD_FAILED,
    BuildTimeout = LATHE_ERRC_BUILD_TIMEOUT,
    RunTimeout = LATHE_ERRC_RUN_TIMEOUT,
    WrongAnswer = LATHE_ERRC_WRONG_ANSWER,
    DeviceLost = LATHE_ERRC_DEVICE_LOST,
    WorkerCrashed = LATHE_ERRC_WORKER_CRASHED,
    Cancelled = LATHE_ERRC_CANCELLED,
    StoreFailed = LATHE_ERRC_STORE_FAILED, ///< disk full, read-only, locked, damaged
    Incompatible = LATHE_ERRC_INCOMPATIBLE, ///< another version, build id, schema or target
    Internal = LATHE_ERRC_INTERNAL ///< our bug, or a library's exception
};

/// "RunTimeout"; stable, used in JSON and SQL.
std::string_view toString(Errc code);
std::optional<Errc> errcFromString(std::string_view name);

} // namespace lathe
