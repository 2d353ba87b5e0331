#include "core/frontend/onnx/wire_check.h"

#include "core/support/message.h"

#include <fmt/format.h>

#include <cstdint>

namespace lathe::frontend::onnx_detail {
namespace {

/// The messages of the schema that contain others. Everything else is a leaf: its bytes are not looked into.
enum class Message
{
    Leaf,
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    SparseTensor,
    Function,
    ValueInfo,
    Type,
    TensorType,
    Shape,
    Entry, ///< small messages of strings and numbers
    Packed ///< packed numbers
};

/// What the length-delimited field `number` of `message` holds (numbers as the published schema gives them).
Message fieldOf(Message message, std::uint32_t number)
{
    switch (message) {
    case Message::Model:
        switch (number) {
        case 7: return Message::Graph;
        case 8: return Message::Entry; // opset_import
        case 14: return Message::Entry; // metadata_props
        case 20: return Message::Entry; // training_info: counted, not walked
        case 25: return Message::Function;
        default: return Message::Leaf;
        }
    case Message::Graph:
        switch (number) {
        case 1: return Message::Node;
        case 5: return Message::Tensor;
        case 11:
        case 12:
        case 13: return Message::ValueInfo;
        case 14: return Message::Entry; // quantization_annotation
        case 15: return Message::SparseTensor;
        default: return Message::Leaf;
        }
    case Message::Node: return number == 5 ? Message::Attribute : Message::Leaf;
    case Message::Attribute:
        switch (number) {
        case 5:
        case 10: return Message::Tensor;
        case 6:
        case 11: return Message::Graph;
        case 7:
        case 8: return Message::Packed;
        case 14:
        case 15: return Message::Type;
        case 22:
        case 23: return Message::SparseTensor;
        default: return Message::Leaf;
        }
    case Message::Tensor:
        switch (number) {
        case 1:
        case 4:
        case 5:
        case 7:
        case 10:
        case 11: return Message::Packed;
        case 13: return Message::Entry; // external_data
        default: return Message::Leaf;
        }
    case Message::SparseTensor: return number == 1 || number == 2 ? Message::Tensor : Message::Packed;
    case Message::Function: return number == 7 ? Message::Node : (number == 11 ? Message::Attribute : Message::Leaf);
    case Message::ValueInfo: return number == 2 ? Message::Type : Message::Leaf;
    case Message::Type: return number == 1 ? Message::TensorType : Message::Leaf;
    case Message::TensorType: return number == 2 ? Message::Shape : Message::Leaf;
    case Message::Shape: return Message::Entry;
    case Message::Entry:
    case Message::Packed:
    case Message::Leaf: return Message::Leaf;
    }
    return Message::Leaf;
}

/// Whether a leaf is a name, which ends up in tables, files and messages.
bool isName(Message message, std::uint32_t number)
{
    switch (message) {
    case Message::Graph: return number == 2;
    case Message::Node: return (number >= 1 && number <= 4) || number == 7; // inputs, outputs, name, operator, domain
    case Message::Attribute:
    case Message::ValueInfo: return number == 1;
    case Message::Tensor: return number == 8;
    case Message::Function: return number == 1 || (number >= 4 && number <= 6) || number == 10;
    default: return false;
    }
}

bool isUtf8(std::span<const std::byte> bytes)
{
    for (std::size_t i = 0; i < bytes.size();) {
        const auto lead = std::to_integer<std::uint32_t>(bytes[i++]);
        if (lead < 0x80)
            continue;
        const std::size_t more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || more > bytes.size() - i)
            return false;
        std::uint32_t code = lead & (0x3fU >> more);
        for (std::size_t end = i + more; i < end; ++i) {
            const auto next = std::to_integer<std::uint32_t>(bytes[i]);
            if ((next & 0xc0) != 0x80)
                return false;
            code = code << 6 | (next & 0x3f);
        }
        constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000}; // by further bytes: less is written shorter
        if (code < kLeast[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
            return false;
    }
    return true;
}

/// Objects of all kinds in one model. The largest published networks have some hundred thousand; at about 200 bytes
/// each this bounds their memory to some hundred megabytes.
constexpr std::int64_t kMaxObjects = 2'000'000;
/// Bytes of numbers stored one by one (typed fields): each may become eight in memory. Weights come as raw bytes.
constexpr std::int64_t kMaxPackedBytes = std::int64_t{1} << 30;
constexpr int kDeepestMessage = 32;

class Walker
{
public:
    explicit Walker(std::span<const std::byte> bytes)
        : m_bytes(bytes)
    {
    }

    Result<> walk(Message message, std::size_t begin, std::size_t end, int depth)
    {
        if (depth > kDeepestMessage)
            return broken(begin, "graphs are nested too deeply");
        std::size_t at = begin;
        while (at < end) {
            const std::size_t start = at;
            std::uint64_t key = 0, value = 0;
            if (!varint(at, end, key) || (key >> 3) == 0 || (key >> 3) > 0x1fffffff)
                return broken(start, "a field is cut off or has no number");
            m_objects += 1;
            switch (key & 7) {
            case 0:
                if (!varint(at, end, value))
                    return broken(start, "a number is cut off");
                break;
            case 1: at += 8; break;
            case 5: at += 4; break;
            case 2: {
                if (!varint(at, end, value) || value > end - at)
                    return broken(start, "a field claims more bytes than the file has left");
                const auto number = static_cast<std::uint32_t>(key >> 3);
                if (isName(message, number) && !isUtf8(m_bytes.subspan(at, value)))
                    return broken(start, "a name is no UTF-8 text");
                const Message inner = fieldOf(message, number);
                if (inner == Message::Packed)
                    m_packedBytes += static_cast<std::int64_t>(value);
                else if (inner != Message::Leaf)
                    LATHE_TRY(walk(inner, at, at + value, depth + 1));
                at += value;
                break;
            }
            default: return broken(start, "a field has no known kind");
            }
            if (at > end)
                return broken(start, "a field claims more bytes than the file has left");
            if (m_objects > kMaxObjects)
                return broken(start, fmt::format("it holds more than {} objects", kMaxObjects));
            if (m_packedBytes > kMaxPackedBytes)
                return broken(start, "it holds more than 1 GiB of numbers outside of raw data");
        }
        return {};
    }

private:
    bool varint(std::size_t& at, std::size_t end, std::uint64_t& value) const
    {
        value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (at >= end)
                return false;
            const auto byte = std::to_integer<std::uint64_t>(m_bytes[at++]);
            value |= (byte & 0x7f) << shift;
            if ((byte & 0x80) == 0)
                return true;
        }
        return false;
    }

    static Error broken(std::size_t offset, std::string_view what)
    {
        return makeError(Errc::BadFile, say(Msg::OnnxBroken, offset, what));
    }

    std::span<const std::byte> m_bytes;
    std::int64_t m_objects = 0;
    std::int64_t m_packedBytes = 0;
};

} // namespace

Result<> checkWire(std::span<const std::byte> bytes)
{
    return Walker(bytes).walk(Message::Model, 0, bytes.size(), 0);
}

} // namespace lathe::frontend::onnx_detail
