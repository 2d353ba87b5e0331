#include "core/frontend/onnx/tensor_data.h"

#include "core/frontend/onnx/schema.h"
#include "core/support/element_count.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace lathe::frontend::onnx_detail {
namespace {

using ::onnx::TensorProto;

std::string nameOf(const TensorProto& proto)
{
    return proto.name().empty() ? std::string("a tensor") : fmt::format("tensor \"{}\"", proto.name());
}

Error bad(const TensorProto& proto, std::string_view what)
{
    return makeError(Errc::BadFile, say(Msg::TensorBroken, nameOf(proto), what));
}

/// Stores typed values of the schema's repeated fields; each is kept in the width of T.
template<typename T, typename Field>
Result<std::shared_ptr<const graph::ConstData>> packed(const TensorProto& proto, const Field& field,
                                                       std::int64_t elements)
{
    if (field.size() != elements)
        return bad(proto, fmt::format("has {} values where its shape asks for {}", field.size(), elements));
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(elements));
    for (const auto value : field)
        values.push_back(static_cast<T>(value));
    return graph::makeConst(values.data(), values.size() * sizeof(T));
}

Result<std::shared_ptr<const graph::ConstData>> typedData(const TensorProto& proto, DType dtype, std::int64_t elements)
{
    switch (dtype) {
    case DType::F32: return packed<float>(proto, proto.float_data(), elements);
    case DType::F64: return packed<double>(proto, proto.double_data(), elements);
    case DType::I64: return packed<std::int64_t>(proto, proto.int64_data(), elements);
    case DType::U64: return packed<std::uint64_t>(proto, proto.uint64_data(), elements);
    case DType::U32: return packed<std::uint32_t>(proto, proto.uint64_data(), elements);
    case DType::I32: return packed<std::int32_t>(proto, proto.int32_data(), elements);
    case DType::I16: return packed<std::int16_t>(proto, proto.int32_data(), elements);
    case DType::I8: return packed<std::int8_t>(proto, proto.int32_data(), elements);
    case DType::U8:
    case DType::Bool: return packed<std::uint8_t>(proto, proto.int32_data(), elements);
    case DType::U16:
    case DType::F16:
    case DType::BF16: return packed<std::uint16_t>(proto, proto.int32_data(), elements);
    }
    return bad(proto, "has no element type");
}

/// A constant that stays in its file.
std::shared_ptr<const graph::ConstData> view(std::span<const std::byte> bytes, std::shared_ptr<const MappedFile> file)
{
    auto data = std::make_shared<graph::ConstData>();
    data->data = bytes.data();
    data->bytes = bytes.size();
    data->owner = std::move(file);
    data->mapped = true;
    return data;
}

Result<std::size_t> numberOf(const TensorProto& proto, const std::string& key, const std::string& text)
{
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return bad(proto,
                   fmt::format("has external data whose {} is \"{}\", not a number of bytes", key, text.substr(0, 40)));
    return value;
}

} // namespace

std::optional<DType> dtypeOf(std::int64_t dataType)
{
    switch (dataType) {
    case TensorProto::FLOAT: return DType::F32;
    case TensorProto::UINT8: return DType::U8;
    case TensorProto::INT8: return DType::I8;
    case TensorProto::UINT16: return DType::U16;
    case TensorProto::INT16: return DType::I16;
    case TensorProto::INT32: return DType::I32;
    case TensorProto::INT64: return DType::I64;
    case TensorProto::BOOL: return DType::Bool;
    case TensorProto::FLOAT16: return DType::F16;
    case TensorProto::DOUBLE: return DType::F64;
    case TensorProto::UINT32: return DType::U32;
    case TensorProto::UINT64: return DType::U64;
    case TensorProto::BFLOAT16: return DType::BF16;
    default: return std::nullopt;
    }
}

std::string dataTypeText(std::int64_t dataType)
{
    if (dataType == TensorProto::STRING)
        return "STRING";
    if (dataType == TensorProto::COMPLEX64 || dataType == TensorProto::COMPLEX128)
        return "COMPLEX";
    if (dataType == TensorProto::UNDEFINED)
        return "UNDEFINED";
    // Newer than the schema that Lathe is built with.
    static constexpr std::string_view kNewer[] = {"FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
                                                  "UINT4",        "INT4",           "FLOAT4E2M1", "FLOAT8E8M0"};
    constexpr std::int64_t kFirstNewer = 17;
    if (dataType >= kFirstNewer && dataType - kFirstNewer < std::ssize(kNewer))
        return std::string(kNewer[dataType - kFirstNewer]);
    return fmt::format("number {}", dataType);
}

int dataTypeOf(DType dtype)
{
    for (int i = 1; i <= TensorProto::BFLOAT16; ++i) {
        if (dtypeOf(i) == dtype)
            return i;
    }
    return TensorProto::UNDEFINED;
}

Result<std::shared_ptr<const MappedFile>> TensorReader::opened(const std::string& location)
{
    namespace fs = std::filesystem;
    if (const auto found = m_files.find(location); found != m_files.end())
        return found->second;
    const auto refuse = [&](std::string_view why) {
        return makeError(Errc::BadFile, say(Msg::ExternalData, location.substr(0, 200), why));
    };
    if (m_folder.empty())
        return refuse("cannot be opened: the model was not read from a folder");
    const fs::path relative(location);
    if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute())
        return refuse("must be named relative to the model's folder");
    for (const fs::path& part : relative) {
        if (part == "..")
            return refuse("lies outside of the model's folder");
    }
    // Symbolic links are followed, and must not lead out either.
    std::error_code error;
    const fs::path folder = fs::canonical(m_folder, error);
    const fs::path file = error ? fs::path() : fs::canonical(folder / relative, error);
    if (error)
        return makeError(Errc::NotFound, say(Msg::ExternalDataMissing, location.substr(0, 200)));
    const fs::path inside = file.lexically_relative(folder);
    if (inside.empty() || *inside.begin() == "..")
        return refuse("lies outside of the model's folder");
    const auto before = static_cast<std::size_t>(m_externalBytes);
    LATHE_TRY_ASSIGN(MappedFile external, MappedFile::open(file, m_mapFrom > before ? m_mapFrom - before - 1 : 0));
    auto shared = std::make_shared<const MappedFile>(std::move(external));
    m_externalBytes += static_cast<std::int64_t>(shared->bytes().size());
    m_files.emplace(location, shared);
    return shared;
}

Result<std::shared_ptr<const graph::ConstData>> TensorReader::external(const TensorProto& proto, std::size_t bytes)
{
    std::string location;
    std::size_t offset = 0;
    std::optional<std::size_t> length;
    for (const auto& entry : proto.external_data()) {
        if (entry.key() == "location") {
            location = entry.value();
        } else if (entry.key() == "offset") {
            LATHE_TRY_ASSIGN(offset, numberOf(proto, entry.key(), entry.value()));
        } else if (entry.key() == "length") {
            LATHE_TRY_ASSIGN(length, numberOf(proto, entry.key(), entry.value()));
        }
    }
    auto opened = this->opened(location);
    if (!opened)
        return std::move(opened).error().note(nameOf(proto));
    const std::span<const std::byte> file = (*opened)->bytes();
    if (length.value_or(bytes) != bytes)
        return bad(proto, fmt::format("claims {} bytes of external data where its shape asks for {}", *length, bytes));
    if (offset > file.size() || bytes > file.size() - offset) {
        return bad(proto, fmt::format("asks for {} bytes at offset {} of the external data file \"{}\", which has {}",
                                      bytes, offset, location.substr(0, 200), file.size()));
    }
    return view(file.subspan(offset, bytes), *opened);
}

Result<ConstTensor> TensorReader::read(TensorProto& proto, std::span<const std::byte> raw,
                                       std::shared_ptr<const MappedFile> file)
{
    ConstTensor tensor;
    const std::optional<DType> dtype = dtypeOf(proto.data_type());
    if (!dtype)
        return makeError(Errc::Unsupported,
                         say(Msg::NeedsElementTypeOf, dataTypeText(proto.data_type()), nameOf(proto)));
    if (proto.has_segment())
        return makeError(Errc::Unsupported, say(Msg::NeedsSegments, nameOf(proto)));
    tensor.dtype = *dtype;
    // Sizes are checked against what is there before any memory is asked for.
    for (const std::int64_t extent : proto.dims()) {
        if (extent < 0)
            return bad(proto, fmt::format("has the negative dimension {}", extent));
        tensor.shape.push_back(extent);
    }
    const auto elements = checkedElementCount(tensor.shape);
    if (!elements)
        return bad(proto, "is larger than any memory");
    const std::int64_t bytes = *elements * sizeOf(*dtype);
    if (proto.data_location() == TensorProto::EXTERNAL) {
        LATHE_TRY_ASSIGN(tensor.data, external(proto, static_cast<std::size_t>(bytes)));
    } else if (!raw.empty()) {
        if (static_cast<std::int64_t>(raw.size()) != bytes)
            return bad(proto, fmt::format("holds {} bytes where its shape asks for {}", raw.size(), bytes));
        tensor.data = view(raw, std::move(file));
    } else if (proto.has_raw_data()) {
        if (static_cast<std::int64_t>(proto.raw_data().size()) != bytes)
            return bad(proto,
                       fmt::format("holds {} bytes where its shape asks for {}", proto.raw_data().size(), bytes));
        const std::shared_ptr<std::string> held(proto.release_raw_data());
        auto data = std::make_shared<graph::ConstData>();
        data->data = reinterpret_cast<const std::byte*>(held->data());
        data->bytes = held->size();
        data->owner = held;
        tensor.data = std::move(data);
    } else {
        LATHE_TRY_ASSIGN(tensor.data, typedData(proto, *dtype, *elements));
    }
    return tensor;
}

} // namespace lathe::frontend::onnx_detail
