#pragma once

#include "core/broker/notices.h"
#include "core/broker/recent_use.h"
#include "core/broker/turns.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lathe::broker {

struct DeskOptions
{
    std::string key;
    std::string device;
    /// However long somebody reserves.
    std::chrono::milliseconds longestReservation = std::chrono::minutes(30);
    std::chrono::milliseconds slice = std::chrono::seconds(20); ///< everybody may have it so long
    std::chrono::milliseconds offerLasts = kOfferLasts;
    /// Who says nothing for so long is gone; what passes while the broker carries nothing does not count.
    std::chrono::milliseconds silence = kSilence;
};

/// Gives one device to one claim after the other: hears who wants it and what the other devices of its key do, offers
/// itself, and takes itself back from one who fell silent or whose turn is over. A lease always ends: with its
/// holder's, with its turn, or with the device.
///
/// A state machine: it is told the time, and neither sends nor waits. Threads: one.
class Desk
{
public:
    using Clock = TurnClock;
    using Time = Clock::time_point;

    /// @param makeSession  a random one each time
    Desk(DeskOptions options, std::function<Hash128()> makeSession);

    void hear(const ClaimNotice& notice, Time now);
    /// Of all devices, this one's own too: by its own the desk knows that the broker carries what is said.
    void hear(const DeviceNotice& notice, Time now);
    /// He said something in the session that was offered.
    void taken(const Hash128& session, Time now);
    /// He gave it back, or the link ended.
    void returned(const Hash128& session, Time now);
    /// The broker has been away until now, or still is: others may need a while to be back.
    void brokerWasAway(Time now) { m_hearsSince = now; }
    void drain(bool drained) { m_drained = drained; }
    void setSick(bool sick) { m_sick = sick; }

    /// What is to be done now.
    struct Step
    {
        std::optional<Offer> offer; ///< to be sent
        /// The session that is over. Who had it is told why, and asked to end what he does: until returned() the
        /// device is his.
        std::optional<Hash128> over;
        LeaseEnd why = LeaseEnd::NotTaken;
    };
    Step turn(Time now);
    Time wake(Time now) const; ///< when turn() may have something new

    DeviceNotice notice(Time now) const;
    const std::optional<Hash128>& session() const { return m_session; }

private:
    struct Heard
    {
        ClaimNotice notice;
        Time since; ///< it waits
        Time at; ///< heard last
    };
    struct Other
    {
        DeviceNotice notice;
        Time since; ///< its ticket has it
        Time at;
    };
    KeyState stateAt(Time now) const;
    bool hears(Time now) const;
    void forgetSilent(Time now);
    void count(Time now);

    DeskOptions m_options;
    std::function<Hash128()> m_makeSession;
    std::map<std::string, Heard> m_claims; ///< by ticket
    std::map<std::string, Other> m_others; ///< by device
    RecentUse m_recent;
    std::optional<Time> m_heardItself; ///< this device's own notice, last
    Time m_hearsSince = {}; ///< the broker has been there since, and carried its notices one after the other
    std::vector<std::string> m_refused; ///< did not take an offer; asked again once all have been
    std::optional<Hash128> m_session;
    std::string m_ticket, m_user;
    Time m_offered = {}, m_since = {};
    std::chrono::milliseconds m_reserve{0};
    bool m_taken = false;
    bool m_over = false; ///< told so
    bool m_drained = false, m_sick = false;
};

} // namespace lathe::broker
