#pragma once

#include "core/session/views.h"
#include "core/support/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::store {
class Project;
}

namespace lathe::session {

/// From a device half's JSON (device_abi.h, limits); unknown where it says nothing.
DeviceLimits limitsFromJson(const std::string& json);
/// As the latest run for the target measured them; unknown if none did.
DeviceLimits latestLimits(const store::Project& project, std::string_view target);
/// Opens a device of the target and measures. Errors: NotFound, DeviceLost; Unsupported if the device has no such
/// limits.
Result<DeviceLimits> measureLimits(const std::string& target);

/// A task beside the limits.
struct RooflineRow
{
    std::int32_t task = -1;
    double bytes = 0; ///< TaskView::bytes
    std::string level; ///< from which most of the least time's bytes come
    double computeMs = kUnknown, memoryMs = kUnknown; ///< least times by either limit
    double lowerBoundMs = kUnknown; ///< the greater of both
    double shareOfLimit = kUnknown; ///< that over the best latency
    double gflops = kUnknown, gbytesPerS = kUnknown; ///< of the best latency
    /// The best program does fewer operations than its operator is counted with, as winograd's: `gflops` and
    /// `shareOfLimit` are of the count, and the latter may pass 1.
    bool effective = false;
    bool memoryBound() const { return memoryMs > computeMs; }
};
/// `tasks` are all of a network: activations come from the fastest level as far as it holds them, the rest from the
/// next one, and so on; weights from the fastest that holds the weights of all, since the others' pass between two uses
/// of one.
std::vector<RooflineRow> roofline(std::span<const TaskView> tasks, const DeviceLimits& limits);
/// RooflineRow::effective of a task's best program.
bool isEffective(const TaskView& task);
/// Fills TaskView::lowerBoundMs.
void setLeastMs(std::span<TaskView> tasks, const DeviceLimits& limits);

} // namespace lathe::session
