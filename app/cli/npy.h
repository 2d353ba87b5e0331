#pragma once

#include "core/deploy/port_info.h"
#include "core/graph/operator.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::cli {

/// NumPy's .npy files, versions 1 to 3, C order, little endian. Errors: NotFound, BadFile, Unsupported (Fortran order,
/// other element types).
Result<graph::HostTensor> readNpy(const std::filesystem::path& file);
Result<> writeNpy(const std::filesystem::path& file, const graph::HostTensor& tensor);

// The same from and to memory; `name` stands in the errors.
Result<graph::HostTensor> parseNpy(std::string_view bytes, std::string_view name);
Result<std::string> formatNpy(const graph::HostTensor& tensor);

/// A file name for each port, all different: '/' becomes '_'.
std::vector<std::string> npyFileNames(const std::vector<deploy::PortInfo>& ports);

} // namespace lathe::cli
