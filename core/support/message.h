#pragma once

#include "core/support/result.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lathe {

/// What can be said to a person. The English pattern of each stands in message_table.inc; other languages have patterns
/// of their own with the same names. Ids are stored by name: append, never rename.
enum class Msg : std::uint16_t
{
#define LATHE_MESSAGE(name, english) name,
#include "core/support/message_table.inc"
#undef LATHE_MESSAGE
};

struct Argument;

/// Something said to a person, and what it is about: an id, and a value for each name in its pattern. A value; cheap to
/// move.
struct Message
{
    Msg id = Msg::Plain;
    std::vector<Argument> arguments; ///< in the order of the pattern's names

    /// The argument of that name, here or in a message within this one; null: there is none. Names that programs read:
    /// `limit` (of the hardware), `seconds`, `file`, `package` (as Debian calls it), `nodes`, `more` (nodes beyond
    /// those).
    const Argument* find(std::string_view name) const;
    double number(std::string_view name) const; ///< NaN: none
    std::string text(std::string_view name) const; ///< of a text; empty: none
};

/// One thing that a message is about.
struct Argument
{
    std::variant<std::string, std::int64_t, double, std::vector<std::string>, std::vector<Message>> value;

    // Implicit, so that say() reads as the sentence does.
    // NOLINTBEGIN(google-explicit-constructor)
    Argument(std::string text)
        : value(std::move(text))
    {
    }
    Argument(std::string_view text)
        : value(std::string(text))
    {
    }
    Argument(const char* text)
        : value(std::string(text))
    {
    }
    Argument(double number)
        : value(number)
    {
    }
    template<std::integral Integer>
    Argument(Integer number)
        : value(static_cast<std::int64_t>(number))
    {
    }
    Argument(std::vector<std::string> list)
        : value(std::move(list))
    {
    }
    Argument(std::vector<Message> list)
        : value(std::move(list))
    {
    }
    Argument(Message message)
        : value(std::vector<Message>())
    {
        std::get<4>(value).push_back(std::move(message));
    }
    Argument(const Error& error)
        : Argument(messageOf(error))
    {
    }
    // NOLINTEND(google-explicit-constructor)

    static Message messageOf(const Error& error);
};

namespace detail {

inline constexpr std::string_view kEnglish[] = {
#define LATHE_MESSAGE(name, english) english,
#include "core/support/message_table.inc"
#undef LATHE_MESSAGE
};

constexpr std::size_t countOfNames(std::string_view pattern)
{
    std::size_t count = 0;
    for (const char c : pattern)
        count += c == '{' ? 1 : 0;
    return count;
}

/// An id that has as many names as there are values: checked where the program is compiled.
template<std::size_t Count>
struct IdWith
{
    consteval IdWith(Msg given)
        : id(given) // NOLINT(google-explicit-constructor)
    {
        if (countOfNames(kEnglish[static_cast<std::size_t>(given)]) != Count)
            throw "the message's pattern has another number of names";
    }
    Msg id;
};

Message compose(Msg id, std::vector<Argument> arguments);

} // namespace detail

/// A message: say(Msg::RunTookLong, seconds, what). One value for each name of the pattern, in its order.
template<typename... Values>
Message say(detail::IdWith<sizeof...(Values)> id, Values&&... values)
{
    std::vector<Argument> arguments;
    arguments.reserve(sizeof...(Values));
    (arguments.emplace_back(std::forward<Values>(values)), ...);
    return Message{id.id, std::move(arguments)};
}

Error makeError(Errc code, Message message, std::source_location where = std::source_location::current());
About about(Message message);

/// What an error says, with what it is about where it knows.
Message messageOf(const Error& error);
Message messageOf(const std::string& text, const About& about);

/// Milliseconds in digits, as {ms:latency} shows them: three decimals, below 0.1 three digits.
std::string latencyDigits(double ms);
/// A number with the word for one or for more of it: counted(1, "task|tasks") is "1 task", of 0 and of 2.5 "tasks".
std::string counted(double number, std::string_view form);
template<std::integral Integer>
std::string counted(Integer number, std::string_view form)
{
    return counted(static_cast<double>(number), form);
}

/// The message without arguments that says just this; null, or Plain, where there is none: for words that come from
/// other processes.
About aboutPhrase(std::string_view english);
Message phrase(std::string_view english);

std::size_t messageCount();
std::string_view nameOf(Msg id); ///< "RunTookLong"
std::string_view englishOf(Msg id); ///< the pattern: "the run took longer than {seconds} s while {what}"
/// The names in a pattern, in its order, without what stands behind a colon: how a number is written ("{error:.3g}", as
/// fmt has it), or "-" for what is not shown.
std::vector<std::string_view> namesIn(std::string_view pattern);

/// What a message says: in English, or in the language whose pattern `translate` gives for an English one. Messages
/// within it are said in the same language. A pattern may leave names out and have them in another order.
using TranslatePattern = std::function<std::string(std::string_view english)>;
std::string textOf(const Message& message, const TranslatePattern& translate = {});

/// JSON in one line: {"id": "RunTookLong", "with": {"seconds": 10.0, "what": "..."}}; empty for null.
std::string toJsonText(const About& about);
/// Null for what is empty, damaged, or of a version that says more than this one: the English text beside it is left
/// then.
About aboutFromJsonText(std::string_view json);

} // namespace lathe
