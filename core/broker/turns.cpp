#include "core/broker/turns.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace lathe::broker {

namespace {

constexpr int kMostPriority = 4;

double weightOf(const Claim& claim)
{
    return std::exp2(std::clamp(claim.priority, -kMostPriority, kMostPriority));
}

const Claim* claimOf(const KeyState& state, const std::string& ticket)
{
    const auto found = std::ranges::find(state.claims, ticket, &Claim::ticket);
    return found == state.claims.end() ? nullptr : &*found;
}

std::map<std::string, std::size_t> heldByUser(const KeyState& state)
{
    std::map<std::string, std::size_t> held;
    for (const DeviceTurn& turn : state.devices)
        if (const Claim* const claim = claimOf(state, turn.ticket))
            ++held[claim->user];
    return held;
}

std::size_t heldByTicket(const KeyState& state, const std::string& ticket)
{
    return static_cast<std::size_t>(std::ranges::count(state.devices, ticket, &DeviceTurn::ticket));
}

bool wantsMore(const KeyState& state, const Claim& claim)
{
    return !claim.isElsewhere && (claim.most == 0 || heldByTicket(state, claim.ticket) < claim.most);
}

/// Seconds of late, for his weight.
double usedBy(const KeyState& state, const Claim& claim)
{
    const auto recent = state.recentSeconds.find(claim.user);
    return recent == state.recentSeconds.end() ? 0 : recent->second / weightOf(claim);
}

/// All claims, who comes first in front.
std::vector<const Claim*> ordered(const KeyState& state)
{
    std::vector<const Claim*> claims;
    for (const Claim& claim : state.claims)
        claims.push_back(&claim);
    auto held = heldByUser(state);
    const auto rank = [&](const Claim* claim) {
        return std::tuple(static_cast<double>(held[claim->user]) / weightOf(*claim), usedBy(state, *claim),
                          heldByTicket(state, claim->ticket), -claim->priority, claim->since, claim->ticket);
    };
    std::ranges::sort(claims, {}, rank);
    return claims;
}

/// The device that is to go to a user who has none at all, though by his weight he has no claim to a whole one: from
/// the one who used most of late, if that is more than he did.
std::optional<std::string> owedToOneWithout(const KeyState& state)
{
    auto held = heldByUser(state);
    std::optional<double> least;
    for (const Claim& claim : state.claims)
        if (held[claim.user] == 0 && !claim.isElsewhere)
            least = std::min(least.value_or(usedBy(state, claim)), usedBy(state, claim));
    const DeviceTurn* most = nullptr;
    const auto rank = [&](const DeviceTurn& turn) { return usedBy(state, *claimOf(state, turn.ticket)); };
    for (const DeviceTurn& turn : state.devices)
        if (claimOf(state, turn.ticket) != nullptr
            && (most == nullptr || rank(turn) > rank(*most)
                || (rank(turn) == rank(*most) && turn.device < most->device)))
            most = &turn;
    if (!least || most == nullptr || *least >= rank(*most))
        return std::nullopt;
    return most->device;
}

} // namespace

std::optional<std::string> nextTicket(const KeyState& state, std::span<const std::string> refused)
{
    for (const Claim* const claim : ordered(state))
        if (wantsMore(state, *claim) && std::ranges::find(refused, claim->ticket) == refused.end())
            return claim->ticket;
    return std::nullopt;
}

bool isTurnOver(const KeyState& state, const std::string& device, TurnClock::time_point now, TurnClock::duration slice)
{
    const auto turn = std::ranges::find(state.devices, device, &DeviceTurn::device);
    const Claim* const holder = turn == state.devices.end() ? nullptr : claimOf(state, turn->ticket);
    if (holder == nullptr || now - turn->since < slice || now < holder->reservedUntil)
        return false;
    const auto isFree = [&](const DeviceTurn& other) { return claimOf(state, other.ticket) == nullptr; };
    const auto wantsThis = [&](const Claim& claim) {
        return claim.isForThis && claim.user != holder->user && wantsMore(state, claim);
    };
    if (std::ranges::any_of(state.devices, isFree) && std::ranges::none_of(state.claims, wantsThis))
        return false; // whoever wants one takes that
    if (device == owedToOneWithout(state))
        return true;
    // How many go is found out one by one, as if each had gone already.
    std::vector<std::string> mine;
    for (const DeviceTurn& other : state.devices)
        if (const Claim* const claim = claimOf(state, other.ticket); claim != nullptr && claim->user == holder->user)
            mine.push_back(other.device);
    std::ranges::sort(mine);
    auto held = heldByUser(state);
    for (const std::string& going : mine) {
        const Claim* poorest = nullptr;
        const auto share = [&](const Claim& claim, double more) {
            return (static_cast<double>(held[claim.user]) + more) / weightOf(claim);
        };
        for (const Claim& claim : state.claims)
            if (claim.user != holder->user && wantsMore(state, claim)
                && (poorest == nullptr || share(claim, 1) < share(*poorest, 1)))
                poorest = &claim;
        if (poorest == nullptr || share(*poorest, 1) > share(*holder, 0))
            return false;
        if (going == device)
            return true;
        ++held[poorest->user];
        --held[holder->user];
    }
    return false;
}

std::vector<std::string> queueOf(const KeyState& state)
{
    std::vector<std::string> queue, others;
    for (const Claim* const claim : ordered(state))
        (heldByTicket(state, claim->ticket) == 0 ? queue : others).push_back(claim->ticket);
    queue.insert(queue.end(), others.begin(), others.end());
    return queue;
}

} // namespace lathe::broker
