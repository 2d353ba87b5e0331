#include "core/broker/desk.h"

#include <algorithm>

namespace lathe::broker {

namespace {

/// More claims or devices of one key than anybody has are a flood.
constexpr std::size_t kMostHeard = 10'000;
/// Who has not heard his own notice for so long hears nobody. Shorter than kSilence by more than one notice takes: else
/// others were gone before that is known.
constexpr std::chrono::milliseconds kDeaf = 2 * kNoticeEach;
static_assert(kDeaf + kNoticeEach < kSilence);

} // namespace

Desk::Desk(DeskOptions options, std::function<Hash128()> makeSession)
    : m_options(std::move(options))
    , m_makeSession(std::move(makeSession))
{
}

void Desk::hear(const ClaimNotice& notice, Time now)
{
    if (notice.key != m_options.key || notice.ticket.empty())
        return;
    const auto known = m_claims.find(notice.ticket);
    if (known == m_claims.end() && m_claims.size() >= kMostHeard)
        return;
    // Tickets stand in what devices tell: one is his who named it first, as long as he is there.
    if (known != m_claims.end() && known->second.notice.user != notice.user)
        return;
    // It has waited since it was heard first at the latest, and nobody gets ahead by saying later that it was longer.
    const auto waited = std::clamp<std::chrono::milliseconds>(notice.waited, std::chrono::milliseconds(0),
                                                              std::chrono::hours(24));
    const Time since = known == m_claims.end() ? now - waited : known->second.since;
    m_claims[notice.ticket] = {notice, since, now};
}

void Desk::hear(const DeviceNotice& notice, Time now)
{
    if (notice.key != m_options.key || notice.device.empty())
        return;
    if (notice.device == m_options.device) {
        if (!hears(now))
            m_hearsSince = now;
        m_heardItself = now;
        return;
    }
    const auto known = m_others.find(notice.device);
    if (known == m_others.end() && m_others.size() >= kMostHeard)
        return;
    const auto had = std::clamp<std::chrono::milliseconds>(notice.had, std::chrono::milliseconds(0),
                                                           std::chrono::hours(24));
    Other& other = m_others[notice.device] = {notice, now - had, now};
    other.notice.about.clear(); // of thousands it fills the memory, and decides nothing
}

void Desk::taken(const Hash128& session, Time now)
{
    if (!m_session || *m_session != session || m_taken)
        return;
    m_taken = true;
    m_since = now;
    m_refused.clear();
}

void Desk::returned(const Hash128& session, Time now)
{
    if (!m_session || *m_session != session)
        return;
    count(now);
    m_session.reset();
    m_ticket.clear();
    m_user.clear();
    m_taken = m_over = false;
}

bool Desk::hears(Time now) const
{
    return m_heardItself && now - *m_heardItself < kDeaf;
}

/// A broker that is away, or stands still, is nobody's silence: a lease outlasts it, and what was measured is not lost.
void Desk::forgetSilent(Time now)
{
    if (!hears(now))
        return;
    const auto isSilent = [&](const auto& entry) {
        return now - std::max(entry.second.at, m_hearsSince) >= m_options.silence;
    };
    std::erase_if(m_claims, isSilent);
    std::erase_if(m_others, isSilent);
}

/// Adds what has passed since it was counted last to what users had of this key.
void Desk::count(Time now)
{
    std::vector<std::string> having;
    if (m_session && m_taken)
        having.push_back(m_user);
    for (const auto& [device, other] : m_others)
        if (!other.notice.user.empty())
            having.push_back(other.notice.user);
    m_recent.pass(now, having);
}

KeyState Desk::stateAt(Time now) const
{
    KeyState state;
    for (const auto& [ticket, heard] : m_claims) {
        Claim claim = {ticket, heard.notice.user, heard.notice.priority, heard.since};
        claim.most = heard.notice.most;
        claim.isForThis = heard.notice.device == m_options.device;
        claim.isElsewhere = !heard.notice.device.empty() && !claim.isForThis;
        if (ticket == m_ticket && m_taken)
            claim.reservedUntil = m_since + std::min(m_reserve, m_options.longestReservation);
        state.claims.push_back(std::move(claim));
    }
    for (const auto& [device, other] : m_others)
        if (other.notice.state != DeviceState::Drained && other.notice.state != DeviceState::Sick)
            state.devices.push_back({device, other.notice.ticket, other.since});
    state.devices.push_back({m_options.device, m_ticket, m_taken ? m_since : now});
    state.recentSeconds = m_recent.seconds();
    return state;
}

Desk::Step Desk::turn(Time now)
{
    forgetSilent(now);
    count(now);
    Step step;
    const auto over = [&](LeaseEnd why) {
        m_over = true;
        step.over = m_session;
        step.why = why;
    };
    if (m_session && !m_taken && now - m_offered >= m_options.offerLasts) {
        m_refused.push_back(m_ticket);
        step.over = m_session;
        step.why = LeaseEnd::NotTaken;
        returned(*step.over, now);
        return step;
    }
    if (m_session && m_taken && !m_over) {
        if (!m_claims.contains(m_ticket))
            over(LeaseEnd::HolderSilent);
        else if (m_drained)
            over(LeaseEnd::Drained);
        else if (m_sick)
            over(LeaseEnd::Sick);
        else if (isTurnOver(stateAt(now), m_options.device, now, m_options.slice))
            over(LeaseEnd::TurnOver);
        return step;
    }
    if (m_session || m_drained || m_sick)
        return step;
    const KeyState state = stateAt(now);
    std::optional<std::string> ticket = nextTicket(state, m_refused);
    if (!ticket && !m_refused.empty()) { // all have been asked: once more
        m_refused.clear();
        return step;
    }
    if (!ticket)
        return step;
    const Heard& claim = m_claims.at(*ticket);
    m_session = m_makeSession();
    m_ticket = *ticket;
    m_user = claim.notice.user;
    m_reserve = claim.notice.reserve;
    m_offered = now;
    m_taken = m_over = false;
    step.offer = Offer{m_ticket, m_options.device, *m_session};
    return step;
}

Desk::Time Desk::wake(Time now) const
{
    // Who fell silent, and whose turn is over, is seen a quarter of a second late.
    const Time look = now + std::chrono::milliseconds(250);
    return m_session && !m_taken ? std::min(look, m_offered + m_options.offerLasts) : look;
}

DeviceNotice Desk::notice(Time now) const
{
    DeviceNotice notice;
    notice.key = m_options.key;
    notice.device = m_options.device;
    notice.ticket = m_ticket;
    notice.user = m_user;
    if (m_session && m_taken)
        notice.had = std::chrono::duration_cast<std::chrono::milliseconds>(now - m_since);
    notice.state = m_session && m_taken ? (m_drained ? DeviceState::Draining : DeviceState::Leased)
                   : m_drained          ? DeviceState::Drained
                   : m_sick             ? DeviceState::Sick
                   : m_session          ? DeviceState::Offered
                                        : DeviceState::Free;
    return notice;
}

} // namespace lathe::broker
