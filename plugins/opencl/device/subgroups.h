#pragma once

/// This is also in the libraries that Lathe exports: nothing of the C++ library is linked.

#include "plugins/opencl/device/driver.h"

#include <cstddef>
#include <string_view>

namespace lathe::opencl {

/// Subgroups whose threads exchange registers (cl_intel_subgroups, which has words for it in OpenCL C 1.2) and whose
/// width a kernel can require (cl_intel_required_subgroup_size): the widths, in threads. None: the device lacks one of
/// the two, and drivers that choose a width kernel by kernel are of no use to a schedule.
struct SubgroupWidths
{
    static constexpr std::size_t kMost = 16;
    std::size_t widths[kMost] = {}; ///< powers of two, in the driver's order
    std::size_t count = 0;

    bool has(std::size_t width) const;
    /// That which schedules are made for: 32, as on most GPUs, else the widest below it. 0: none.
    std::size_t best() const;
};

SubgroupWidths readSubgroupWidths(const Driver& driver, cl_device_id device);

/// What the kernel of a printed source requires, which is one or none (0).
std::size_t requiredWidth(std::string_view source);

} // namespace lathe::opencl
