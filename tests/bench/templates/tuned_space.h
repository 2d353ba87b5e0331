#pragma once

#include "core/templates/template_table.h"

#include <functional>
#include <string>
#include <vector>

namespace lathe::bench {

/// A space whose costs are known, so that tuners can be raced on it without a device.
struct TunedSpace
{
    std::string name;
    templates::ConfigSpace space;
    /// What a configuration takes, without noise; infinite: it fails.
    std::function<double(std::uint64_t)> seconds;
    double best = 0; ///< the least of all, or of those that were looked at where the space is huge
};

/// Convolutions of resnet-18 and dense layers of the templates for processors, and with `huge` a convolution for GPUs:
/// their spaces as they are, and costs that are made up but behave like real ones (made_up_costs.cpp).
std::vector<TunedSpace> madeUpSpaces(bool huge);

/// A file of measured times: in the first line the workload as JSON (workload.h), then a line `index<TAB>seconds` for
/// each configuration; `inf`: it failed. Those that the file lacks fail. Errors: NotFound, BadFile.
Result<TunedSpace> readMeasuredSpace(const std::string& path, const templates::TemplateFacts& facts);

} // namespace lathe::bench
