#pragma once

#include "core/runtime/dtype.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe {

/// Bytes of the buffer of one entry of "parameters" in an artifact's descriptor: from the first element that its map
/// names to the last one. `Json` is the library's type, which the runtime itself does not know; its exceptions come
/// out.
template<typename Json>
std::size_t parameterBytes(const Json& parameter)
{
    std::int64_t last = 0;
    for (const Json& axis : parameter.at("map").at("axes")) // [dim, div, extent, stride]
        last += (axis.at(2).template get<std::int64_t>() - 1) * axis.at(3).template get<std::int64_t>();
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

} // namespace lathe
