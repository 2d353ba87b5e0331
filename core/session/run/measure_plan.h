#pragma once

#include "core/measure/measurer.h"
#include "core/search/search_task.h"
#include "core/session/loaded_model.h"
#include "core/target/backend_traits.h"

namespace lathe::session {

// How candidates are measured: by a run, and when a trial is measured again.

/// The caches that a run's candidates meet on a device of that clock, as lathe::coldBytes() says of its records.
std::int64_t coldBytesOf(const TuneOptions& options, const LoadedModel& model, CostClock clock);

/// The plan for one candidate that meets such caches; it is never cut short.
measure::RunPlan planOf(const TuneOptions& options, std::int64_t coldBytes);

/// A RunPlan::contenderFactor: no candidate is that much faster than the best, so each is timed for a few milliseconds
/// only.
inline constexpr double kGlanceOnly = 1e-9;

/// With the devices that the options ask for, all of one class; all of the first one's, where they ask for none.
/// Errors: those of DeviceDirectory::pick() and remoteClaim().
Result<measure::MeasurerOptions> measurerOptions(const TuneOptions& options, const LoadedModel& model);

/// The class that all of the devices belong to. InvalidArgument: there are two classes, whose costs do not compare;
/// NotFound: there is no device.
Result<std::string> classOf(std::span<const DeviceIdentity> devices);

/// What all candidates of an alternative share, with the points at which their outputs are checked, as closely as the
/// target can.
Result<measure::TaskDataPtr> checkedData(const search::SearchAlternative& alternative, const Target& target);

} // namespace lathe::session
