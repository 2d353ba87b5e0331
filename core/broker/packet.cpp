#include "core/broker/packet.h"

#include <algorithm>

namespace lathe::broker {

namespace {

constexpr std::string_view kMark = "LTHP";
constexpr std::size_t kHeaderBytes = kMark.size() + 4 * sizeof(std::uint64_t) + 1;

void append(std::string& out, std::uint64_t value)
{
    for (unsigned i = 0; i < sizeof value; ++i)
        out.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t take(std::string_view& bytes)
{
    std::uint64_t value = 0;
    for (unsigned i = 0; i < sizeof value; ++i)
        value |= std::uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
    bytes.remove_prefix(sizeof value);
    return value;
}

} // namespace

std::string encode(const Packet& packet)
{
    std::string out;
    out.reserve(kHeaderBytes + packet.data.size());
    out.append(kMark);
    append(out, packet.session.high);
    append(out, packet.session.low);
    append(out, packet.sequence);
    append(out, packet.acknowledged);
    out.push_back(static_cast<char>(packet.kind));
    out.append(packet.data);
    return out;
}

std::optional<Packet> decode(std::string_view bytes)
{
    if (bytes.size() < kHeaderBytes || bytes.size() > kHeaderBytes + kPieceBytes || !bytes.starts_with(kMark))
        return std::nullopt;
    bytes.remove_prefix(kMark.size());
    Packet packet;
    packet.session.high = take(bytes);
    packet.session.low = take(bytes);
    packet.sequence = take(bytes);
    packet.acknowledged = take(bytes);
    const auto kind = static_cast<unsigned char>(bytes.front());
    if (kind > static_cast<unsigned char>(Packet::Kind::End))
        return std::nullopt;
    packet.kind = static_cast<Packet::Kind>(kind);
    packet.data = bytes.substr(1);
    return packet;
}

} // namespace lathe::broker
