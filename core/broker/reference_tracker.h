#pragma once

#include "core/broker/roster.h"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::broker {

/// The tracker of TVM, spoken for the scripts and servers that people have: servers offer a device under a key, clients
/// ask for one of a key and are told where it is. All of it is between those two; Lathe's own devices, which are
/// claimed by way of a broker (desk.h), are only shown.
///
/// A client sends 0x2F271 (four bytes, little endian) and gets the same back. Then both send the length of a text as
/// four bytes, little endian, and the text, which is JSON; each request has one answer, in their order:
///
///     [1]                                         0             is anybody there
///     [2, STOP_KEY]                               -1            stop: nobody has that key
///     [3, KEY, [PORT, MATCHKEY], ADDRESS or null] 0             a device is free; -1: there are too many
///     [4, KEY, USER, PRIORITY]                    [0, [ADDRESS, PORT, MATCHKEY]]    once one is free; [-1]: too many
///     [5, {"key": "server:KEY", "addr": [ADDRESS or null, PORT]}]                   0    who the connection is
///     [6]                                         [0, {"queue_info": {KEY: {"free": N, "pending": N}},
///                                                      "server_info": [{"key": .., "addr": ..}]}]
///     [7]                                         [MATCHKEY, ...]    what the connection offers and nobody got yet
///
/// A device goes to the request of the highest priority, of equals to the first; of several devices the one that was
/// offered first goes. Who sends anything else is dropped, as TVM's tracker does it, but without harm to others. What
/// is dropped or leaves takes back what it offered and asked for.
///
/// In the summary a device of Lathe has the name of its machine and port 0, since nobody can connect to it, and counts
/// as TVM's do: for the table that clients print of it, the number of devices of a key is that of its `server_info`.
///
/// A state machine: connections are numbers, it is told the time, and neither sends nor waits. Threads: one.
class ReferenceTracker
{
public:
    using Clock = Roster::Clock;
    using Time = Clock::time_point;
    using Peer = std::uint64_t; ///< a connection; each number is used once

    /// @param ip  from where, as servers without an address of their own are told to others. False: there are too many,
    ///            and it must be closed. Of those that only came and say nothing the one that is silent longest goes.
    bool join(Peer peer, std::string ip, Time now);
    /// What it said: room() bytes at most. A peer that is not there any more is not heard.
    void hear(Peer peer, std::string_view bytes, Time now);
    /// 0: it takes no answer of those that it has. One that waits for a device and fills its room is dropped.
    std::size_t room(Peer peer) const;
    /// It waits for a device: when it is gone nobody else's device may be given to it.
    bool isWaiting(Peer peer) const;
    void leave(Peer peer, Time now);
    /// To be called every second or so: who is silent in the middle of a sentence, or does not take an answer, is
    /// dropped.
    void pass(Time now);

    std::string_view unsent(Peer peer) const;
    void sent(Peer peer, std::size_t bytes, Time now);
    /// Those that were dropped since the last call, to be closed: they are forgotten already.
    std::vector<Peer> takeDropped() { return std::exchange(m_dropped, {}); }

    /// A notice of one of Lathe's devices or claims (notices.h); anything else is no notice.
    void hearFarm(std::string_view subject, std::string_view bytes, Time now);

    static constexpr std::size_t kMostPeers = 512;
    static constexpr std::size_t kMostFrameBytes = 64u << 10; ///< of a request
    static constexpr std::size_t kMostTextBytes = 256; ///< of a key, an address or a matchkey
    static constexpr std::size_t kMostOffers = 8192, kMostOffersOfOne = 1024; ///< of all connections, and of each
    static constexpr std::size_t kMostKeys = 4096, kMostKeysOfOne = 256;
    static constexpr std::size_t kMostDevicesShown = 2000; ///< of Lathe; all are counted as free
    static constexpr std::size_t kMostUnsentBytes = 64u << 20; ///< of all connections
    /// For a greeting, for the rest of a request, and for taking an answer.
    static constexpr std::chrono::seconds kPatience{20};
    /// Who holds nothing and was silent for so long makes room for others. Else such a one may stay: scripts keep a
    /// connection from one question to the next.
    static constexpr std::chrono::seconds kIdle{60};

private:
    struct Offer
    {
        Peer owner = 0;
        std::string address;
        std::uint16_t port = 0;
        std::string matchkey;
    };
    using Arrival = std::uint64_t; ///< counts all that is offered and asked for
    using Turn = std::pair<double, Arrival>; ///< -priority, arrival: the least is the next
    struct Queue
    {
        std::map<Arrival, Offer> offers;
        std::map<Turn, Peer> waiting;
        std::size_t servers =
            0; ///< connections that offered something here: the key is shown as long as they are there
    };
    struct Given
    {
        std::string key;
        Arrival arrival = 0;
        Arrival last = 0; ///< when it was given
        Offer offer;
    };
    struct State
    {
        std::string ip;
        bool isGreeted = false, isDoomed = false;
        std::string in, out; ///< what was not looked at and what was not sent yet
        Time heard; ///< last
        Time whole; ///< it was at the end of a sentence, or was made to wait itself
        Time took; ///< it had no answer to take
        std::optional<std::pair<std::string, Turn>> waits; ///< key and place
        std::optional<Given> given; ///< and that has not been sent to it
        std::map<std::string, std::pair<std::string, Arrival>> offers; ///< by matchkey: key and place
        std::set<std::string> keys; ///< under which it offered something
        std::string name, address; ///< "server:KEY"; empty: it did not say
        std::uint16_t port = 0;
    };

    void work(Time now);
    void look(Peer id, Time now);
    bool answer(Peer id, State& peer, std::string_view text, Time now);
    bool put(Peer id, State& peer, const nlohmann::json& request, Time now);
    bool request(Peer id, State& peer, const nlohmann::json& request, Time now);
    bool identify(State& peer, const nlohmann::json& request, Time now);
    nlohmann::json summary(Time now);
    void reply(State& peer, const nlohmann::json& answer, Time now);
    void send(State& peer, std::string_view bytes, Time now);
    void match(const std::string& key, Time now);
    void giveBack(Given given, Time now);
    void withdraw(State& peer, const std::string& matchkey);
    void forget(Peer id, Time now);
    void eraseIfUnused(const std::string& key);
    bool isMadeToWait(const State& peer) const;

    std::map<Peer, State> m_peers;
    std::map<std::string, Queue> m_queues; ///< by key
    std::vector<Peer> m_work; ///< who may have something to be looked at
    std::vector<Peer> m_dropped;
    Roster m_farm;
    Arrival m_arrivals = 0;
    std::size_t m_offers = 0, m_unsentBytes = 0;
};

} // namespace lathe::broker
