#include "core/broker/reference_tracker.h"

#include "core/broker/notices.h"
#include "core/support/json_fields.h"
#include "core/support/json_values.h"
#include "core/support/log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace lathe::broker {

namespace {

using nlohmann::json;

constexpr std::uint32_t kGreeting = 0x2F271;
constexpr int kFail = -1, kSuccess = 0;
/// Who has so much to take is asked to take it before he is heard again.
constexpr std::size_t kMostUntakenBytes = 64u << 10;

enum class Code : std::int64_t
{
    Ping = 1,
    Stop = 2,
    Put = 3,
    Request = 4,
    UpdateInfo = 5,
    Summary = 6,
    PendingMatchkeys = 7
};

std::string inFourBytes(std::uint32_t number)
{
    std::string bytes;
    for (int i = 0; i < 4; ++i)
        bytes.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
    return bytes;
}

std::uint32_t fromFourBytes(std::string_view bytes)
{
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
        number |= std::uint32_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return number;
}

/// A text that can be shown in a table: clients print what others told.
bool takeShort(const json& value, std::string& out)
{
    if (!value.is_string())
        return false;
    const auto& text = value.get_ref<const std::string&>();
    const bool fits = text.size() <= ReferenceTracker::kMostTextBytes && std::ranges::none_of(text, [](char c) {
                          return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
                      });
    if (fits)
        out = text;
    return fits;
}

/// TVM's servers in C++ and Java write it in quotes.
bool takePort(const json& value, std::uint16_t& out)
{
    std::uint16_t port = 0;
    if (std::string text; takeShort(value, text)) {
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
        if (failed != std::errc() || end != text.data() + text.size())
            return false;
    } else if (!takeJson(value, port)) {
        return false;
    }
    if (port != 0)
        out = port;
    return port != 0;
}

/// In place of what a device tells of itself, of which no more is shown: what thousands tell would fill the memory.
std::string hostOf(const DeviceNotice& notice)
{
    const json about = json::parse(notice.about, nullptr, false);
    std::string host;
    return takeShort(json(lathe::textIn(about, "host")), host) && !host.empty() ? host : notice.device;
}

} // namespace

bool ReferenceTracker::join(Peer peer, std::string ip, Time now)
{
    if (m_peers.size() >= kMostPeers) {
        auto idlest = m_peers.end();
        for (auto each = m_peers.begin(); each != m_peers.end(); ++each) {
            const State& state = each->second;
            const bool holds = state.waits || !state.offers.empty() || !state.name.empty() || !state.out.empty();
            if (!holds && now - state.heard >= kIdle && (idlest == m_peers.end() || state.heard < idlest->second.heard))
                idlest = each;
        }
        if (idlest == m_peers.end())
            return false;
        idlest->second.isDoomed = true;
        m_work.push_back(idlest->first);
        work(now);
    }
    State& state = m_peers[peer];
    state.ip = std::move(ip);
    state.heard = state.whole = now;
    return true;
}

void ReferenceTracker::hear(Peer peer, std::string_view bytes, Time now)
{
    const auto found = m_peers.find(peer);
    if (found == m_peers.end() || bytes.empty())
        return;
    State& state = found->second;
    state.heard = now;
    if (state.isGreeted && state.in.empty())
        state.whole = now;
    state.in += bytes;
    m_work.push_back(peer);
    work(now);
}

std::size_t ReferenceTracker::room(Peer peer) const
{
    const auto found = m_peers.find(peer);
    constexpr std::size_t most = kMostFrameBytes + 4;
    return found == m_peers.end() ? 0 : most - std::min(most, found->second.in.size());
}

bool ReferenceTracker::isWaiting(Peer peer) const
{
    const auto found = m_peers.find(peer);
    return found != m_peers.end() && found->second.waits;
}

void ReferenceTracker::leave(Peer peer, Time now)
{
    forget(peer, now);
    work(now);
}

void ReferenceTracker::pass(Time now)
{
    for (auto& [id, peer] : m_peers) {
        const bool isInASentence = !peer.isGreeted || (!peer.in.empty() && !isMadeToWait(peer));
        if ((isInASentence && now - peer.whole > kPatience) || (!peer.out.empty() && now - peer.took > kPatience)) {
            peer.isDoomed = true;
            m_work.push_back(id);
        }
    }
    work(now);
}

std::string_view ReferenceTracker::unsent(Peer peer) const
{
    const auto found = m_peers.find(peer);
    return found == m_peers.end() ? std::string_view() : found->second.out;
}

void ReferenceTracker::sent(Peer peer, std::size_t bytes, Time now)
{
    const auto found = m_peers.find(peer);
    if (found == m_peers.end())
        return;
    State& state = found->second;
    bytes = std::min(bytes, state.out.size());
    state.out.erase(0, bytes);
    m_unsentBytes -= bytes;
    state.took = now;
    if (state.out.empty())
        state.given.reset();
    m_work.push_back(peer);
    work(now);
}

void ReferenceTracker::hearFarm(std::string_view subject, std::string_view bytes, Time now)
{
    if (auto device = deviceIn(subject, bytes)) {
        device->about = hostOf(*device);
        m_farm.hear(*device, now);
    } else if (const auto claim = claimIn(subject, bytes)) {
        m_farm.hear(*claim, now);
    }
}

/// One answer may let another connection go on, and one that is dropped may give a third what it had: each is looked at
/// in its turn, never inside of another one.
void ReferenceTracker::work(Time now)
{
    while (!m_work.empty()) {
        const Peer id = m_work.back();
        m_work.pop_back();
        look(id, now);
    }
}

bool ReferenceTracker::isMadeToWait(const State& peer) const
{
    return peer.waits || peer.out.size() >= kMostUntakenBytes;
}

void ReferenceTracker::look(Peer id, Time now)
{
    const auto found = m_peers.find(id);
    if (found == m_peers.end())
        return;
    State& peer = found->second;
    std::size_t at = 0;
    while (!peer.isDoomed && !isMadeToWait(peer)) {
        const std::string_view rest = std::string_view(peer.in).substr(at);
        if (rest.size() < 4)
            break;
        const std::uint32_t number = fromFourBytes(rest);
        if (!peer.isGreeted) {
            peer.isDoomed = number != kGreeting;
            if (peer.isDoomed)
                break;
            peer.isGreeted = true;
            send(peer, inFourBytes(kGreeting), now);
            at += 4;
            continue;
        }
        if (number > kMostFrameBytes) { // and so are all negative ones
            peer.isDoomed = true;
            break;
        }
        if (rest.size() - 4 < number)
            break;
        const std::string text(rest.substr(4, number));
        at += 4 + number;
        if (!answer(id, peer, text, now))
            peer.isDoomed = true;
    }
    peer.in.erase(0, at);
    if (at > 0 || peer.in.empty() || isMadeToWait(peer))
        peer.whole = peer.isGreeted ? now : peer.whole;
    // Where one that waits is not read to its end, the system cannot tell that it has gone.
    if (peer.in.size() > kMostFrameBytes + 4 || (peer.waits && peer.in.size() == kMostFrameBytes + 4))
        peer.isDoomed = true;
    if (peer.isDoomed) {
        log(LogLevel::Debug, "broker", fmt::format("the connection from {} is dropped", peer.ip));
        forget(id, now);
        m_dropped.push_back(id);
    }
}

/// False: it is no request.
bool ReferenceTracker::answer(Peer id, State& peer, std::string_view text, Time now)
{
    const json asked = json::parse(text, nullptr, false); // what is no UTF-8 is none
    std::int64_t code = 0;
    if (!asked.is_array() || asked.empty() || !takeJson(asked[0], code))
        return false;
    switch (static_cast<Code>(code)) {
    case Code::Ping: reply(peer, kSuccess, now); return true;
    case Code::Stop:
        // TVM's tracker draws a key that the program alone knows which started it from Python. Nobody starts this one
        // so, and so nobody has its key.
        if (asked.size() < 2)
            return false;
        reply(peer, kFail, now);
        return true;
    case Code::Put: return put(id, peer, asked, now);
    case Code::Request: return request(id, peer, asked, now);
    case Code::UpdateInfo: return identify(peer, asked, now);
    case Code::Summary: reply(peer, {kSuccess, summary(now)}, now); return true;
    case Code::PendingMatchkeys: {
        json matchkeys = json::array();
        for (const auto& [matchkey, where] : peer.offers)
            matchkeys.push_back(matchkey);
        reply(peer, matchkeys, now);
        return true;
    }
    }
    return false;
}

/// [3, KEY, [PORT, MATCHKEY], ADDRESS or null]
bool ReferenceTracker::put(Peer id, State& peer, const json& request, Time now)
{
    std::string key;
    Offer offer = {id, peer.ip, 0, {}};
    if (request.size() < 3 || !takeShort(request[1], key) || !request[2].is_array() || request[2].size() != 2
        || !takePort(request[2][0], offer.port) || !takeShort(request[2][1], offer.matchkey))
        return false;
    if (request.size() > 3 && !request[3].is_null() && !takeShort(request[3], offer.address))
        return false;
    withdraw(peer, offer.matchkey); // a matchkey is one device, however often it is offered
    const bool isNew = !peer.keys.contains(key);
    if (m_offers >= kMostOffers || peer.offers.size() >= kMostOffersOfOne
        || (isNew
            && (peer.keys.size() >= kMostKeysOfOne || (!m_queues.contains(key) && m_queues.size() >= kMostKeys)))) {
        reply(peer, kFail, now);
        return true;
    }
    Queue& queue = m_queues[key];
    if (isNew) {
        peer.keys.insert(key);
        ++queue.servers;
    }
    const Arrival arrival = ++m_arrivals;
    peer.offers[offer.matchkey] = {key, arrival};
    queue.offers[arrival] = std::move(offer);
    ++m_offers;
    reply(peer, kSuccess, now);
    match(key, now);
    return true;
}

/// [4, KEY, USER, PRIORITY]
bool ReferenceTracker::request(Peer id, State& peer, const json& request, Time now)
{
    std::string key, user;
    double priority = 0;
    if (request.size() < 4 || !takeShort(request[1], key) || !takeShort(request[2], user)
        || !takeJson(request[3], priority) || !std::isfinite(priority))
        return false;
    if (!m_queues.contains(key) && m_queues.size() >= kMostKeys) {
        reply(peer, json::array({kFail}), now);
        return true;
    }
    const Turn turn = {-priority, ++m_arrivals};
    peer.waits = {key, turn};
    m_queues[key].waiting[turn] = id;
    match(key, now);
    return true;
}

/// [5, {"key": NAME, "addr": [ADDRESS or null, PORT]}]; some servers of TVM tell no address.
bool ReferenceTracker::identify(State& peer, const json& request, Time now)
{
    if (request.size() < 2 || !request[1].is_object())
        return false;
    const json& info = request[1];
    std::string name, address = peer.ip;
    std::uint16_t port = 0;
    const auto key = info.find("key");
    if (key == info.end() || !takeShort(*key, name))
        return false;
    if (const auto where = info.find("addr"); where != info.end()) {
        if (!where->is_array() || where->size() != 2 || !takePort((*where)[1], port)
            || (!(*where)[0].is_null() && !takeShort((*where)[0], address)))
            return false;
    }
    peer.name = std::move(name);
    peer.address = std::move(address);
    peer.port = port;
    reply(peer, kSuccess, now);
    return true;
}

json ReferenceTracker::summary(Time now)
{
    struct Count
    {
        std::size_t free = 0, pending = 0;
    };
    std::map<std::string, Count> counts;
    json servers = json::array();
    for (const auto& [key, queue] : m_queues)
        counts[key] = {queue.offers.size(), queue.waiting.size()};
    for (const auto& [id, peer] : m_peers)
        if (peer.name.starts_with("server:")) // TVM's clients look for a key behind it
            servers.push_back({{"key", peer.name}, {"addr", {peer.address, peer.port}}});
    const RosterState farm = m_farm.at(now);
    for (const RosterState::Key& key : farm.keys) {
        Count& count = counts[key.key];
        count.free += key.free;
        count.pending += key.pending;
    }
    std::size_t shown = 0;
    for (const RosterState::Device& device : farm.devices)
        if (!device.isLost && ++shown <= kMostDevicesShown)
            servers.push_back({{"key", "server:" + device.notice.key}, {"addr", {device.notice.about, 0}}});
    json queues = json::object();
    for (const auto& [key, count] : counts)
        queues[key] = {{"free", count.free}, {"pending", count.pending}};
    return {{"queue_info", std::move(queues)}, {"server_info", std::move(servers)}};
}

void ReferenceTracker::reply(State& peer, const json& answer, Time now)
{
    const std::string text = answer.dump(-1, ' ', false, json::error_handler_t::replace);
    send(peer, inFourBytes(static_cast<std::uint32_t>(text.size())) + text, now);
}

void ReferenceTracker::send(State& peer, std::string_view bytes, Time now)
{
    if (peer.out.empty())
        peer.took = now;
    peer.out += bytes;
    m_unsentBytes += bytes.size();
    if (m_unsentBytes <= kMostUnsentBytes)
        return;
    // Not the one who happens to ask now: who takes nothing has the most.
    const auto worst = std::ranges::max_element(
        m_peers, {}, [](const auto& each) { return each.second.isDoomed ? 0 : each.second.out.size(); });
    worst->second.isDoomed = true;
    m_work.push_back(worst->first);
}

void ReferenceTracker::match(const std::string& key, Time now)
{
    const auto found = m_queues.find(key);
    if (found == m_queues.end())
        return;
    Queue& queue = found->second;
    while (!queue.offers.empty() && !queue.waiting.empty()) {
        const Peer next = queue.waiting.begin()->second;
        queue.waiting.erase(queue.waiting.begin());
        const auto [arrival, offer] = *queue.offers.begin();
        queue.offers.erase(queue.offers.begin());
        --m_offers;
        m_peers[offer.owner].offers.erase(offer.matchkey);
        State& peer = m_peers[next];
        peer.waits.reset();
        peer.given = {key, arrival, m_arrivals, offer};
        reply(peer, {kSuccess, {offer.address, offer.port, offer.matchkey}}, now);
        m_work.push_back(next);
    }
    eraseIfUnused(key);
}

/// Its place is the one that it had. A server that has offered a device anew meanwhile waits under that matchkey alone.
void ReferenceTracker::giveBack(Given given, Time now)
{
    const auto owner = m_peers.find(given.offer.owner);
    if (owner == m_peers.end())
        return;
    for (const auto& [matchkey, where] : owner->second.offers)
        if (matchkey == given.offer.matchkey || (where.first == given.key && where.second > given.last))
            return;
    owner->second.offers[given.offer.matchkey] = {given.key, given.arrival};
    m_queues[given.key].offers[given.arrival] = std::move(given.offer);
    ++m_offers;
    match(given.key, now);
}

void ReferenceTracker::withdraw(State& peer, const std::string& matchkey)
{
    const auto found = peer.offers.find(matchkey);
    if (found == peer.offers.end())
        return;
    const auto& [key, arrival] = found->second;
    m_queues[key].offers.erase(arrival);
    --m_offers;
    peer.offers.erase(found);
}

void ReferenceTracker::forget(Peer id, Time now)
{
    auto node = m_peers.extract(id);
    if (node.empty())
        return;
    State& peer = node.mapped();
    m_unsentBytes -= peer.out.size();
    if (peer.waits) {
        m_queues[peer.waits->first].waiting.erase(peer.waits->second);
        eraseIfUnused(peer.waits->first);
    }
    while (!peer.offers.empty())
        withdraw(peer, std::string(peer.offers.begin()->first));
    for (const std::string& key : peer.keys) {
        --m_queues[key].servers;
        eraseIfUnused(key);
    }
    if (peer.given)
        giveBack(*std::move(peer.given), now);
}

void ReferenceTracker::eraseIfUnused(const std::string& key)
{
    const auto found = m_queues.find(key);
    if (found != m_queues.end() && found->second.offers.empty() && found->second.waiting.empty()
        && found->second.servers == 0)
        m_queues.erase(found);
}

} // namespace lathe::broker
