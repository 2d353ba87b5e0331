#include "core/broker/link.h"

#include "core/support/check.h"
#include "core/support/message.h"
#include "core/wire/framing.h"

#include <algorithm>

namespace lathe::broker {

void Link::send(std::string_view message)
{
    LATHE_CHECK(message.size() <= wire::kMaxFrameBytes) << "a message is longer than a link takes";
    do {
        const std::string_view piece = message.substr(0, kPieceBytes);
        message.remove_prefix(piece.size());
        m_waitingBytes += piece.size();
        m_waiting.push_back({message.empty() ? Packet::Kind::LastPiece : Packet::Kind::Piece, std::string(piece)});
    } while (!message.empty());
}

std::string Link::encoded(std::uint64_t sequence, const Piece& piece) const
{
    return encode({m_session, sequence, m_arrived, piece.kind, piece.data});
}

std::vector<std::string> Link::outgoing(Time now)
{
    std::vector<std::string> packets;
    if (m_closed)
        return packets;
    if (m_ended) {
        // One who is only thought to be gone still counts on us, once he is back.
        if (m_end && !m_toldUs) {
            packets.push_back(encode({m_session, 0, m_arrived, Packet::Kind::End, *m_end}));
            m_closed = true;
        }
        return packets;
    }
    if (m_flying.empty() && !m_waiting.empty())
        m_progress = now;
    if (!m_flying.empty() && now - m_progress >= kGiveUp) {
        fail(Errc::DeviceLost, say(Msg::LinkSilent, std::chrono::duration<double>(kGiveUp).count()));
        return packets;
    }
    // The oldest piece tells whether those in flight are late.
    const bool late = !m_flying.empty() && now - m_flying.begin()->second.sent >= m_repeat;
    if (late)
        m_repeat = std::min(2 * m_repeat, kLastRepeat);
    for (auto& [sequence, piece] : m_flying) {
        const bool first = sequence == m_flying.begin()->first;
        if (!late && !(first && m_repeatFirst))
            break;
        piece.sent = now;
        packets.push_back(encoded(sequence, piece));
    }
    m_repeatFirst = false;
    while (!m_waiting.empty() && m_flying.size() < kWindowPieces) {
        Piece& piece = m_flying[++m_lastSequence] = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_waitingBytes -= piece.data.size();
        piece.sent = now;
        packets.push_back(encoded(m_lastSequence, piece));
    }
    if (m_gap || (packets.empty() && (m_owesNow || now >= m_owesBy)))
        packets.push_back(
            encode({m_session, 0, m_arrived, m_gap ? Packet::Kind::Gap : Packet::Kind::Acknowledgement, {}}));
    if (!packets.empty()) { // each of them acknowledges
        m_owesNow = m_gap = false;
        m_owesBy = Time::max();
        m_owed = 0;
    }
    if (m_end) {
        packets.push_back(encode({m_session, 0, m_arrived, Packet::Kind::End, *m_end}));
        m_closed = true;
    }
    return packets;
}

void Link::acknowledge(std::uint64_t upTo, Time now)
{
    if (m_flying.empty() || upTo < m_flying.begin()->first || upTo > m_lastSequence)
        return;
    m_flying.erase(m_flying.begin(), m_flying.upper_bound(upTo));
    m_repeat = kFirstRepeat;
    m_progress = now;
    // Those behind it may just have been delayed with it.
    if (!m_flying.empty())
        m_flying.begin()->second.sent = std::max(m_flying.begin()->second.sent, now - kFirstRepeat / 2);
}

void Link::receive(std::string_view bytes, Time now)
{
    const std::optional<Packet> packet = decode(bytes);
    if (!packet || packet->session.high != m_session.high || packet->session.low != m_session.low) {
        ++m_leftOut;
        return;
    }
    if (m_ended)
        return;
    acknowledge(packet->acknowledged, now);
    switch (packet->kind) {
    case Packet::Kind::Acknowledgement: return;
    case Packet::Kind::Gap:
        m_repeatFirst = !m_flying.empty() && now - m_flying.begin()->second.sent >= kGapAfter;
        return;
    case Packet::Kind::End:
        m_toldUs = true;
        fail(Errc::DeviceLost, phrase(packet->data));
        return;
    case Packet::Kind::Piece:
    case Packet::Kind::LastPiece: break;
    }
    if (packet->sequence <= m_arrived) { // its acknowledgement was lost
        m_owesNow = true;
        return;
    }
    if (packet->sequence > m_arrived + kWindowPieces) { // nobody sends that far ahead
        ++m_leftOut;
        return;
    }
    if (m_held >= kHeldBytes) // it comes again
        return;
    if (packet->sequence != m_arrived + 1) {
        m_early.try_emplace(packet->sequence, packet->kind, packet->data);
        m_gap = true;
        return;
    }
    take(packet->kind, packet->data);
    for (auto early = m_early.begin(); early != m_early.end() && early->first == m_arrived + 1 && !m_ended;
         early = m_early.erase(early))
        take(early->second.first, early->second.second);
    m_owesBy = std::min(m_owesBy, now + kAcknowledgeAfter);
    m_owesNow = m_owesNow || m_owed >= kWindowPieces / 4;
}

void Link::take(Packet::Kind kind, std::string_view data)
{
    ++m_arrived;
    ++m_owed;
    if (m_partial.size() + data.size() > wire::kMaxFrameBytes) {
        fail(Errc::BadFile, say(Msg::MessageTooLong));
        return;
    }
    m_partial.append(data);
    if (kind == Packet::Kind::LastPiece) {
        m_held += m_partial.size();
        m_messages.push_back(std::exchange(m_partial, {}));
    }
}

std::optional<std::string> Link::next()
{
    if (m_messages.empty())
        return std::nullopt;
    std::optional<std::string> message = std::move(m_messages.front());
    m_messages.pop_front();
    m_held -= message->size();
    return message;
}

Link::Time Link::wake() const
{
    if (m_closed || m_ended)
        return Time::max();
    if (m_owesNow || m_gap || m_repeatFirst || m_end || (!m_waiting.empty() && m_flying.size() < kWindowPieces))
        return Time(); // long ago
    Time nearest = m_owesBy;
    if (!m_flying.empty())
        nearest = std::min({nearest, m_flying.begin()->second.sent + m_repeat, m_progress + kGiveUp});
    return nearest;
}

void Link::end(std::string_view why)
{
    m_waiting.clear();
    m_waitingBytes = 0;
    if (!m_end)
        m_end = std::string(why.substr(0, kPieceBytes));
}

void Link::giveUp(Message why)
{
    m_waiting.clear();
    m_waitingBytes = 0;
    if (!m_ended)
        fail(Errc::DeviceLost, std::move(why));
}

void Link::fail(Errc code, Message message)
{
    m_ended = makeError(code, std::move(message));
}

} // namespace lathe::broker
