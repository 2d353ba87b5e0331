#include "core/broker/link.h"
#include "core/support/check.h"
#include "core/wire/framing.h"

#include <cstddef>
#include <cstdint>

using namespace lathe;

/// Packets as a hostile broker sends them: each a byte for its length, then its bytes behind the right mark and
/// session; a first bit says whether these are given. Whatever comes, what the link holds is bounded and nothing but
/// whole messages comes out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    broker::Link link({1, 2});
    link.send("one");
    link.send("two");
    const broker::Link::Time start = broker::Link::Time() + std::chrono::hours(1);
    std::size_t given = 0;
    for (std::size_t at = 0; at < size;) {
        const std::size_t wanted = data[at] & 0x7F;
        const bool raw = (data[at] & 0x80) != 0;
        ++at;
        const std::size_t n = std::min(wanted, size - at);
        std::string packet = raw ? std::string() : broker::encode({{1, 2}, 0, 0, broker::Packet::Kind::Piece, {}});
        if (!raw)
            packet.resize(20); // up to the session; the rest is the input's
        packet.append(reinterpret_cast<const char*>(data + at), n);
        at += n;
        given += packet.size();
        const broker::Link::Time now = start + std::chrono::milliseconds(at);
        link.receive(packet, now);
        for (const std::string& sent : link.outgoing(now))
            LATHE_CHECK(broker::decode(sent).has_value());
        while (const auto message = link.next())
            LATHE_CHECK(message->size() <= wire::kMaxFrameBytes && message->size() <= given);
    }
    return 0;
}
