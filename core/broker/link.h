#pragma once

#include "core/broker/packet.h"
#include "core/support/message.h"
#include "core/support/result.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::broker {

/// One side of a link on which packets are lost, doubled, late or out of order: messages go in at one side and come out
/// at the other whole, once and in order. A broker that restarts, or a connection that is cut, loses whatever was on
/// its way.
///
/// A sliding window with acknowledgements of all up to a number (as TCP has them, RFC 9293): pieces that were not
/// acknowledged in time are sent again, at growing intervals; the first one at once, where the other side tells of a
/// gap. What is in flight is bounded, and so is what the other side holds of ours.
///
/// A state machine: it is told the time, and neither sends nor waits. Threads: one.
class Link
{
public:
    using Clock = std::chrono::steady_clock;
    using Time = Clock::time_point;

    /// Both sides have the same `session`, a random one: what an earlier link left on its way is none of this one.
    explicit Link(Hash128 session)
        : m_session(session)
    {
    }

    /// Of at most wire::kMaxFrameBytes.
    void send(std::string_view message);
    /// The packets that are to be sent now.
    std::vector<std::string> outgoing(Time now);
    /// All that was given to send() has been in outgoing().
    bool allSent() const { return m_waiting.empty(); }
    std::size_t waitingBytes() const { return m_waitingBytes; } ///< that have not been
    /// ... and the other side has it.
    bool allArrived() const { return m_waiting.empty() && m_flying.empty(); }

    /// Whatever arrived; what is no packet of this link is left out, and counted.
    void receive(std::string_view bytes, Time now);
    std::optional<std::string> next();
    std::uint64_t leftOut() const { return m_leftOut; }

    /// When outgoing() will have something, though nothing happens until then.
    Time wake() const;

    /// The other side is told, at once: what has not been sent yet is dropped. So is one that was given up, in case
    /// that it is there after all.
    void end(std::string_view why);
    /// The other side is gone, and who knows that says why: nothing more is sent or waited for.
    void giveUp(Message why);
    /// Why no message comes any more, once next() has given what came before: DeviceLost (the other side ended the
    /// link, and said why, or acknowledged nothing for kGiveUp; giveUp()), BadFile (it sent a message that is too
    /// long).
    const std::optional<Error>& ended() const { return m_ended; }

    static constexpr std::size_t kWindowPieces = 16; ///< in flight at once
    static constexpr std::chrono::milliseconds kFirstRepeat{500};
    static constexpr std::chrono::milliseconds kLastRepeat{4000};
    static constexpr std::chrono::milliseconds kAcknowledgeAfter{20}; ///< unless something is sent anyway
    static constexpr std::chrono::milliseconds kGapAfter{50}; ///< the first piece in flight is not sent again sooner
    static constexpr std::chrono::seconds kGiveUp{60};
    static constexpr std::size_t kHeldBytes = 32u << 20; ///< of messages that nobody took; no more is acknowledged

private:
    struct Piece
    {
        Packet::Kind kind;
        std::string data;
        Time sent = {};
    };
    void acknowledge(std::uint64_t upTo, Time now);
    void take(Packet::Kind kind, std::string_view data);
    std::string encoded(std::uint64_t sequence, const Piece& piece) const;
    void fail(Errc code, Message message);

    Hash128 m_session;
    // What is sent.
    std::deque<Piece> m_waiting;
    std::size_t m_waitingBytes = 0;
    std::map<std::uint64_t, Piece> m_flying; ///< by sequence
    std::uint64_t m_lastSequence = 0;
    std::chrono::milliseconds m_repeat = kFirstRepeat;
    Time m_progress = {}; ///< something was acknowledged, or the first piece was sent
    bool m_repeatFirst = false;
    std::optional<std::string> m_end; ///< to be sent
    bool m_closed = false;
    bool m_toldUs = false; ///< the other side ended it
    // What is received.
    std::uint64_t m_arrived = 0; ///< all pieces up to this one
    std::map<std::uint64_t, std::pair<Packet::Kind, std::string>> m_early;
    std::string m_partial;
    std::deque<std::string> m_messages;
    std::size_t m_held = 0; ///< bytes of these
    bool m_owesNow = false, m_gap = false;
    Time m_owesBy = Time::max(); ///< an acknowledgement
    std::size_t m_owed = 0; ///< pieces
    std::uint64_t m_leftOut = 0;
    std::optional<Error> m_ended;
};

} // namespace lathe::broker
