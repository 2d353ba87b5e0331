#include "core/templates/json_value.h"

#include "core/support/message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace lathe::templates {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = std::size_t{1} << 16;

/// Makes values of what nlohmann's parser tells. Its own values would lose the digits of numbers and the order of
/// members.
class ValueMaker final : public nlohmann::json_sax<nlohmann::json>
{
public:
    bool null() override { return add({}); }
    bool boolean(bool value) override { return add({value}); }
    bool number_integer(std::int64_t value) override { return add({value}); }
    bool number_unsigned(std::uint64_t value) override
    {
        if (std::in_range<std::int64_t>(value))
            return add({static_cast<std::int64_t>(value)});
        return add({Real{static_cast<double>(value), std::to_string(value)}});
    }
    bool number_float(double value, const std::string& digits) override
    {
        Real real{value};
        if (digits != pythonDigits(value))
            real.spelling = digits;
        return add({std::move(real)});
    }
    bool string(std::string& text) override { return add({std::move(text)}); }
    bool binary(nlohmann::json::binary_t& /*bytes*/) override { return false; }
    bool start_object(std::size_t /*size*/) override { return open({JsonValue::Members()}); }
    bool key(std::string& name) override
    {
        std::get<JsonValue::Members>(m_open.back().value).push_back({std::move(name), {}});
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*size*/) override { return open({JsonValue::List()}); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

    Error error() const
    {
        if (m_deep)
            return makeError(Errc::BadFile, say(Msg::LogDeep));
        if (m_values > kMaxValues)
            return makeError(Errc::BadFile,
                             say(Msg::TemplateWrong, "the number of values", "at most " + std::to_string(kMaxValues)));
        return makeError(Errc::BadFile, say(Msg::LogNoJson));
    }
    JsonValue take() { return std::move(m_root); }

private:
    bool add(JsonValue value)
    {
        if (++m_values > kMaxValues)
            return false;
        if (m_open.empty())
            m_root = std::move(value);
        else if (auto* list = std::get_if<JsonValue::List>(&m_open.back().value))
            list->push_back(std::move(value));
        else
            std::get<JsonValue::Members>(m_open.back().value).back().value = std::move(value);
        return true;
    }
    bool open(JsonValue container)
    {
        m_deep = m_open.size() == kMaxDepth;
        if (!m_deep)
            m_open.push_back(std::move(container));
        return !m_deep;
    }
    bool close()
    {
        JsonValue done = std::move(m_open.back());
        m_open.pop_back();
        return add(std::move(done));
    }

    JsonValue m_root;
    std::vector<JsonValue> m_open; ///< containers that have not ended, the innermost last
    std::size_t m_values = 0;
    bool m_deep = false;
};

class Printer
{
public:
    Printer(JsonStyle style, std::string& out)
        : m_comma(style == JsonStyle::Spaced ? ", " : ",")
        , m_colon(style == JsonStyle::Spaced ? ": " : ":")
        , m_out(out)
    {
    }
    void print(const JsonValue& value)
    {
        std::visit([this](const auto& kind) { one(kind); }, value.value);
    }

private:
    void one(std::monostate) { m_out += "null"; }
    void one(bool value) { m_out += value ? "true" : "false"; }
    void one(std::int64_t value)
    {
        std::array<char, 24> digits{};
        m_out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
    }
    void one(const Real& real) { printReal(real, m_out); }
    void one(const std::string& text) { printText(text, m_out); }
    void one(const JsonValue::List& list)
    {
        m_out += '[';
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (i > 0)
                m_out += m_comma;
            print(list[i]);
        }
        m_out += ']';
    }
    void one(const JsonValue::Members& members)
    {
        m_out += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0)
                m_out += m_comma;
            printText(members[i].name, m_out);
            m_out += m_colon;
            print(members[i].value);
        }
        m_out += '}';
    }

    std::string_view m_comma, m_colon;
    std::string& m_out;
};

} // namespace

const JsonValue* JsonValue::member(std::string_view name) const
{
    const Members* all = members();
    if (all == nullptr)
        return nullptr;
    const auto found = std::find_if(all->rbegin(), all->rend(), [name](const auto& each) { return each.name == name; });
    return found == all->rend() ? nullptr : &found->value;
}

Result<JsonValue> parseJson(std::string_view text)
{
    if (text.find('\0') != std::string_view::npos) // where the parser would stop reading
        return makeError(Errc::BadFile, say(Msg::LogBinary));
    ValueMaker maker;
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &maker))
        return maker.error();
    return maker.take();
}

void printJson(const JsonValue& value, JsonStyle style, std::string& out)
{
    Printer(style, out).print(value);
}

std::string jsonText(const JsonValue& value, JsonStyle style)
{
    std::string out;
    printJson(value, style, out);
    return out;
}

void printText(std::string_view text, std::string& out)
{
    const bool plain = std::all_of(text.begin(), text.end(),
                                   [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
    if (plain)
        out.append(1, '"').append(text).append(1, '"');
    else
        out += nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

void printReal(const Real& real, std::string& out)
{
    out += real.spelling.empty() ? pythonDigits(real.value) : real.spelling;
}

std::string pythonDigits(double value)
{
    if (!std::isfinite(value))
        return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
    const std::size_t e = text.find('e');
    const bool negative = text.front() == '-';
    std::string digits;
    for (const char c : text.substr(negative ? 1 : 0, e - (negative ? 1 : 0)))
        if (c != '.')
            digits += c;
    int exponent = 0;
    const std::string_view power = text.substr(e + (text[e + 1] == '+' ? 2 : 1));
    std::from_chars(power.data(), power.data() + power.size(), exponent);

    std::string out = negative ? "-" : "";
    if (exponent < -4 || exponent >= 16) { // where Python changes to exponents
        out += digits.front();
        if (digits.size() > 1)
            out.append(1, '.').append(digits, 1);
        out.append(exponent < 0 ? "e-" : "e+").append(std::abs(exponent) < 10 ? "0" : "");
        return out + std::to_string(std::abs(exponent));
    }
    if (exponent < 0)
        return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
    const auto before = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() <= before)
        return out + digits + std::string(before - digits.size(), '0') + ".0";
    return out + digits.substr(0, before) + '.' + digits.substr(before);
}

} // namespace lathe::templates
