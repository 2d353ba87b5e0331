#include "core/measure/remote_devices.h"

#include "core/broker/inbox.h"
#include "core/broker/notices.h"
#include "core/broker/packet.h"
#include "core/broker/roster.h"
#include "core/broker/subjects.h"
#include "core/broker/unguessable.h"
#include "core/measure/remote_port.h"
#include "core/support/deadline.h"
#include "core/support/event_bell.h"
#include "core/support/json_fields.h"
#include "core/support/stop_bell.h"
#include "core/support/this_machine.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace lathe::measure {

namespace {

using Clock = Endpoint::Clock;
using Time = Endpoint::Time;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kRefusedFor(60);
/// A device's notices come by another way than its offers: one may be of before.
constexpr milliseconds kOldNotices(1500);
/// How often one looks who is there.
constexpr milliseconds kLookEach(250);
/// Keys and offers beyond these are a flood.
constexpr std::size_t kMostHeard = 10'000;
constexpr std::size_t kLeastSlots = 1, kUsualSlots = 2, kMostSlots = 16;

nlohmann::json devicesIn(const nlohmann::json& about)
{
    const auto devices = about.is_object() ? about.find("devices") : about.end();
    return devices != about.end() && devices->is_array() ? *devices : nlohmann::json::array();
}

bool hasKind(const nlohmann::json& about, const std::string& kind)
{
    return std::ranges::any_of(devicesIn(about), [&](const auto& device) { return textIn(device, "kind") == kind; });
}

/// "cpu, opencl": of the devices that a runner tells of; empty: it tells of none.
std::string kindsIn(const nlohmann::json& about)
{
    std::set<std::string> kinds;
    for (const nlohmann::json& device : devicesIn(about))
        kinds.insert(textIn(device, "kind"));
    return fmt::format("{}", fmt::join(kinds, ", "));
}

/// One that was offered and is being made ready, or that the caller has.
struct Taken
{
    std::unique_ptr<Endpoint> opening; ///< null: the caller has it
    RemotePort::Presence presence;
    Time since;
    int strange = 0; ///< notices in a row by which somebody else has it
};

} // namespace

struct RemoteDevices::Impl
{
    RemoteClaim claim;
    std::optional<DeviceSpec> spec; ///< opened on each device
    std::string machine = bootId();
    std::string ticket = broker::unguessable().hex();
    Time made = Clock::now();
    std::shared_ptr<broker::Connection> connection;
    std::shared_ptr<broker::Inbox> inbox = std::make_shared<broker::Inbox>();
    std::vector<std::unique_ptr<broker::Subscription>> subscriptions;
    std::unique_ptr<broker::Subscription> ofOthers; ///< keys, while no device of ours is there
    EventBell changed;
    std::atomic<bool> held = false;
    std::atomic<Clock::rep> usedAt = Clock::now().time_since_epoch().count();

    // Of the claim's thread.
    broker::Roster roster; ///< of the key
    broker::RosterState seen; ///< of it, a moment ago
    Time nextLook = {};
    std::map<std::string, Time> otherKeys;
    std::map<std::string, std::pair<broker::Offer, Time>> offers; ///< by device, until something is heard of it
    std::map<std::string, Taken> taken; ///< by device
    std::map<std::string, Hash128> sessions; ///< the last one with each device
    Time nextNotice = {};
    bool answers = true; ///< the broker
    std::uint64_t reconnections = 0; ///< to it, so far
    Time answersSince = Clock::now(); ///< others may be back later

    std::mutex mutex; ///< of what follows
    std::vector<std::unique_ptr<Endpoint>> ready;
    std::map<std::string, Time> refusedUntil;
    State told;
    std::vector<std::string> names; ///< of the devices that are there

    std::jthread thread; ///< ends first

    void run(const std::stop_token& stop);
    Result<> hearOthers(bool wanted);
    void hear(Time now);
    void hear(const broker::DeviceNotice& notice, Time now);
    void look(Time now);
    const broker::RosterState::Device* deviceOf(const std::string& name) const;
    void take(Time now);
    void makeReady(Time now);
    void lookForLost(Time now);
    void announce(Time now);
    void tell();
    std::string namesThere();
    void refuse(const std::string& name, std::optional<Message> why, Time now);
    bool isRefused(const std::string& name, Time now);
    bool isUsed(Time now) const { return held || now - Time(Clock::duration(usedAt)) < claim.idle; }
};

RemoteDevices::RemoteDevices(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}

RemoteDevices::~RemoteDevices()
{
    m_impl->thread = {};
    m_impl->ready.clear(); // gives them back
    m_impl->taken.clear();
    m_impl->connection->settle();
}

Result<std::unique_ptr<RemoteDevices>> RemoteDevices::open(RemoteClaim claim, std::optional<DeviceSpec> device)
{
    for (const std::string* name : {&claim.key, &claim.user})
        if (!broker::isWord(*name))
            return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, *name));
    auto impl = std::make_unique<Impl>();
    impl->claim = std::move(claim);
    impl->spec = std::move(device);
    LATHE_TRY_ASSIGN(impl->connection, broker::Connection::open(impl->claim.broker));
    const auto put = [inbox = impl->inbox](std::string_view subject, std::string_view text) {
        inbox->put(subject, text);
    };
    const std::string& key = impl->claim.key;
    for (const std::string& subject :
         {broker::offerSubject(impl->claim.user), broker::hereSubject(key, "*"), broker::claimSubject(key, "*")}) {
        LATHE_TRY_ASSIGN(auto subscription, impl->connection->subscribe(subject, put));
        impl->subscriptions.push_back(std::move(subscription));
    }
    LATHE_TRY(impl->hearOthers(true));
    impl->connection->settle();
    impl->thread = std::jthread([impl = impl.get()](const std::stop_token& stop) { impl->run(stop); });
    return std::unique_ptr<RemoteDevices>(new RemoteDevices(std::move(impl)));
}

std::vector<std::unique_ptr<Endpoint>> RemoteDevices::takeReady()
{
    m_impl->changed.silence();
    const std::scoped_lock lock(m_impl->mutex);
    return std::exchange(m_impl->ready, {});
}

Result<std::vector<std::unique_ptr<Endpoint>>> RemoteDevices::waitForSome(
    const std::function<void(const Message&)>& notify, const std::stop_token& stop)
{
    const StopBell bell(stop);
    const RemoteClaim& claim = m_impl->claim;
    // Whoever is there has said so by then, and most that can be had have been opened.
    const Deadline nobody = Deadline::in(2 * broker::kSilence);
    std::string told;
    std::optional<Message> refusal;
    while (!stop.stop_requested()) {
        use();
        if (auto devices = takeReady(); !devices.empty())
            return devices;
        const State now = state();
        if (now.ended)
            return *now.ended;
        for (const Message& one : now.refusals) {
            refusal = one;
            if (notify && now.refused < now.there)
                notify(one);
        }
        if (refusal && now.there > 0 && now.refused >= now.there)
            return makeError(Errc::NotFound, *refusal);
        if (now.there == 0 && now.brokerAnswers && nobody.passed()) {
            if (const std::string names = m_impl->namesThere(); !claim.device.empty() && !names.empty())
                return makeError(Errc::NotFound, say(Msg::DeviceNotHeardOf, claim.device, claim.broker.url, names));
            std::string keys;
            for (const std::string& key : now.otherKeys)
                keys += (keys.empty() ? "" : ", ") + key;
            return makeError(Errc::NotFound, keys.empty()
                                                 ? say(Msg::NobodyOffersAny, claim.broker.url, claim.key)
                                                 : say(Msg::NobodyOffersKey, claim.key, claim.broker.url, keys));
        }
        const Message waiting = !now.brokerAnswers ? say(Msg::BrokerAway, claim.broker.url)
                                : now.there == 0   ? say(Msg::WaitingForKey, claim.key)
                                                   : say(Msg::WaitingForDevice, claim.key, now.there, now.before);
        if (nobody.passed() && notify && told != textOf(waiting)) {
            notify(waiting);
            told = textOf(waiting);
        }
        pollfd fds[] = {bell.watched(), watched()};
        ::poll(fds, 2, 500);
    }
    return makeError(Errc::Cancelled, say(Msg::MeasuringStopped));
}

void RemoteDevices::refuse(const std::string& device, std::optional<Message> why)
{
    m_impl->refuse(device, std::move(why), Clock::now());
}

void RemoteDevices::use()
{
    m_impl->usedAt = Clock::now().time_since_epoch().count();
}

void RemoteDevices::hold(bool held)
{
    m_impl->held = held;
    use();
}

pollfd RemoteDevices::watched() const
{
    return m_impl->changed.watched();
}

std::chrono::milliseconds RemoteDevices::idle() const
{
    return m_impl->claim.idle;
}

const std::string& RemoteDevices::key() const
{
    return m_impl->claim.key;
}

RemoteDevices::State RemoteDevices::state()
{
    const std::scoped_lock lock(m_impl->mutex);
    State state = m_impl->told;
    m_impl->told.refusals.clear();
    const Time now = Clock::now();
    state.refused = static_cast<std::size_t>(
        std::ranges::count_if(m_impl->refusedUntil, [&](const auto& refused) { return now < refused.second; }));
    return state;
}

void RemoteDevices::Impl::run(const std::stop_token& stop)
{
    const StopBell bell(stop);
    while (!stop.stop_requested()) {
        const Time now = Clock::now();
        hear(now);
        announce(now);
        look(now);
        take(now);
        makeReady(now);
        std::vector<pollfd> fds = {bell.watched(), inbox->watched()};
        Time wake = std::min(nextNotice, nextLook);
        for (const auto& [name, device] : taken)
            if (device.opening) {
                device.opening->watch(fds);
                wake = std::min(wake, device.opening->wake());
            }
        ::poll(fds.data(), fds.size(), Deadline::at(wake).pollMs());
    }
}

/// What keys there are is of interest as long as ours has no device. A farm of thousands tells more than a run has time
/// to hear.
Result<> RemoteDevices::Impl::hearOthers(bool wanted)
{
    if (!wanted)
        ofOthers.reset();
    if (!wanted || ofOthers)
        return {};
    const auto put = [inbox = inbox](std::string_view subject, std::string_view text) { inbox->put(subject, text); };
    LATHE_TRY_ASSIGN(ofOthers, connection->subscribe(broker::hereSubject("*", "*"), put));
    return {};
}

void RemoteDevices::Impl::hear(Time now)
{
    for (const broker::Inbox::Heard& heard : inbox->takeAll()) {
        if (const auto notice = broker::deviceIn(heard.subject, heard.bytes))
            hear(*notice, now);
        else if (const auto other = broker::claimIn(heard.subject, heard.bytes); other && other->key == claim.key)
            roster.hear(*other, now);
        else if (const auto offer = broker::offerIn(heard.bytes);
                 offer && offer->ticket == ticket && offers.size() < kMostHeard)
            offers[offer->device] = {*offer, now};
    }
}

void RemoteDevices::Impl::hear(const broker::DeviceNotice& notice, Time now)
{
    if (notice.key != claim.key) {
        if (otherKeys.size() < kMostHeard || otherKeys.contains(notice.key))
            otherKeys[notice.key] = now;
        return;
    }
    roster.hear(notice, now);
    if (const auto ours = taken.find(notice.device); ours != taken.end()) {
        const bool strange = notice.ticket != ticket && now - ours->second.since > kOldNotices;
        ours->second.strange = strange ? ours->second.strange + 1 : 0;
        return;
    }
    // It did not hear that we gave it back, and would keep itself for us as long as we want devices.
    if (const auto last = sessions.find(notice.device);
        last != sessions.end() && notice.ticket == ticket && notice.state == broker::DeviceState::Leased)
        connection->publish(
            broker::toDeviceSubject(notice.device, claim.user, last->second),
            broker::encode({last->second, 0, 0, broker::Packet::Kind::End, textOf(say(Msg::DeviceGivenBack))}));
}

/// What is there now, and what became of it.
void RemoteDevices::Impl::look(Time now)
{
    if (now < nextLook && offers.empty())
        return;
    nextLook = now + kLookEach;
    seen = roster.at(now);
    const bool connected = connection->connected();
    const std::uint64_t count = connection->reconnections(); // also of what was too short to be seen
    if (connected != answers || count != reconnections)
        answersSince = now;
    answers = connected;
    reconnections = count;
    const bool isAlone = std::ranges::all_of(seen.devices, [](const auto& device) { return device.isLost; });
    (void)hearOthers(isAlone); // if it cannot, an error has no names of keys
    lookForLost(now);
    tell();
}

const broker::RosterState::Device* RemoteDevices::Impl::deviceOf(const std::string& name) const
{
    const auto found = std::ranges::find_if(
        seen.devices, [&](const auto& device) { return device.notice.device == name && !device.isLost; });
    return found == seen.devices.end() ? nullptr : &*found;
}

/// Says that it wants devices, as long as it uses them.
void RemoteDevices::Impl::announce(Time now)
{
    if (now < nextNotice)
        return;
    nextNotice = now + broker::kNoticeEach;
    if (!isUsed(now)) {
        made = now; // it waits anew from then on
        return;
    }
    broker::ClaimNotice notice;
    notice.ticket = ticket;
    notice.program = claim.program;
    notice.priority = claim.priority;
    notice.waited = std::chrono::duration_cast<milliseconds>(now - made);
    notice.reserve = claim.reserve;
    notice.most = claim.most;
    notice.device = claim.device;
    connection->publish(broker::claimSubject(claim.key, claim.user), broker::toText(notice));
}

void RemoteDevices::Impl::take(Time now)
{
    std::erase_if(offers, [&](const auto& entry) { return now - entry.second.second >= broker::kOfferLasts; });
    for (auto entry = offers.begin(); entry != offers.end();) {
        const auto& [name, offered] = *entry;
        if (!claim.device.empty()
            && name != claim.device) { // a runner of an earlier version offers itself all the same
            entry = offers.erase(entry);
            continue;
        }
        // What a device is stands in its notices, which nobody but it can send.
        const broker::RosterState::Device* const known = deviceOf(name);
        const bool isFull = claim.most != 0 && taken.size() >= claim.most;
        // One that says itself that we have it offers nothing: somebody else speaks for it.
        const bool isOurs = known != nullptr && known->notice.ticket == ticket
                            && known->notice.state == broker::DeviceState::Leased;
        if (known == nullptr || isFull || isOurs || isRefused(name, now) || !isUsed(now)) {
            ++entry;
            continue;
        }
        const auto about = nlohmann::json::parse(known->notice.about, nullptr, false);
        if (const std::string kinds = spec ? kindsIn(about) : std::string();
            !kinds.empty() && !hasKind(about, spec->kind)) {
            refuse(name, say(Msg::DeviceHasNoKind, name, spec->kind, kinds), now);
            entry = offers.erase(entry);
            continue;
        }
        EndpointTraits traits;
        traits.device = spec;
        traits.supervised = true;
        traits.sharesMachine = !machine.empty() && textIn(about, "machine") == machine;
        traits.capacity = static_cast<std::size_t>(std::clamp<std::int64_t>(
            wholeIn(about, "slots", kUsualSlots), std::int64_t(kLeastSlots), std::int64_t(kMostSlots)));
        sessions[name] = offered.first.session;
        Taken& place = taken[name];
        if (place.presence) // it was offered anew: what we had of it is over
            place.presence->store(RemotePort::Gone::GivenBack);
        place = {};
        place.presence = RemotePort::makePresence();
        place.since = now;
        place.opening = std::make_unique<Endpoint>(
            std::make_unique<RemotePort>(connection, claim.user, offered.first, place.presence), std::move(traits));
        if (const Result<> opened = place.opening->open(now); !opened) {
            refuse(name, messageOf(opened.error()), now);
            taken.erase(name);
        }
        entry = offers.erase(entry);
    }
}

void RemoteDevices::Impl::makeReady(Time now)
{
    for (auto entry = taken.begin(); entry != taken.end();) {
        auto& [name, device] = *entry;
        if (!device.opening) {
            ++entry;
            continue;
        }
        if (const Result<> turned = device.opening->turn(now); !turned) {
            if (turned.error().code != Errc::DeviceLost) // else it has changed its mind
                refuse(name, messageOf(turned.error()), now);
            entry = taken.erase(entry);
            continue;
        }
        if (device.opening->ready()) {
            const std::scoped_lock lock(mutex);
            ready.push_back(std::move(device.opening));
            changed.ring();
        }
        ++entry;
    }
}

/// Devices that say nothing any more, or that somebody else has by what they say: one that was started anew knows
/// nothing of us.
void RemoteDevices::Impl::lookForLost(Time now)
{
    if (!answers || now - answersSince < broker::kSilence) // nothing could be heard of them
        return;
    std::erase_if(otherKeys, [&](const auto& entry) { return now - entry.second >= broker::kSilence; });
    std::erase_if(taken, [&](const auto& entry) {
        const auto& [name, device] = entry;
        if (!device.opening && device.presence->load() != RemotePort::Gone::No) // the caller closed it
            return true;
        const bool silent = deviceOf(name) == nullptr;
        if (!silent && device.strange < 2)
            return false;
        device.presence->store(silent ? RemotePort::Gone::Silent : RemotePort::Gone::GivenBack);
        changed.ring();
        return true;
    });
}

void RemoteDevices::Impl::tell()
{
    const auto isThere = [&](const broker::RosterState::Device& device) {
        return !device.isLost && (claim.device.empty() || device.notice.device == claim.device);
    };
    const auto there = static_cast<std::size_t>(std::ranges::count_if(seen.devices, isThere));
    const auto ours = std::ranges::find(seen.claims, ticket, [](const auto& other) { return other.notice.ticket; });
    const std::scoped_lock lock(mutex);
    if (told.brokerAnswers != answers || told.there != there)
        changed.ring();
    told.brokerAnswers = answers;
    told.ended = connection->ended();
    told.there = there;
    names.clear();
    for (const auto& device : seen.devices)
        if (!device.isLost)
            names.push_back(device.notice.device);
    told.before = ours == seen.claims.end() || ours->place == 0 ? 0 : ours->place - 1;
    told.otherKeys.clear();
    for (const auto& [key, at] : otherKeys)
        told.otherKeys.push_back(key);
}

/// "board1, board2"
std::string RemoteDevices::Impl::namesThere()
{
    const std::scoped_lock lock(mutex);
    return fmt::format("{}", fmt::join(names, ", "));
}

void RemoteDevices::Impl::refuse(const std::string& name, std::optional<Message> why, Time now)
{
    const std::scoped_lock lock(mutex);
    if (refusedUntil.size() >= kMostHeard)
        return;
    refusedUntil[name] = now + kRefusedFor;
    if (why)
        told.refusals.push_back(say(Msg::DeviceLeftOut, name, *std::move(why)));
    changed.ring();
}

bool RemoteDevices::Impl::isRefused(const std::string& name, Time now)
{
    const std::scoped_lock lock(mutex);
    const auto refused = refusedUntil.find(name);
    return refused != refusedUntil.end() && now < refused->second;
}

} // namespace lathe::measure
