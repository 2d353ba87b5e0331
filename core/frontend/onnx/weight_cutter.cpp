#include "core/frontend/onnx/weight_cutter.h"

#include "core/support/message.h"

#include <cstdint>
#include <limits>
#include <optional>

namespace lathe::frontend::onnx_detail {
namespace {

// Field numbers are those of the published schema; all three are nested messages or bytes.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphInitializer = 5;
constexpr std::uint32_t kTensorRawData = 9;
constexpr std::uint32_t kDelimited = 2;

using Bytes = std::span<const std::byte>;

struct Field
{
    Bytes whole; ///< with key and length
    Bytes contents; ///< of delimited fields
    std::uint32_t key = 0;

    bool is(std::uint32_t number) const { return key == (number << 3 | kDelimited); }
};

std::optional<std::uint64_t> readVarint(Bytes bytes, std::size_t& at)
{
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
        const auto byte = std::to_integer<std::uint64_t>(bytes[at++]);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    return std::nullopt;
}

/// The field at `at`, which goes behind it. Empty: the bytes hold no further one.
std::optional<Field> nextField(Bytes bytes, std::size_t& at)
{
    const std::size_t begin = at;
    const auto key = readVarint(bytes, at);
    std::uint64_t length = 0;
    switch (key.value_or(3) & 7) {
    case 0:
        if (!readVarint(bytes, at))
            return std::nullopt;
        break;
    case 1: length = 8; break;
    case 5: length = 4; break;
    case 2: {
        const auto given = readVarint(bytes, at);
        if (!given)
            return std::nullopt;
        length = *given;
        break;
    }
    default: return std::nullopt;
    }
    if (length > bytes.size() - at)
        return std::nullopt;
    Field field;
    field.contents = bytes.subspan(at, length);
    at += length;
    field.whole = bytes.subspan(begin, at - begin);
    field.key = static_cast<std::uint32_t>(*key);
    return field;
}

void append(std::string& out, Bytes bytes)
{
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void appendVarint(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
}

void appendMessage(std::string& out, std::uint32_t number, const std::string& contents)
{
    appendVarint(out, number << 3 | kDelimited);
    appendVarint(out, contents.size());
    out += contents;
}

class Cutter
{
public:
    Cutter(Bytes file, std::size_t least)
        : m_file(file)
        , m_least(least)
    {
    }

    Result<CutModel> run()
    {
        for (std::size_t at = 0; at < m_file.size();) {
            const auto field = nextField(m_file, at);
            if (!field)
                return makeError(Errc::BadFile, say(Msg::OnnxNoModel));
            if (!field->is(kModelGraph)) {
                LATHE_TRY(keep(m_result.rest, field->whole));
                continue;
            }
            LATHE_TRY_ASSIGN(const std::string graph, cutGraph(field->contents));
            LATHE_TRY(checkRoom(graph.size()));
            appendMessage(m_result.rest, kModelGraph, graph);
        }
        return std::move(m_result);
    }

private:
    Result<> checkRoom(std::size_t bytes) const
    {
        constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max()) - 64;
        if (bytes > kMost || m_result.rest.size() > kMost - bytes)
            return makeError(Errc::BadFile, say(Msg::FileOver2GiBBeside));
        return {};
    }

    Result<> keep(std::string& out, Bytes bytes) const
    {
        LATHE_TRY(checkRoom(out.size() + bytes.size()));
        append(out, bytes);
        return {};
    }

    Result<std::string> cutGraph(Bytes graph)
    {
        std::string out;
        for (std::size_t at = 0; at < graph.size();) {
            const auto field = nextField(graph, at);
            if (!field)
                return makeError(Errc::BadFile, say(Msg::OnnxGraphCut));
            if (!field->is(kGraphInitializer)) {
                LATHE_TRY(keep(out, field->whole));
                continue;
            }
            LATHE_TRY_ASSIGN(const Bytes raw, rawDataOf(field->contents));
            m_result.weights.push_back(raw);
            if (raw.empty()) {
                LATHE_TRY(keep(out, field->whole));
            } else {
                appendMessage(out, kGraphInitializer, withoutRawData(field->contents));
            }
        }
        return out;
    }

    /// Raw data that is worth cutting out. Of several the last counts, as everywhere in the format.
    Result<Bytes> rawDataOf(Bytes tensor) const
    {
        Bytes raw;
        for (std::size_t at = 0; at < tensor.size();) {
            const auto field = nextField(tensor, at);
            if (!field)
                return makeError(Errc::BadFile, say(Msg::OnnxTensorCut));
            if (field->is(kTensorRawData))
                raw = field->contents;
        }
        return raw.size() >= m_least ? raw : Bytes();
    }

    static std::string withoutRawData(Bytes tensor)
    {
        std::string out;
        for (std::size_t at = 0; at < tensor.size();) {
            const auto field = nextField(tensor, at);
            if (!field)
                break; // rawDataOf has seen all of them
            if (!field->is(kTensorRawData))
                append(out, field->whole);
        }
        return out;
    }

    Bytes m_file;
    std::size_t m_least;
    CutModel m_result;
};

} // namespace

Result<CutModel> cutWeights(std::span<const std::byte> file, std::size_t least)
{
    return Cutter(file, least).run();
}

} // namespace lathe::frontend::onnx_detail
