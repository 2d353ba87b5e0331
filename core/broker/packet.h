#pragma once

#include "core/support/hash.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::broker {

/// What one side of a link sends to the other at once: a piece of a message, an acknowledgement, or the end.
/// As bytes: "LTHP", session (high, low), sequence, acknowledged, flags (one byte), then the piece. Integers have 64
/// bits, little endian.
struct Packet
{
    enum class Kind : std::uint8_t
    {
        Piece, ///< and more of the same message follow
        LastPiece,
        Acknowledgement, ///< nothing else
        Gap, ///< an acknowledgement of one who has later pieces than the next one
        End ///< `data` says why, for people
    };
    Hash128 session; ///< of the link; packets of another one are none of it
    std::uint64_t sequence = 0; ///< of pieces, from 1
    std::uint64_t acknowledged = 0; ///< the other side's pieces up to this one have arrived
    Kind kind = Kind::Acknowledgement;
    std::string_view data;
};

/// Bytes of a message that go in one packet. NATS takes 1 MiB by default, and works best well below.
inline constexpr std::size_t kPieceBytes = 128u << 10;

std::string encode(const Packet& packet);
/// `data` points into `bytes`. Nothing: it is no packet.
std::optional<Packet> decode(std::string_view bytes);

} // namespace lathe::broker
