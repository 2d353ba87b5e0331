#include "core/broker/reference_tracker.h"
#include "core/broker/subjects.h"
#include "core/support/check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace lathe;
using broker::ReferenceTracker;

namespace {

constexpr std::size_t kPeers = 4;

/// What the connections do: of each byte the last two bits say which of four, the next three what; some take a second
/// byte as a length or a time.
enum class Step : std::uint8_t
{
    Frame, ///< a request of so many bytes, with its length before it
    Bytes, ///< so many bytes as they are
    Take, ///< up to so many bytes of the answers
    TakeAll,
    Leave,
    Pass, ///< so many seconds
    Device, ///< a notice of one of Lathe's, of so many bytes
    Claim
};

/// All that one connection was told.
struct Told
{
    std::string bytes;
    bool isGreeted = false;

    /// Whole answers are JSON, and nothing is between them.
    void check()
    {
        if (!isGreeted && bytes.size() >= 4) {
            LATHE_CHECK(bytes.starts_with(std::string("\x71\xF2\x02\x00", 4)));
            isGreeted = true;
            bytes.erase(0, 4);
        }
        while (isGreeted && bytes.size() >= 4) {
            std::size_t size = 0;
            for (std::size_t i = 0; i < 4; ++i)
                size |= std::size_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
            if (bytes.size() - 4 < size)
                return;
            LATHE_CHECK(!nlohmann::json::parse(bytes.substr(4, size), nullptr, false).is_discarded());
            bytes.erase(0, 4 + size);
        }
    }
};

struct Farm
{
    ReferenceTracker tracker;
    ReferenceTracker::Time now = ReferenceTracker::Time() + std::chrono::hours(1);
    std::array<ReferenceTracker::Peer, kPeers> peers = {}; ///< 0: it is not there
    std::array<Told, kPeers> told;
    ReferenceTracker::Peer last = 0;

    /// Whoever is not there comes, and greets.
    ReferenceTracker::Peer peer(std::size_t which)
    {
        if (peers[which] == 0) {
            peers[which] = ++last;
            told[which] = {};
            LATHE_CHECK(tracker.join(last, "10.0.0." + std::to_string(which), now));
            tracker.hear(last, {"\x71\xF2\x02\x00", 4}, now);
        }
        return peers[which];
    }
    void hear(std::size_t which, std::string_view bytes)
    {
        const auto there = peer(which);
        tracker.hear(there, bytes.substr(0, tracker.room(there)), now);
    }
    void take(std::size_t which, std::size_t most)
    {
        const std::string_view unsent = tracker.unsent(peers[which]);
        const std::string taken(unsent.substr(0, most));
        told[which].bytes += taken;
        tracker.sent(peers[which], taken.size(), now);
        told[which].check();
    }
    void closeDropped()
    {
        for (const auto dropped : tracker.takeDropped()) {
            LATHE_CHECK(tracker.unsent(dropped).empty() && tracker.room(dropped) == 0);
            std::ranges::replace(peers, dropped, ReferenceTracker::Peer(0));
        }
    }
    /// Asks as one more connection. Nothing is both free and wanted but what Lathe's devices are.
    void checkSummary(bool hasLathe)
    {
        const auto asking = ++last;
        LATHE_CHECK(tracker.join(asking, "10.0.0.9", now));
        tracker.hear(asking, {"\x71\xF2\x02\x00\x03\x00\x00\x00[6]", 11}, now);
        const std::string bytes(tracker.unsent(asking));
        LATHE_CHECK(bytes.size() > 8);
        const auto answer = nlohmann::json::parse(bytes.substr(8), nullptr, false);
        LATHE_CHECK(answer.is_array() && answer.size() == 2 && answer[1]["server_info"].is_array());
        for (const auto& [key, count] : answer[1]["queue_info"].items())
            LATHE_CHECK(hasLathe || count["free"] == 0 || count["pending"] == 0) << key;
        tracker.leave(asking, now);
    }
};

} // namespace

/// Connections to TVM's tracker, as a script of steps.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    Farm farm;
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    bool hasLathe = false;
    const auto next = [&] {
        const std::size_t byte = rest.empty() ? 0 : static_cast<unsigned char>(rest.front());
        rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
        return byte;
    };
    const auto text = [&] {
        const std::size_t length = next();
        std::string bytes(rest.substr(0, length));
        rest.remove_prefix(bytes.size());
        return bytes;
    };
    while (!rest.empty()) {
        const std::size_t step = next(), which = step & 3;
        switch (static_cast<Step>(step >> 2 & 7)) {
        case Step::Frame: {
            const std::string bytes = text();
            farm.hear(which, std::string{static_cast<char>(bytes.size()), 0, 0, 0} + bytes);
            break;
        }
        case Step::Bytes: farm.hear(which, text()); break;
        case Step::Take: farm.take(which, next()); break;
        case Step::TakeAll: farm.take(which, std::string::npos); break;
        case Step::Leave:
            farm.tracker.leave(farm.peers[which], farm.now);
            farm.peers[which] = 0;
            break;
        case Step::Pass:
            farm.now += std::chrono::seconds(next());
            farm.tracker.pass(farm.now);
            break;
        case Step::Device:
            farm.tracker.hearFarm(broker::hereSubject("k", "d"), text(), farm.now);
            hasLathe = true;
            break;
        case Step::Claim:
            farm.tracker.hearFarm(broker::claimSubject("k", "u"), text(), farm.now);
            hasLathe = true;
            break;
        }
        farm.closeDropped();
    }
    farm.checkSummary(hasLathe);
    for (const auto peer : farm.peers)
        farm.tracker.leave(peer, farm.now);
    farm.checkSummary(hasLathe);
    return 0;
}
