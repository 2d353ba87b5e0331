#pragma once

#include "core/support/errc.h"

#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace lathe {

struct Message;

/// What a text is about, beside it: the text's id and the values in it (message.h), for other languages and for
/// programs. Null: the text alone is known.
using About = std::shared_ptr<const Message>;

/// An expected failure. `message` is for people: one sentence with the values involved, no final full stop, in English.
struct Error
{
    Errc code = Errc::Internal;
    std::string message;
    std::source_location where = std::source_location::current();
    About about = {};

    /// Prefixes the message: "loading task 7: " + message. What it is about stays.
    Error&& note(std::string_view outer) &&
    {
        message.insert(0, ": ").insert(0, outer);
        if (about)
            noteAbout(outer);
        return std::move(*this);
    }
    Error&& note(const Message& outer) &&;

private:
    void noteAbout(std::string_view outer);
};

inline Error makeError(Errc code, std::string message, std::source_location where = std::source_location::current())
{
    return Error{code, std::move(message), where};
}

/// A value or an Error. Names are a subset of std::expected's, so that a later switch is mechanical.
template<typename T = std::monostate>
class [[nodiscard]] Result
{
public:
    using value_type = T;
    Result() requires std::is_default_constructible_v<T> : m_state(std::in_place_index<0>) {}
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value))
    {
    } // NOLINT(google-explicit-constructor): as std::expected
    Result(Error error)
        : m_state(std::in_place_index<1>, std::move(error))
    {
    } // NOLINT(google-explicit-constructor)

    bool has_value() const { return m_state.index() == 0; }
    explicit operator bool() const { return has_value(); }
    T& operator*() & { return std::get<0>(m_state); }
    const T& operator*() const& { return std::get<0>(m_state); }
    T&& operator*() && { return std::get<0>(std::move(m_state)); }
    T* operator->() { return &std::get<0>(m_state); }
    const T* operator->() const { return &std::get<0>(m_state); }
    Error& error() & { return std::get<1>(m_state); }
    const Error& error() const& { return std::get<1>(m_state); }
    Error&& error() && { return std::get<1>(std::move(m_state)); }

private:
    std::variant<T, Error> m_state;
};

} // namespace lathe

#define LATHE_CONCAT_(a, b) a##b
#define LATHE_CONCAT(a, b) LATHE_CONCAT_(a, b)

/// Returns the Error upward.
#define LATHE_TRY(expression)                                                                                          \
    do {                                                                                                               \
        if (auto latheTry_ = (expression); !latheTry_)                                                                 \
            return std::move(latheTry_).error();                                                                       \
    } while (false)

/// Unwraps, or returns the Error upward: LATHE_TRY_ASSIGN(const LoopNest nest, lower(task));
#define LATHE_TRY_ASSIGN(declaration, expression)                                                                      \
    auto LATHE_CONCAT(latheResult_, __LINE__) = (expression);                                                          \
    if (!LATHE_CONCAT(latheResult_, __LINE__))                                                                         \
        return std::move(LATHE_CONCAT(latheResult_, __LINE__)).error();                                                \
    declaration = *std::move(LATHE_CONCAT(latheResult_, __LINE__))
