#pragma once

#include "core/support/result.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lathe::templates {

/// A number with a fraction or an exponent, or too large for 64 bits.
struct Real
{
    double value = 0;
    std::string spelling = {}; ///< as it was read, where Python spells it otherwise; empty: as Python spells it

    bool operator==(const Real& other) const { return value == other.value; }
};

struct JsonMember;

/// A value of JSON as the reference, a Python program, tells them apart: 1 is no 1.0 and no true, members of objects
/// have an order, and what was read is written again with the same digits.
struct JsonValue
{
    using List = std::vector<JsonValue>;
    using Members = std::vector<JsonMember>;

    std::variant<std::monostate, bool, std::int64_t, Real, std::string, List, Members> value;

    const std::int64_t* whole() const { return std::get_if<std::int64_t>(&value); }
    const std::string* text() const { return std::get_if<std::string>(&value); }
    const List* list() const { return std::get_if<List>(&value); }
    const Members* members() const { return std::get_if<Members>(&value); }
    bool isNull() const { return value.index() == 0; }
    /// A member of an object, of equal names the last as in Python; null where there is none.
    const JsonValue* member(std::string_view name) const;
    bool operator==(const JsonValue& other) const;
};

/// Of an object.
struct JsonMember
{
    std::string name;
    JsonValue value;
    bool operator==(const JsonMember&) const = default;
};

inline bool JsonValue::operator==(const JsonValue& other) const
{
    return value == other.value;
}

/// What stands behind commas and colons: a blank, as Python's json.dumps() writes, or nothing.
enum class JsonStyle : std::uint8_t
{
    Spaced,
    Compact
};

/// Lines of logs are short: what nests deeper than 64 levels or has more than 65,536 values is no record.
/// Errors: BadFile.
Result<JsonValue> parseJson(std::string_view text);

/// Appends. Characters outside of ASCII are escaped, as Python escapes them.
void printJson(const JsonValue& value, JsonStyle style, std::string& out);
std::string jsonText(const JsonValue& value, JsonStyle style = JsonStyle::Spaced);

/// A list of whole numbers.
template<typename Range>
JsonValue jsonWholes(const Range& numbers)
{
    JsonValue::List list;
    list.reserve(std::size(numbers));
    for (const auto number : numbers)
        // In place: GCC 12 takes moves of a variant that is known to hold a number for reads of lists not set.
        list.emplace_back().value = static_cast<std::int64_t>(number);
    return {std::move(list)};
}

void printText(std::string_view text, std::string& out); ///< as JSON, in quotes
void printReal(const Real& real, std::string& out);

/// The shortest digits that read as the same double, as Python's repr() writes them: 0.00041, 1e-05, 1000000000.0,
/// 1e+16.
std::string pythonDigits(double value);

} // namespace lathe::templates
