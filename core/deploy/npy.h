#pragma once

#include "core/deploy/port_info.h"
#include "core/graph/operator.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::deploy {

// NumPy's .npy files, versions 1 to 3, C order, little endian. NumPy has no bfloat16: such tensors are written as
// uint16, which hold the bits; read are these, and what NumPy writes of the type that the package ml_dtypes adds (V2).

/// Errors: NotFound, BadFile, Unsupported (Fortran order, other element types).
Result<graph::HostTensor> readNpy(const std::filesystem::path& file);
/// For this port, which gives 16 bits their meaning. Where its size depends on data, the tensor has the true one.
/// Errors: also InvalidArgument (another type or shape).
Result<graph::HostTensor> readNpy(const std::filesystem::path& file, const PortInfo& port);
Result<> writeNpy(const std::filesystem::path& file, const graph::HostTensor& tensor);

// The same from and to memory; `name` stands in the errors.
Result<graph::HostTensor> parseNpy(std::string_view bytes, std::string_view name);
Result<std::string> formatNpy(const graph::HostTensor& tensor);
/// What stands in such a file before the values.
std::string npyHeader(const graph::TensorType& type);

/// The element type by which .npy files hold a tensor, where that is not its own: uint16 for bfloat16.
DType npyTypeOf(DType dtype);

/// A file name for each port, all different: '/' becomes '_'.
std::vector<std::string> npyFileNames(const std::vector<PortInfo>& ports);

/// What the words NAME=FILE.npy of --input give, in the order of the ports; nothing for ports that none names. Errors:
/// InvalidArgument (another form, no such input, twice the same, another type or shape), those of readNpy().
Result<std::vector<std::optional<graph::HostTensor>>> readInputs(const std::vector<PortInfo>& ports,
                                                                 const std::vector<std::string>& words);

} // namespace lathe::deploy
