#include "plugins/opencl/device/subgroups.h"

#include "plugins/opencl/device/extensions.h"

#include <cstdlib>

namespace lathe::opencl {
namespace {

constexpr cl_device_info kSubgroupSizes = 0x4108; // of cl_intel_required_subgroup_size
constexpr std::size_t kWidestWanted = 32;

} // namespace

bool SubgroupWidths::has(std::size_t width) const
{
    for (std::size_t i = 0; i < count; ++i)
        if (widths[i] == width)
            return true;
    return false;
}

std::size_t SubgroupWidths::best() const
{
    std::size_t widest = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (widths[i] <= kWidestWanted && widths[i] > widest)
            widest = widths[i];
    return widest > 1 ? widest : 0;
}

SubgroupWidths readSubgroupWidths(const Driver& driver, cl_device_id device)
{
    char* const listed = listExtensions(driver, device);
    const bool areThere = listed != nullptr && listsExtension(listed, "cl_intel_subgroups")
                          && listsExtension(listed, "cl_intel_required_subgroup_size");
    std::free(listed);
    SubgroupWidths known;
    std::size_t told[SubgroupWidths::kMost] = {};
    std::size_t bytes = 0;
    if (!areThere || driver.getDeviceInfo(device, kSubgroupSizes, 0, nullptr, &bytes) != CL_SUCCESS
        || bytes > sizeof told || driver.getDeviceInfo(device, kSubgroupSizes, bytes, told, nullptr) != CL_SUCCESS)
        return known;
    for (std::size_t i = 0; i < bytes / sizeof told[0]; ++i)
        if (told[i] > 0 && (told[i] & (told[i] - 1)) == 0)
            known.widths[known.count++] = told[i];
    return known;
}

std::size_t requiredWidth(std::string_view source)
{
    constexpr std::string_view kWords = "intel_reqd_sub_group_size(";
    const std::size_t at = source.find(kWords);
    if (at == std::string_view::npos)
        return 0;
    constexpr std::size_t kMostDigits = 6;
    std::size_t width = 0;
    for (std::size_t i = 0; i < kMostDigits && at + kWords.size() + i < source.size(); ++i) {
        const char digit = source[at + kWords.size() + i];
        if (digit < '0' || digit > '9')
            break;
        width = 10 * width + static_cast<std::size_t>(digit - '0');
    }
    return width;
}

} // namespace lathe::opencl
