#pragma once

#include "core/runtime/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lathe {

/// Bytes of the buffer of one entry of "parameters" in an artifact's descriptor: from the first element that its map
/// names to the last one. `Json` is the library's type, which the runtime itself does not know; its exceptions come
/// out.
template<typename Json>
std::size_t parameterBytes(const Json& parameter)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 56; // elements: more overflow, and no machine has room
    std::int64_t last = 0;
    for (const Json& axis : parameter.at("map").at("axes")) { // [dim, div, extent, stride]
        const auto extent = axis.at(2).template get<std::int64_t>(), stride = axis.at(3).template get<std::int64_t>();
        std::int64_t reach = 0;
        if (extent > kMost || extent < 0 || __builtin_mul_overflow(extent - 1, stride, &reach) || reach > kMost
            || reach < -kMost || (last += reach) > kMost || last < -kMost)
            throw Json::other_error::create(500, "a parameter is larger than any memory", &parameter);
    }
    const auto dtype = parameter.at("dtype").template get<std::string>();
    for (int t = 0; t <= static_cast<int>(DType::F64); ++t)
        if (dtype == toString(static_cast<DType>(t)))
            return static_cast<std::size_t>((last + 1) * sizeOf(static_cast<DType>(t)));
    throw Json::other_error::create(500, "unknown dtype", &parameter);
}

/// Appends the names and the bytes of the parameters of a kernel of a descriptor, in its order.
template<typename Json>
void readParameters(const Json& kernel, std::vector<std::string>& names, std::vector<std::size_t>& bytes)
{
    for (const Json& parameter : kernel.at("parameters")) {
        names.push_back(parameter.at("name").template get<std::string>());
        bytes.push_back(parameterBytes(parameter));
    }
}

/// One entry of "launches" of a kernel.
struct DescribedLaunch
{
    std::string symbol;
    std::vector<std::size_t> buffers; ///< below the number of parameters: one of these; above: scratch
    std::array<std::uint64_t, 3> grid = {}, block = {};
    std::uint64_t sharedBytes = 0;
};

/// A kernel of launches of a descriptor: its parameters, its scratch, and what `make` makes of each DescribedLaunch.
template<typename Json, typename Kernel, typename Make>
void readLaunches(const Json& entry, Kernel& kernel, const Make& make)
{
    readParameters(entry, kernel.parameters, kernel.parameterBytes);
    kernel.scratchBytes = entry.at("scratch").template get<std::vector<std::size_t>>();
    const std::size_t buffers = kernel.parameters.size() + kernel.scratchBytes.size();
    for (const Json& one : entry.at("launches")) {
        DescribedLaunch launch;
        launch.symbol = one.at("symbol").template get<std::string>();
        launch.buffers = one.at("buffers").template get<std::vector<std::size_t>>();
        for (const std::size_t buffer : launch.buffers)
            if (buffer >= buffers)
                throw Json::other_error::create(500, "a launch takes a buffer that its kernel does not have", &one);
        launch.grid = one.at("grid").template get<std::array<std::uint64_t, 3>>();
        launch.block = one.at("block").template get<std::array<std::uint64_t, 3>>();
        launch.sharedBytes = one.at("shared_bytes").template get<std::uint64_t>();
        kernel.launches.push_back(make(std::move(launch)));
    }
}

} // namespace lathe
