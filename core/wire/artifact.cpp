#include "core/wire/artifact.h"

#include "core/runtime/layout_transform.h"
#include "core/support/json_values.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace lathe {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 3> kRoles = {"input", "constant", "output"};
constexpr std::array<const char*, 2> kForms = {"phases", "launches"};
constexpr std::int64_t kMaxElements = std::int64_t(1) << 40;
constexpr std::int64_t kMaxScratchBytes = std::int64_t(1) << 36;

Error bad(std::string_view what)
{
    return makeError(Errc::BadFile, fmt::format("artifact description: {}", what));
}

Result<std::int64_t> integer(const json& j, const char* key, std::int64_t low, std::int64_t high)
{
    const auto it = j.find(key);
    if (it == j.end() || !it->is_number_integer())
        return bad(fmt::format("\"{}\" is missing or no integer", key));
    std::int64_t value = 0;
    if (!takeJson(*it, value))
        return bad(fmt::format("\"{}\" is out of range", key));
    if (value < low || value > high)
        return bad(fmt::format("\"{}\" is {}, not in [{}, {}]", key, value, low, high));
    return value;
}

Result<std::string> text(const json& j, const char* key)
{
    const auto it = j.find(key);
    if (it == j.end() || !it->is_string())
        return bad(fmt::format("\"{}\" is missing or no text", key));
    return it->get<std::string>();
}

Result<const json*> array(const json& j, const char* key, std::size_t maxSize)
{
    const auto it = j.find(key);
    if (it == j.end() || !it->is_array() || it->size() > maxSize)
        return bad(fmt::format("\"{}\" is missing, no list, or longer than {}", key, maxSize));
    return &*it;
}

/// a * b, nothing if it is above kMaxElements. Both are not negative.
std::optional<std::int64_t> times(std::int64_t a, std::int64_t b)
{
    if (a != 0 && b > kMaxElements / a)
        return std::nullopt;
    return a * b;
}

json mapToJson(const IndexMap& map)
{
    json shape = json::array();
    for (int d = 0; d < map.logicalRank; ++d)
        shape.push_back(map.logicalShape[d]);
    json axes = json::array();
    for (int a = 0; a < map.physicalRank; ++a)
        axes.push_back({map.axes[a].dim, map.axes[a].div, map.axes[a].extent, map.axes[a].stride});
    return {{"shape", std::move(shape)}, {"axes", std::move(axes)}};
}

Result<IndexMap> mapFromJson(const json& j)
{
    IndexMap map;
    LATHE_TRY_ASSIGN(const json* shape, array(j, "shape", kMaxRank));
    LATHE_TRY_ASSIGN(const json* axes, array(j, "axes", kMaxPhysicalRank));
    std::int64_t logical = 1;
    for (const json& extent : *shape) {
        if (!extent.is_number_integer() || extent < 1 || extent > kMaxElements)
            return bad("a dimension of a shape is no positive integer");
        const auto value = extent.get<std::int64_t>();
        const auto product = times(logical, value);
        if (!product)
            return bad("a tensor is too large");
        logical = *product;
        map.logicalShape[map.logicalRank++] = value;
    }
    std::int64_t last = 0;
    for (const json& axis : *axes) {
        if (!axis.is_array() || axis.size() != 4)
            return bad("an axis is not [dim, div, extent, stride]");
        for (const json& part : axis)
            if (!part.is_number_integer() || part < 0 || part > kMaxElements)
                return bad("a number of an axis is out of range");
        IndexMap::Axis a;
        const auto dim = axis[0].get<std::int64_t>();
        a.div = axis[1].get<std::int64_t>();
        a.extent = axis[2].get<std::int64_t>();
        a.stride = axis[3].get<std::int64_t>();
        if (dim >= map.logicalRank || a.div < 1 || a.extent < 1)
            return bad("an axis names no dimension of the tensor, or has no extent");
        a.dim = static_cast<std::int32_t>(dim);
        const auto reach = times(a.extent - 1, a.stride);
        if (!reach || (last += *reach) > kMaxElements)
            return bad("a physical tensor is too large");
        map.axes[map.physicalRank++] = a;
    }
    // Each logical element has a place of its own: so there are no more of them than the tensor holds.
    if (!isWellFormed(map) || logical > map.elementCount())
        return bad("the axes do not give every element of the tensor its own place");
    return map;
}

json launchToJson(const LaunchInfo& launch)
{
    return {{"symbol", launch.symbol},
            {"buffers", launch.buffers},
            {"grid", launch.grid},
            {"block", launch.block},
            {"shared_bytes", launch.sharedBytes}};
}

Result<std::array<std::int64_t, 3>> sizesFromJson(const json& j, const char* key, std::int64_t most)
{
    LATHE_TRY_ASSIGN(const json* sizes, array(j, key, 3));
    if (sizes->size() != 3)
        return bad(fmt::format("\"{}\" is not [x, y, z]", key));
    std::array<std::int64_t, 3> read = {};
    for (std::size_t d = 0; d < 3; ++d)
        if (!(*sizes)[d].is_number_integer() || !takeJson((*sizes)[d], read[d]) || read[d] < 1 || read[d] > most)
            return bad(fmt::format("a number of \"{}\" is not in [1, {}]", key, most));
    return read;
}

/// `reachable`: how many buffers the kernel has, parameters and scratch.
Result<LaunchInfo> launchFromJson(const json& j, std::size_t reachable)
{
    if (!j.is_object())
        return bad("a launch is no object");
    LaunchInfo launch;
    LATHE_TRY_ASSIGN(launch.symbol, text(j, "symbol"));
    if (launch.symbol.empty())
        return bad("a launch has no symbol");
    LATHE_TRY_ASSIGN(launch.grid, sizesFromJson(j, "grid", kMostBlocks));
    LATHE_TRY_ASSIGN(launch.block, sizesFromJson(j, "block", kMostThreads));
    if (launch.block[0] * launch.block[1] * launch.block[2] > kMostThreads)
        return bad(fmt::format("a block of a launch has more than {} threads", kMostThreads));
    LATHE_TRY_ASSIGN(launch.sharedBytes, integer(j, "shared_bytes", 0, static_cast<std::int64_t>(kMostSharedBytes)));
    LATHE_TRY_ASSIGN(const json* buffers, array(j, "buffers", kMostLaunches));
    for (const json& buffer : *buffers) {
        std::int32_t index = 0;
        if (!buffer.is_number_integer() || !takeJson(buffer, index) || index < 0
            || static_cast<std::size_t>(index) >= reachable)
            return bad("a launch takes a buffer that the kernel does not have");
        launch.buffers.push_back(index);
    }
    return launch;
}

json kernelToJson(const KernelInfo& kernel)
{
    json parameters = json::array();
    for (const ArgSpec& parameter : kernel.parameters)
        parameters.push_back(toJson(parameter));
    json j = {{"name", kernel.name},
              {"form", kForms[static_cast<std::size_t>(kernel.form)]},
              {"parameters", std::move(parameters)}};
    if (kernel.form == KernelForm::Phases) {
        j["phases"] = kernel.phases;
        j["team_scratch_bytes"] = kernel.teamScratchBytes;
        j["part_scratch_bytes"] = kernel.partScratchBytes;
    } else {
        json& launches = j["launches"] = json::array();
        for (const LaunchInfo& launch : kernel.launches)
            launches.push_back(launchToJson(launch));
        j["scratch"] = kernel.scratch;
    }
    return j;
}

Result<> takePhases(const json& j, KernelInfo& kernel)
{
    LATHE_TRY_ASSIGN(kernel.teamScratchBytes, integer(j, "team_scratch_bytes", 0, kMaxScratchBytes));
    LATHE_TRY_ASSIGN(kernel.partScratchBytes, integer(j, "part_scratch_bytes", 0, kMaxScratchBytes));
    LATHE_TRY_ASSIGN(const json* phases, array(j, "phases", 4096));
    for (const json& phase : *phases) {
        if (!phase.is_string())
            return bad("a phase has no name");
        kernel.phases.push_back(phase.get<std::string>());
    }
    return {};
}

/// Behind the parameters.
Result<> takeLaunches(const json& j, KernelInfo& kernel)
{
    LATHE_TRY_ASSIGN(const json* scratch, array(j, "scratch", kMostLaunches));
    std::int64_t all = 0;
    for (const json& buffer : *scratch) {
        std::int64_t bytes = 0;
        if (!buffer.is_number_integer() || !takeJson(buffer, bytes) || bytes < 1 || bytes > kMaxScratchBytes - all)
            return bad("a scratch buffer is out of range");
        all += bytes;
        kernel.scratch.push_back(bytes);
    }
    LATHE_TRY_ASSIGN(const json* launches, array(j, "launches", kMostLaunches));
    if (launches->empty())
        return bad("a kernel of launches has none");
    for (const json& launch : *launches) {
        LATHE_TRY_ASSIGN(LaunchInfo info, launchFromJson(launch, kernel.parameters.size() + kernel.scratch.size()));
        kernel.launches.push_back(std::move(info));
    }
    return {};
}

Result<KernelInfo> kernelFromJson(const json& j)
{
    KernelInfo kernel;
    LATHE_TRY_ASSIGN(kernel.name, text(j, "name"));
    LATHE_TRY_ASSIGN(const std::string form, text(j, "form"));
    const auto known = std::find(kForms.begin(), kForms.end(), form);
    if (known == kForms.end())
        return bad(fmt::format("\"{}\" is no form of a kernel", form));
    kernel.form = static_cast<KernelForm>(known - kForms.begin());
    LATHE_TRY_ASSIGN(const json* parameters, array(j, "parameters", 4096));
    for (const json& parameter : *parameters) {
        LATHE_TRY_ASSIGN(ArgSpec spec, argSpecFromJson(parameter));
        kernel.parameters.push_back(std::move(spec));
    }
    if (kernel.form == KernelForm::Phases)
        LATHE_TRY(takePhases(j, kernel));
    else
        LATHE_TRY(takeLaunches(j, kernel));
    return kernel;
}

} // namespace

json toJson(const ArgSpec& spec)
{
    return {{"name", spec.name},
            {"role", kRoles[static_cast<std::size_t>(spec.role)]},
            {"dtype", toString(spec.dtype)},
            {"map", mapToJson(spec.map)}};
}

Result<ArgSpec> argSpecFromJson(const json& j)
{
    if (!j.is_object())
        return bad("a parameter is no object");
    ArgSpec spec;
    LATHE_TRY_ASSIGN(spec.name, text(j, "name"));
    LATHE_TRY_ASSIGN(const std::string role, text(j, "role"));
    const auto known = std::find(kRoles.begin(), kRoles.end(), role);
    if (known == kRoles.end())
        return bad(fmt::format("\"{}\" is no role of a parameter", role));
    spec.role = static_cast<ArgRole>(known - kRoles.begin());
    LATHE_TRY_ASSIGN(const std::string dtype, text(j, "dtype"));
    bool found = false;
    for (int t = 0; t <= static_cast<int>(DType::F64) && !found; ++t) {
        spec.dtype = static_cast<DType>(t);
        found = dtype == toString(spec.dtype);
    }
    if (!found)
        return bad(fmt::format("\"{}\" is no element type", dtype));
    const auto map = j.find("map");
    if (map == j.end() || !map->is_object())
        return bad("a parameter has no map");
    LATHE_TRY_ASSIGN(spec.map, mapFromJson(*map));
    return spec;
}

json toJson(const ArtifactDescriptor& descriptor)
{
    json kernels = json::array();
    for (const KernelInfo& kernel : descriptor.kernels)
        kernels.push_back(kernelToJson(kernel));
    return {{"format", descriptor.format},
            {"target", descriptor.target},
            {"kernels", std::move(kernels)},
            {"features", descriptor.features}};
}

Result<ArtifactDescriptor> artifactDescriptorFromJson(const json& j)
{
    if (!j.is_object())
        return bad("it is no object");
    ArtifactDescriptor descriptor;
    LATHE_TRY_ASSIGN(descriptor.format, text(j, "format"));
    LATHE_TRY_ASSIGN(descriptor.target, text(j, "target"));
    LATHE_TRY_ASSIGN(const json* kernels, array(j, "kernels", 65536));
    for (const json& kernel : *kernels) {
        if (!kernel.is_object())
            return bad("a kernel is no object");
        LATHE_TRY_ASSIGN(KernelInfo info, kernelFromJson(kernel));
        descriptor.kernels.push_back(std::move(info));
    }
    if (j.contains("features")) {
        LATHE_TRY_ASSIGN(const json* features, array(j, "features", 4096));
        for (const json& feature : *features) {
            if (!feature.is_string())
                return bad("a feature has no name");
            descriptor.features.push_back(feature.get<std::string>());
        }
    }
    return descriptor;
}

} // namespace lathe
