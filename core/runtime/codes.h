#pragma once

/// Numbers that programs, plugins and stored records agree on, in C, so that every half of a plugin can include them.
/// The enumerations of core (support/errc.h, record/record.h) take their values from here. Append, never renumber.

#ifdef __cplusplus
extern "C" {
#endif

/* What a failure is about: lathe::Errc, and LatheDeviceError::code. */
enum LatheErrc
{
    LATHE_ERRC_OK = 0,
    LATHE_ERRC_INVALID_ARGUMENT = 1,
    LATHE_ERRC_NOT_FOUND = 2,
    LATHE_ERRC_UNSUPPORTED = 3,
    LATHE_ERRC_BAD_FILE = 4,
    LATHE_ERRC_ILLEGAL_SCHEDULE = 5,
    LATHE_ERRC_BUILD_FAILED = 6,
    LATHE_ERRC_BUILD_TIMEOUT = 7,
    LATHE_ERRC_RUN_TIMEOUT = 8,
    LATHE_ERRC_WRONG_ANSWER = 9,
    LATHE_ERRC_DEVICE_LOST = 10,
    LATHE_ERRC_WORKER_CRASHED = 11,
    LATHE_ERRC_CANCELLED = 12,
    LATHE_ERRC_STORE_FAILED = 13,
    LATHE_ERRC_INCOMPATIBLE = 14,
    LATHE_ERRC_INTERNAL = 15
};

/* Where a trial is, or failed: lathe::TrialStage. */
enum LatheStage
{
    LATHE_STAGE_DONE = 0,
    LATHE_STAGE_LOWER = 1,
    LATHE_STAGE_BUILD = 2,
    LATHE_STAGE_LOAD = 3,
    LATHE_STAGE_RUN = 4,
    LATHE_STAGE_VERIFY = 5,
    LATHE_STAGE_TRANSPORT = 6
};

/* What a time was taken with: LatheTiming::clock. */
enum LatheClock
{
    LATHE_CLOCK_WALL = 0,
    LATHE_CLOCK_DEVICE = 1,
    LATHE_CLOCK_MODEL = 2 /* simulators */
};

#ifdef __cplusplus
}
#endif
