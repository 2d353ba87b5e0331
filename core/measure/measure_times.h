#pragma once

#include <map>
#include <string>

namespace lathe::wire {
class BuildResult;
class RunResult;
} // namespace lathe::wire

namespace lathe::measure {

/// What workers did, in pieces (core/session/time_spent.h says what each is).
struct WorkerTime
{
    double seconds = 0; ///< of a builder, which has one thread: on a processor; of a runner: by the clock
    double processorSeconds = 0; ///< of all its threads
};

/// Where the time of a Measurer's life went.
struct MeasureTimes
{
    double buildSeconds = 0; ///< of the measuring thread: some builder or device's own compiler worked, else no device
    double measureSeconds = 0; ///< of the measuring thread: some device loaded, checked or ran something
    std::map<std::string, WorkerTime> workers; ///< of all processes together
};

/// What a builder and a runner tell of the time that an answer took.
void addBuild(MeasureTimes& times, const wire::BuildResult& answer);
/// @param ms  from when the runner could begin until it had answered
void addRun(MeasureTimes& times, const wire::RunResult& answer, double ms);

} // namespace lathe::measure
