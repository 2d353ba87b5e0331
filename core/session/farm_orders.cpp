#include "core/session/farm_orders.h"

#include "core/broker/address.h"
#include "core/broker/connection.h"
#include "core/broker/inbox.h"
#include "core/broker/notices.h"
#include "core/broker/server_config.h"
#include "core/broker/subjects.h"
#include "core/broker/token.h"
#include "core/broker/tracker_folder.h"
#include "core/support/deadline.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace lathe::session {

namespace {

/// Who is there has said so by then.
constexpr std::chrono::milliseconds kHeardBy = 2 * broker::kNoticeEach;
constexpr double kObeysSeconds = 5;

bool does(const broker::DeviceNotice& notice, FarmOrder order)
{
    const bool isDrained = notice.state == broker::DeviceState::Drained
                           || notice.state == broker::DeviceState::Draining;
    if (order == FarmOrder::Leave) // one that was drained before says so all the time
        return isDrained && flagIn(nlohmann::json::parse(notice.about, nullptr, false), "leaves");
    return isDrained == (order != FarmOrder::Resume);
}

broker::Order::What whatOf(FarmOrder order)
{
    switch (order) {
    case FarmOrder::Drain: return broker::Order::What::Drain;
    case FarmOrder::Resume: return broker::Order::What::Resume;
    case FarmOrder::Leave: return broker::Order::What::Leave;
    }
    return broker::Order::What::Drain;
}

/// The devices of a key, as one hears them.
class Ear
{
public:
    explicit Ear(std::string key)
        : m_key(std::move(key))
    {
    }
    Result<> listen(broker::Connection& connection)
    {
        LATHE_TRY_ASSIGN(m_subscription, connection.subscribe(broker::hereSubject(m_key, "*"),
                                                              [inbox = m_inbox](auto subject, auto text) {
                                                                  inbox->put(subject, text);
                                                              }));
        connection.settle();
        return {};
    }
    /// Until one of them says something for which `is` is true. False: none does.
    bool hears(Deadline deadline, const std::function<bool(const broker::DeviceNotice&)>& is)
    {
        while (true) {
            for (const broker::Inbox::Heard& heard : m_inbox->takeAll())
                if (const auto notice = broker::deviceIn(heard.subject, heard.bytes)) {
                    m_names.insert(notice->device);
                    if (is(*notice))
                        return true;
                }
            if (deadline.passed())
                return false;
            pollfd watched = m_inbox->watched();
            ::poll(&watched, 1, deadline.pollMs());
        }
    }
    std::string names() const { return fmt::format("{}", fmt::join(m_names, ", ")); }

private:
    std::string m_key;
    std::shared_ptr<broker::Inbox> m_inbox = std::make_shared<broker::Inbox>();
    std::unique_ptr<broker::Subscription> m_subscription;
    std::set<std::string> m_names;
};

/// The place of this machine's tracker, if it is the one at that address.
std::optional<broker::TrackerFolder> trackerAt(const std::string& url)
{
    const std::filesystem::path place = broker::TrackerFolder::usualPlace();
    std::error_code code;
    if (!std::filesystem::exists(place, code))
        return std::nullopt;
    auto folder = broker::TrackerFolder::open(place);
    return folder && folder->url() == url ? std::optional(*std::move(folder)) : std::nullopt;
}

} // namespace

Result<> orderDevice(const BrokerWords& words, const std::string& key, const std::string& device, FarmOrder order)
{
    LATHE_TRY_ASSIGN(const measure::RemoteClaim claim, remoteClaim(words, key, "lathe"));
    for (const std::string& word : {key, device})
        if (!broker::isWord(word))
            return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, word));
    LATHE_TRY_ASSIGN(const auto connection, broker::Connection::open(claim.broker));
    Ear ear(key);
    LATHE_TRY(ear.listen(*connection));
    const auto isOurs = [&](const broker::DeviceNotice& notice) { return notice.device == device; };
    if (!ear.hears(Deadline::in(kHeardBy), isOurs))
        return makeError(Errc::NotFound, ear.names().empty()
                                             ? say(Msg::NobodyOffersAny, claim.broker.url, key)
                                             : say(Msg::DeviceNotHeardOf, device, claim.broker.url, ear.names()));
    connection->publish(broker::orderSubject(key, device, claim.user),
                        broker::toText(broker::Order{key, device, claim.user, whatOf(order)}));
    if (!ear.hears(Deadline::inSeconds(kObeysSeconds),
                   [&](const broker::DeviceNotice& notice) { return isOurs(notice) && does(notice, order); }))
        return makeError(Errc::RunTimeout, say(Msg::OrderUnheard, device, kObeysSeconds));
    return {};
}

Result<NewDevice> newDevice(const BrokerWords& words, const std::string& key, const std::string& folder)
{
    if (!broker::isWord(key))
        return makeError(Errc::InvalidArgument, say(Msg::NameNoWord, key));
    std::optional<broker::Token> ours;
    if (!words.token.empty()) {
        LATHE_TRY_ASSIGN(ours, broker::readToken(words.token));
    }
    LATHE_TRY_ASSIGN(const broker::BrokerAddress address, broker::brokerAddress(words.address, ours, "lathe"));
    const bool wantsTokens = address.url.starts_with("tls:");
    NewDevice added;
    added.line = fmt::format("lathe-runner --broker {} --key {}", address.url, key);
    if (!wantsTokens)
        return added;
    const auto tracker = trackerAt(address.url);
    if (!tracker)
        return makeError(Errc::NotFound, say(Msg::TrackerElsewhere, address.url, key));
    std::error_code code; // where it cannot be made, the writing says so
    if (std::filesystem::create_directories(folder, code))
        std::filesystem::permissions(folder, std::filesystem::perms::owner_all, code);
    LATHE_TRY_ASSIGN(const broker::Token token, tracker->add(broker::Role::Runner, {}, key));
    const std::filesystem::path file = std::filesystem::path(folder) / (token.member.name + ".token");
    LATHE_TRY(tracker->handOut(token, file));
    added.token = file.string();
    added.line += " --creds " + file.filename().string();
    return added;
}

} // namespace lathe::session
