#pragma once

#include "core/graph/graph.h"
#include "core/support/mapped_file.h"
#include "core/support/result.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>

namespace onnx {
class TensorProto;
}

namespace lathe::frontend::onnx_detail {

/// Lathe's element type for a number of the schema's TensorProto.DataType; empty if there is none.
std::optional<DType> dtypeOf(std::int64_t dataType);
/// Name of a data type of the schema, for messages: "STRING", or its number.
std::string dataTypeText(std::int64_t dataType);
/// Number of the schema for an element type.
int dataTypeOf(DType dtype);

struct ConstTensor
{
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    std::shared_ptr<const graph::ConstData> data;
    std::shared_ptr<const graph::Provenance> provenance = nullptr;
};

/// Turns TensorProtos into constants. Files with external data are opened once and kept by the constants.
class TensorReader
{
public:
    /// Files with external data are read into memory while they come to less than `mapFrom` bytes together, else
    /// mapped.
    TensorReader(std::filesystem::path folder, std::size_t mapFrom)
        : m_folder(std::move(folder))
        , m_mapFrom(mapFrom)
    {
    }

    /// Takes the raw bytes out of `proto` instead of copying them. `raw`: those that were cut out of it
    /// (weight_cutter.h), in `file`. Errors: BadFile where sizes, counts or paths do not fit; Unsupported for element
    /// types that Lathe lacks.
    Result<ConstTensor> read(::onnx::TensorProto& proto, std::span<const std::byte> raw = {},
                             std::shared_ptr<const MappedFile> file = {});

    /// Sizes of all files with external data.
    std::int64_t externalBytes() const { return m_externalBytes; }

private:
    Result<std::shared_ptr<const graph::ConstData>> external(const ::onnx::TensorProto& proto, std::size_t bytes);
    Result<std::shared_ptr<const MappedFile>> opened(const std::string& location);

    std::filesystem::path m_folder;
    std::size_t m_mapFrom;
    std::map<std::string, std::shared_ptr<const MappedFile>> m_files;
    std::int64_t m_externalBytes = 0;
};

} // namespace lathe::frontend::onnx_detail
