#include "core/session/farm_watch.h"

#include "core/broker/connection.h"
#include "core/broker/roster.h"
#include "core/broker/token.h"
#include "core/session/farm_about.h"
#include "core/support/message.h"

#include <mutex>
#include <utility>

namespace lathe::session {

namespace {

using broker::Roster, broker::RosterState;

FarmDeviceState stateOf(const RosterState::Device& device)
{
    if (device.isLost)
        return FarmDeviceState::Lost;
    switch (device.notice.state) {
    case broker::DeviceState::Free: return FarmDeviceState::Free;
    case broker::DeviceState::Offered: return FarmDeviceState::Offered;
    case broker::DeviceState::Leased: return FarmDeviceState::Busy;
    case broker::DeviceState::Draining: return FarmDeviceState::Draining;
    case broker::DeviceState::Drained: return FarmDeviceState::Drained;
    case broker::DeviceState::Sick: return FarmDeviceState::Sick;
    }
    return FarmDeviceState::Sick;
}

double secondsOf(std::chrono::milliseconds span)
{
    return std::chrono::duration<double>(span).count();
}

FarmClaimView viewOf(const RosterState::Claim& claim)
{
    FarmClaimView view;
    view.key = claim.notice.key;
    view.user = claim.notice.user;
    view.program = onOneLine(claim.notice.program);
    view.waitedSeconds = secondsOf(claim.notice.waited);
    view.priority = claim.notice.priority;
    view.devices = claim.devices;
    view.place = claim.place;
    return view;
}

FarmView viewOf(const RosterState& state)
{
    FarmView view;
    std::map<std::pair<std::string, std::string>, std::string> programs; // by key and ticket
    for (const RosterState::Claim& claim : state.claims) {
        view.claims.push_back(viewOf(claim));
        programs[{claim.notice.key, claim.notice.ticket}] = view.claims.back().program;
    }
    for (const RosterState::Device& device : state.devices) {
        FarmDeviceView shown;
        shown.key = device.notice.key;
        shown.name = device.notice.device;
        shown.state = stateOf(device);
        shown.user = onOneLine(device.notice.user);
        if (const auto program = programs.find({device.notice.key, device.notice.ticket}); program != programs.end())
            shown.program = program->second;
        shown.hadSeconds = secondsOf(device.notice.had);
        shown.thereSeconds = secondsOf(device.there);
        shown.silentSeconds = secondsOf(device.silent);
        readAbout(device.notice.about, shown);
        view.devices.push_back(std::move(shown));
    }
    for (const RosterState::Key& key : state.keys)
        view.keys.push_back({key.key, key.total, key.free, key.pending});
    return view;
}

} // namespace

const char* toString(FarmDeviceState state)
{
    switch (state) {
    case FarmDeviceState::Free: return "free";
    case FarmDeviceState::Offered: return "offered";
    case FarmDeviceState::Busy: return "busy";
    case FarmDeviceState::Draining: return "draining";
    case FarmDeviceState::Drained: return "drained";
    case FarmDeviceState::Sick: return "sick";
    case FarmDeviceState::Lost: return "lost";
    }
    return "sick";
}

/// What the broker's threads heard: theirs too, since they may be handing over something while the watch goes.
struct FarmWatch::Heard
{
    std::mutex mutex;
    Roster roster;

    void take(std::string_view subject, std::string_view bytes)
    {
        const auto device = broker::deviceIn(subject, bytes);
        const auto claim = device ? std::nullopt : broker::claimIn(subject, bytes);
        const std::scoped_lock lock(mutex);
        if (device)
            roster.hear(*device, Roster::Clock::now());
        else if (claim)
            roster.hear(*claim, Roster::Clock::now());
    }
};

struct FarmWatch::Parts
{
    std::string broker;
    std::shared_ptr<Heard> heard = std::make_shared<Heard>();
    std::shared_ptr<broker::Connection> connection;
    std::unique_ptr<broker::Subscription> devices, claims;
};

FarmWatch::FarmWatch(std::unique_ptr<Parts> parts)
    : m_parts(std::move(parts))
{
}
FarmWatch::~FarmWatch() = default;

Result<std::unique_ptr<FarmWatch>> FarmWatch::open(const std::string& where, const std::filesystem::path& token)
{
    std::optional<broker::Token> ours;
    if (!token.empty()) {
        LATHE_TRY_ASSIGN(ours, broker::readToken(token));
        if (ours->member.role == broker::Role::Runner)
            return makeError(Errc::InvalidArgument,
                             say(Msg::TokenOfOtherRole, token.string(), say(Msg::RoleRunner), say(Msg::RoleObserver)));
    }
    auto parts = std::make_unique<Parts>();
    LATHE_TRY_ASSIGN(const broker::BrokerAddress address, broker::brokerAddress(where, ours, "lathe"));
    parts->broker = address.url;
    LATHE_TRY_ASSIGN(parts->connection, broker::Connection::open(address));
    const auto take = [heard = parts->heard](std::string_view subject, std::string_view bytes) {
        heard->take(subject, bytes);
    };
    LATHE_TRY_ASSIGN(parts->devices, parts->connection->subscribe("lathe.here.>", take));
    LATHE_TRY_ASSIGN(parts->claims, parts->connection->subscribe("lathe.claim.>", take));
    parts->connection->settle();
    return std::unique_ptr<FarmWatch>(new FarmWatch(std::move(parts)));
}

FarmView FarmWatch::snapshot() const
{
    RosterState state;
    {
        const std::scoped_lock lock(m_parts->heard->mutex);
        state = m_parts->heard->roster.at(Roster::Clock::now());
    }
    FarmView view = viewOf(state);
    view.broker = m_parts->broker;
    view.connected = m_parts->connection->connected();
    return view;
}

bool FarmWatch::answers() const
{
    return m_parts->connection->connected() && m_parts->connection->settle();
}

} // namespace lathe::session
