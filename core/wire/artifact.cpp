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

json kernelToJson(const KernelInfo& kernel)
{
    json parameters = json::array();
    for (const ArgSpec& parameter : kernel.parameters)
        parameters.push_back(toJson(parameter));
    return {{"name", kernel.name},
            {"phases", kernel.phases},
            {"team_scratch_bytes", kernel.teamScratchBytes},
            {"part_scratch_bytes", kernel.partScratchBytes},
            {"parameters", std::move(parameters)}};
}

Result<KernelInfo> kernelFromJson(const json& j)
{
    KernelInfo kernel;
    LATHE_TRY_ASSIGN(kernel.name, text(j, "name"));
    LATHE_TRY_ASSIGN(kernel.teamScratchBytes, integer(j, "team_scratch_bytes", 0, kMaxScratchBytes));
    LATHE_TRY_ASSIGN(kernel.partScratchBytes, integer(j, "part_scratch_bytes", 0, kMaxScratchBytes));
    LATHE_TRY_ASSIGN(const json* phases, array(j, "phases", 4096));
    for (const json& phase : *phases) {
        if (!phase.is_string())
            return bad("a phase has no name");
        kernel.phases.push_back(phase.get<std::string>());
    }
    LATHE_TRY_ASSIGN(const json* parameters, array(j, "parameters", 4096));
    for (const json& parameter : *parameters) {
        LATHE_TRY_ASSIGN(ArgSpec spec, argSpecFromJson(parameter));
        kernel.parameters.push_back(std::move(spec));
    }
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
