#include "tests/cuda_driver/ptx/lexer.h"

namespace lathe::ptx {

namespace {

bool isWordStart(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::string printable(char c)
{
    if (c > ' ' && c < 127)
        return std::string("'") + c + "'";
    return "with code " + std::to_string(static_cast<unsigned char>(c));
}

class Lexer
{
public:
    explicit Lexer(std::string_view source)
        : m_source(source)
    {
    }

    std::vector<Token> run()
    {
        while (skipBlank())
            next();
        m_tokens.push_back({Token::Kind::End, m_line, {}});
        return std::move(m_tokens);
    }

private:
    char at(size_t place) const { return place < m_source.size() ? m_source[place] : '\0'; }

    /// True if a token begins at m_place.
    bool skipBlank()
    {
        while (m_place < m_source.size()) {
            const char c = m_source[m_place];
            if (c == '\n') {
                ++m_line;
                ++m_place;
            } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
                ++m_place;
            } else if (c == '/' && at(m_place + 1) == '/') {
                while (m_place < m_source.size() && m_source[m_place] != '\n')
                    ++m_place;
            } else if (c == '/' && at(m_place + 1) == '*') {
                skipLongComment();
            } else if (c == '\0' && m_source.find_first_not_of('\0', m_place) == std::string_view::npos) {
                return false; // the end of a C string, counted as part of it
            } else {
                return true;
            }
        }
        return false;
    }

    void skipLongComment()
    {
        const unsigned begun = m_line;
        const size_t end = m_source.find("*/", m_place + 2);
        if (end == std::string_view::npos)
            throw Refusal(begun, "a comment begins here and does not end");
        for (; m_place < end + 2; ++m_place)
            m_line += m_source[m_place] == '\n';
    }

    void next()
    {
        const char c = m_source[m_place];
        const size_t begin = m_place;
        if (isWordStart(c) || isDigit(c)) {
            // Directives end at the next dot, ".reg.b32" as ".reg .b32"; names of instructions do not.
            const bool isDirective = c == '.';
            for (bool first = true; isWordStart(at(m_place)) || isDigit(at(m_place)) || isDoubleColon();
                 first = false) {
                if (isDirective && !first && at(m_place) == '.')
                    break;
                m_place += isDoubleColon() ? 2 : 1;
            }
            add(isDigit(c) ? Token::Kind::Number : Token::Kind::Word, begin, m_place);
        } else if (c == '"') {
            const size_t end = m_source.find_first_of("\"\n", m_place + 1);
            if (end == std::string_view::npos || m_source[end] == '\n')
                throw Refusal(m_line, "a quoted text begins here and does not end in its line");
            m_place = end + 1;
            add(Token::Kind::Text, begin + 1, end);
        } else if (std::string_view(",;:{}[]()<>@!+-|=*/~&^#?").find(c) != std::string_view::npos) {
            ++m_place;
            add(Token::Kind::Mark, begin, m_place);
        } else {
            throw Refusal(m_line, "PTX has no character " + printable(c));
        }
    }

    bool isDoubleColon() const { return at(m_place) == ':' && at(m_place + 1) == ':'; }

    void add(Token::Kind kind, size_t begin, size_t end)
    {
        m_tokens.push_back({kind, m_line, m_source.substr(begin, end - begin)});
    }

    std::string_view m_source;
    size_t m_place = 0;
    unsigned m_line = 1;
    std::vector<Token> m_tokens;
};

} // namespace

Refusal::Refusal(unsigned atLine, const std::string& text)
    : std::runtime_error("PTX line " + std::to_string(atLine) + ": " + text)
    , line(atLine)
{
}

std::vector<Token> tokensOf(std::string_view source)
{
    return Lexer(source).run();
}

} // namespace lathe::ptx
