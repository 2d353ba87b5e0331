#include "tests/cuda_driver/ptx/parser.h"

#include <bit>
#include <charconv>

namespace lathe::ptx {

const Token& TokenStream::take()
{
    const Token& token = peek();
    if (m_place + 1 < m_tokens.size())
        ++m_place;
    return token;
}

bool TokenStream::accept(std::string_view text)
{
    if (atEnd() || !at(text))
        return false;
    take();
    return true;
}

void TokenStream::expect(std::string_view text, std::string_view where)
{
    if (!accept(text))
        refuse("\"" + std::string(text) + "\" is missing " + std::string(where)
               + (atEnd() ? ": the text ends here" : ""));
}

std::string_view TokenStream::word(std::string_view what)
{
    if (peek().kind != Token::Kind::Word)
        refuse(std::string(what) + " is missing");
    return take().text;
}

uint64_t TokenStream::size(std::string_view what, uint64_t most)
{
    if (peek().kind != Token::Kind::Number)
        refuse(std::string(what) + " is missing");
    const std::optional<Operand> number = literal(peek().text);
    if (!number || number->kind != Operand::Kind::Integer)
        refuse(std::string(what) + " is no whole number: " + std::string(peek().text));
    if (number->bits > most)
        refuse(std::string(what) + " is " + std::to_string(number->bits) + ", more than " + std::to_string(most));
    take();
    return number->bits;
}

void TokenStream::skipPast(std::string_view mark)
{
    while (!accept(mark)) {
        if (atEnd())
            refuse("\"" + std::string(mark) + "\" is missing: the text ends here");
        take();
    }
}

void TokenStream::skipBraces()
{
    expect("{", "in front of the lines of a section");
    for (int depth = 1; depth > 0; take()) {
        if (atEnd())
            refuse("a closing brace is missing: the text ends here");
        depth += at("{") ? 1 : at("}") ? -1 : 0;
    }
}

std::optional<Operand> literal(std::string_view text)
{
    Operand made;
    const auto hexadecimal = [&](size_t digits) {
        const std::string_view rest = text.substr(2);
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), made.bits, 16);
        return error == std::errc() && end == rest.data() + rest.size() && rest.size() == digits;
    };
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'f' || text[1] == 'F')) {
        made.kind = Operand::Kind::Float32;
        return hexadecimal(8) ? std::optional(made) : std::nullopt;
    }
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'd' || text[1] == 'D')) {
        made.kind = Operand::Kind::Float64;
        return hexadecimal(16) ? std::optional(made) : std::nullopt;
    }
    made.kind = Operand::Kind::Integer;
    int base = 10;
    std::string_view digits = text;
    if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u'))
        digits.remove_suffix(1);
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        base = 16;
        digits.remove_prefix(2);
    } else if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) {
        base = 2;
        digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0' && digits.find('.') == std::string_view::npos) {
        base = 8;
    }
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), made.bits, base);
    if (error == std::errc() && end == digits.data() + digits.size())
        return made;
    if (text.find('.') == std::string_view::npos || text.size() > 64)
        return std::nullopt;
    double value = 0; // whatever the locale of the program says of commas
    const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || rest != text.data() + text.size())
        return std::nullopt;
    made.kind = Operand::Kind::Float64;
    made.bits = std::bit_cast<uint64_t>(value);
    return made;
}

} // namespace lathe::ptx
