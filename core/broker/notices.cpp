#include "core/broker/notices.h"

#include "core/broker/subjects.h"
#include "core/support/json_values.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lathe::broker {

namespace {

using nlohmann::json;

constexpr std::array<const char*, 6> kStates = {"free", "offered", "leased", "draining", "drained", "sick"};
constexpr std::array<const char*, 3> kOrders = {"drain", "resume", "leave"};
constexpr std::size_t kMostTextBytes = 256;
constexpr int kDeepest = 16; ///< levels of objects and lists; those of a device's hardware are five deep

/// A word of a list, as its place there. Nothing: it is none of them.
template<class Enum, std::size_t Count>
std::optional<Enum> oneOf(const std::array<const char*, Count>& words, const std::string& word)
{
    const auto found = std::ranges::find(words, word);
    return found == words.end() ? std::nullopt : std::optional(static_cast<Enum>(found - words.begin()));
}

/// The last two words of "lathe.WHAT.FIRST.SECOND".
std::optional<std::pair<std::string, std::string>> wordsOf(std::string_view subject, std::string_view what)
{
    if (!subject.starts_with(what))
        return std::nullopt;
    subject.remove_prefix(what.size());
    const std::size_t dot = subject.find('.');
    if (dot == std::string_view::npos)
        return std::nullopt;
    std::pair<std::string, std::string> words(subject.substr(0, dot), subject.substr(dot + 1));
    if (!isWord(words.first) || !isWord(words.second))
        return std::nullopt;
    return words;
}

std::optional<json> objectIn(std::string_view text)
{
    if (text.size() > kMostNoticeBytes)
        return std::nullopt;
    // What is written again goes down all levels on the stack.
    bool isDeep = false;
    const json object = json::parse(
        text,
        [&](int depth, json::parse_event_t, const json&) {
            isDeep = isDeep || depth > kDeepest;
            return depth <= kDeepest;
        },
        false);
    if (isDeep || !object.is_object())
        return std::nullopt;
    return object;
}

/// A member that is a text of a bearable length; empty where it is none.
std::string textIn(const json& object, const char* name)
{
    std::string text;
    takeMember(object, name, text);
    return text.size() <= kMostTextBytes ? text : std::string();
}

/// 0 where it is no whole number, or larger than any.
std::int64_t wholeIn(const json& object, const char* name, std::int64_t least, std::int64_t most)
{
    std::int64_t value = 0;
    takeMember(object, name, value);
    return std::clamp(value, least, most);
}

std::chrono::milliseconds spanIn(const json& object, const char* name)
{
    constexpr std::int64_t kWeekMs = std::int64_t(7) * 24 * 3600 * 1000;
    return std::chrono::milliseconds(wholeIn(object, name, 0, kWeekMs));
}

/// As JSON, with what is no UTF-8 replaced.
std::string dumped(const json& object)
{
    return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

std::string toText(const ClaimNotice& notice)
{
    return dumped({{"ticket", notice.ticket},
                   {"program", notice.program},
                   {"priority", notice.priority},
                   {"waited_ms", notice.waited.count()},
                   {"reserve_ms", notice.reserve.count()},
                   {"most", notice.most},
                   {"device", notice.device}});
}

std::string toText(const DeviceNotice& notice)
{
    json object = {{"state", kStates[static_cast<std::size_t>(notice.state)]},
                   {"ticket", notice.ticket},
                   {"user", notice.user},
                   {"had_ms", notice.had.count()}};
    if (json about = json::parse(notice.about, nullptr, false); about.is_object())
        object["about"] = std::move(about);
    return dumped(object);
}

std::string toText(const Offer& offer)
{
    return dumped({{"ticket", offer.ticket}, {"device", offer.device}, {"session", offer.session.hex()}});
}

std::string toText(const Order& order)
{
    return dumped({{"order", wordOf(order.what)}});
}

std::string_view wordOf(Order::What what)
{
    return kOrders[static_cast<std::size_t>(what)];
}

std::optional<ClaimNotice> claimIn(std::string_view subject, std::string_view text)
{
    const auto words = wordsOf(subject, "lathe.claim.");
    const auto object = words ? objectIn(text) : std::nullopt; // most of what is heard is of another kind
    if (!object)
        return std::nullopt;
    ClaimNotice notice;
    notice.key = words->first;
    notice.user = words->second;
    notice.ticket = textIn(*object, "ticket");
    notice.program = textIn(*object, "program");
    notice.priority = static_cast<int>(wholeIn(*object, "priority", -4, 4));
    notice.waited = spanIn(*object, "waited_ms");
    notice.reserve = spanIn(*object, "reserve_ms");
    notice.most = static_cast<std::uint32_t>(wholeIn(*object, "most", 0, 10'000));
    notice.device = textIn(*object, "device");
    if (!isWord(notice.ticket))
        return std::nullopt;
    return notice;
}

std::optional<DeviceNotice> deviceIn(std::string_view subject, std::string_view text)
{
    const auto words = wordsOf(subject, "lathe.here.");
    const auto object = words ? objectIn(text) : std::nullopt; // most of what is heard is of another kind
    if (!object)
        return std::nullopt;
    DeviceNotice notice;
    notice.key = words->first;
    notice.device = words->second;
    const auto state = oneOf<DeviceState>(kStates, textIn(*object, "state"));
    if (!state)
        return std::nullopt;
    notice.state = *state;
    notice.ticket = textIn(*object, "ticket");
    notice.user = textIn(*object, "user");
    notice.had = spanIn(*object, "had_ms");
    if (const auto about = object->find("about"); about != object->end() && about->is_object())
        notice.about = dumped(*about);
    return notice;
}

std::optional<Offer> offerIn(std::string_view text)
{
    const auto object = objectIn(text);
    if (!object)
        return std::nullopt;
    const auto session = Hash128::fromHex(textIn(*object, "session"));
    Offer offer = {textIn(*object, "ticket"), textIn(*object, "device"), session.value_or(Hash128())};
    if (!session || !isWord(offer.ticket) || !isWord(offer.device))
        return std::nullopt;
    return offer;
}

std::optional<Order> orderIn(std::string_view subject, std::string_view text)
{
    constexpr std::string_view kOrder = "lathe.order.";
    const std::size_t last = subject.rfind('.');
    if (!subject.starts_with(kOrder) || last < kOrder.size())
        return std::nullopt;
    const auto words = wordsOf(subject.substr(0, last), kOrder);
    const std::string_view user = subject.substr(last + 1);
    const auto object = words && isWord(user) ? objectIn(text) : std::nullopt;
    if (!object)
        return std::nullopt;
    const auto what = oneOf<Order::What>(kOrders, textIn(*object, "order"));
    if (!what)
        return std::nullopt;
    return Order{words->first, words->second, std::string(user), *what};
}

} // namespace lathe::broker
