#include "core/support/message.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace lathe {

using nlohmann::json;

namespace {

constexpr int kDeepest = 8; ///< messages within messages that are read from elsewhere

constexpr std::string_view kNotShown = "-"; ///< form of an argument that is there for programs

constexpr std::string_view kMessageNames[] = {
#define LATHE_MESSAGE(name, english) #name,
#include "core/support/message_table.inc"
#undef LATHE_MESSAGE
};

/// Name and form of the place in a pattern that begins at `at`, and where it ends.
struct Place
{
    std::string_view name, form;
    std::size_t end = 0;
};

Place placeAt(std::string_view pattern, std::size_t at)
{
    Place place;
    place.end = std::min(pattern.find('}', at), pattern.size());
    place.name = pattern.substr(at + 1, place.end - at - 1);
    if (const std::size_t colon = place.name.find(':'); colon != std::string_view::npos) {
        place.form = place.name.substr(colon + 1);
        place.name = place.name.substr(0, colon);
    }
    return place;
}

std::string joined(const std::vector<std::string>& texts, Msg separator, const TranslatePattern& translate)
{
    const std::string between = textOf(Message{separator, {}}, translate);
    std::string out;
    for (const std::string& text : texts)
        out += (&text == texts.data() ? std::string() : between) + text;
    return out;
}

/// "1 task": a number, or a text that stands for one ("1 to 3"), before its word.
std::string withWord(const Argument& argument, std::string_view form)
{
    if (const auto* const text = std::get_if<std::string>(&argument.value))
        return *text + counted(*text == "1" ? 1 : 2, form).substr(1);
    const auto* const whole = std::get_if<std::int64_t>(&argument.value);
    const auto* const number = std::get_if<double>(&argument.value);
    return counted(whole != nullptr ? static_cast<double>(*whole) : number != nullptr ? *number : 0, form);
}

std::string shown(const Argument& argument, std::string_view form, const TranslatePattern& translate)
{
    const auto formatted = [form](double number) {
        if (form == "latency")
            return latencyDigits(number);
        if (form.empty())
            return fmt::format("{}", number);
        try {
            return fmt::format(fmt::runtime(fmt::format("{{:{}}}", form)), number);
        } catch (const fmt::format_error&) { // a translation's form
            return fmt::format("{}", number);
        }
    };
    if (form.find('|') != std::string_view::npos)
        return withWord(argument, form);
    switch (argument.value.index()) {
    case 0: return std::get<0>(argument.value);
    case 1:
        return form.empty() ? fmt::format("{}", std::get<1>(argument.value))
                            : formatted(static_cast<double>(std::get<1>(argument.value)));
    case 2: return formatted(std::get<2>(argument.value));
    case 3: return joined(std::get<3>(argument.value), Msg::Comma, translate);
    default: break;
    }
    std::vector<std::string> texts;
    for (const Message& message : std::get<4>(argument.value))
        texts.push_back(textOf(message, translate));
    return joined(texts, Msg::Semicolon, translate);
}

json toJson(const Message& message)
{
    json with = json::object();
    const auto names = namesIn(englishOf(message.id));
    for (std::size_t i = 0; i < std::min(names.size(), message.arguments.size()); ++i) {
        json& member = with[std::string(names[i])];
        const auto& value = message.arguments[i].value;
        switch (value.index()) {
        case 0: member = std::get<0>(value); break;
        case 1: member = std::get<1>(value); break;
        case 2:
            if (std::isfinite(std::get<2>(value)))
                member = std::get<2>(value);
            else // JSON has no word for these
                member = fmt::format("{}", std::get<2>(value));
            break;
        case 3: member = std::get<3>(value); break;
        default:
            member = json::array();
            for (const Message& inner : std::get<4>(value))
                member.push_back(toJson(inner));
        }
    }
    return {{"id", nameOf(message.id)}, {"with", std::move(with)}};
}

std::optional<Message> messageFrom(const json& value, int depth);

std::optional<Argument> argumentFrom(const json& value, int depth)
{
    if (value.is_string())
        return Argument(value.get<std::string>());
    if (value.is_number_integer())
        return Argument(value.get<std::int64_t>());
    if (value.is_number())
        return Argument(value.get<double>());
    if (!value.is_array())
        return std::nullopt;
    if (std::all_of(value.begin(), value.end(), [](const json& entry) { return entry.is_string(); }))
        return Argument(value.get<std::vector<std::string>>());
    std::vector<Message> messages;
    for (const json& entry : value) {
        auto message = messageFrom(entry, depth - 1);
        if (!message)
            return std::nullopt;
        messages.push_back(*std::move(message));
    }
    return Argument(std::move(messages));
}

std::optional<Message> messageFrom(const json& value, int depth)
{
    if (depth <= 0 || !value.is_object())
        return std::nullopt;
    const auto id = value.find("id");
    const auto with = value.find("with");
    if (id == value.end() || !id->is_string() || with == value.end() || !with->is_object())
        return std::nullopt;
    const auto known = std::find(std::begin(kMessageNames), std::end(kMessageNames), id->get_ref<const std::string&>());
    if (known == std::end(kMessageNames))
        return std::nullopt;
    Message message;
    message.id = static_cast<Msg>(known - std::begin(kMessageNames));
    for (const std::string_view name : namesIn(englishOf(message.id))) {
        const auto member = with->find(std::string(name));
        auto argument = member == with->end() ? std::nullopt : argumentFrom(*member, depth);
        if (!argument)
            return std::nullopt;
        message.arguments.push_back(*std::move(argument));
    }
    return message;
}

} // namespace

const Argument* Message::find(std::string_view name) const
{
    const auto names = namesIn(englishOf(id));
    for (std::size_t i = 0; i < std::min(names.size(), arguments.size()); ++i)
        if (names[i] == name)
            return &arguments[i];
    for (const Argument& argument : arguments)
        if (const auto* const messages = std::get_if<std::vector<Message>>(&argument.value))
            for (const Message& inner : *messages)
                if (const Argument* const found = inner.find(name))
                    return found;
    return nullptr;
}

double Message::number(std::string_view name) const
{
    const Argument* const found = find(name);
    if (found != nullptr && found->value.index() == 1)
        return static_cast<double>(std::get<1>(found->value));
    return found != nullptr && found->value.index() == 2 ? std::get<2>(found->value)
                                                         : std::numeric_limits<double>::quiet_NaN();
}

std::string Message::text(std::string_view name) const
{
    const Argument* const found = find(name);
    return found != nullptr && found->value.index() == 0 ? std::get<0>(found->value) : std::string();
}

Message Argument::messageOf(const Error& error)
{
    return lathe::messageOf(error);
}

Error makeError(Errc code, Message message, std::source_location where)
{
    std::string text = textOf(message);
    return Error{code, std::move(text), where, about(std::move(message))};
}

About about(Message message)
{
    return std::make_shared<const Message>(std::move(message));
}

Message messageOf(const Error& error)
{
    return messageOf(error.message, error.about);
}

Message messageOf(const std::string& text, const About& about)
{
    return about ? *about : say(Msg::Plain, text);
}

std::string latencyDigits(double ms)
{
    return ms < 0.1 ? fmt::format("{:.3g}", ms) : fmt::format("{:.3f}", ms);
}

std::string counted(double number, std::string_view form)
{
    const std::size_t bar = form.find('|');
    return fmt::format("{} {}", number,
                       form.substr(number == 1 || bar == std::string_view::npos ? 0 : bar + 1,
                                   number == 1 ? bar : std::string_view::npos));
}

About aboutPhrase(std::string_view english)
{
    static const std::unordered_map<std::string_view, Msg> known = [] {
        std::unordered_map<std::string_view, Msg> phrases;
        for (std::size_t i = 0; i < messageCount(); ++i)
            if (const auto id = static_cast<Msg>(i); detail::countOfNames(englishOf(id)) == 0)
                phrases.emplace(englishOf(id), id);
        return phrases;
    }();
    const auto found = known.find(english);
    return found == known.end() ? About() : about(Message{found->second, {}});
}

Message phrase(std::string_view english)
{
    const About known = aboutPhrase(english);
    return known ? *known : say(Msg::Plain, english);
}

Error&& Error::note(const Message& outer) &&
{
    about = lathe::about(say(Msg::Noted, outer, messageOf(*this)));
    message.insert(0, ": ").insert(0, textOf(outer));
    return std::move(*this);
}

void Error::noteAbout(std::string_view outer)
{
    about = lathe::about(say(Msg::Noted, outer, *about));
}

std::size_t messageCount()
{
    return std::size(detail::kEnglish);
}

std::string_view nameOf(Msg id)
{
    return kMessageNames[static_cast<std::size_t>(id)];
}

std::string_view englishOf(Msg id)
{
    return detail::kEnglish[static_cast<std::size_t>(id)];
}

std::vector<std::string_view> namesIn(std::string_view pattern)
{
    std::vector<std::string_view> names;
    for (std::size_t at = pattern.find('{'); at < pattern.size(); at = pattern.find('{', at)) {
        const Place place = placeAt(pattern, at);
        names.push_back(place.name);
        at = place.end;
    }
    return names;
}

std::string textOf(const Message& message, const TranslatePattern& translate)
{
    const std::string_view english = englishOf(message.id);
    std::string translated;
    std::vector<std::string_view> names;
    if (translate) {
        translated = translate(english);
        names = namesIn(english);
    }
    const std::string_view pattern = translate ? std::string_view(translated) : english;
    std::string out;
    std::size_t next = 0; // the English places are the arguments in their order
    for (std::size_t at = 0; at < pattern.size();) {
        const std::size_t open = std::min(pattern.find('{', at), pattern.size());
        out += pattern.substr(at, open - at);
        if (open == pattern.size())
            break;
        const Place place = placeAt(pattern, open);
        const std::size_t index = translate ? static_cast<std::size_t>(std::find(names.begin(), names.end(), place.name)
                                                                       - names.begin())
                                            : next++;
        if (index < message.arguments.size() && place.form != kNotShown)
            out += shown(message.arguments[index], place.form, translate);
        at = place.end + 1;
    }
    return out;
}

std::string toJsonText(const About& about)
{
    // A compiler may have said anything: what is no UTF-8 is replaced.
    return about ? toJson(*about).dump(-1, ' ', false, json::error_handler_t::replace) : std::string();
}

About aboutFromJsonText(std::string_view text)
{
    if (text.empty())
        return {};
    auto message = messageFrom(json::parse(text, nullptr, false), kDeepest);
    return message ? about(*std::move(message)) : About();
}

} // namespace lathe
