#pragma once

#include "tests/cuda_driver/ptx/syntax.h"

#include <algorithm>
#include <optional>

namespace lathe::ptx {

/// The tokens of a text, one after the other, and what all parts of the parser ask of them.
class TokenStream
{
public:
    explicit TokenStream(std::vector<Token> tokens)
        : m_tokens(std::move(tokens))
    {
    }

    const Token& peek(size_t ahead = 0) const { return m_tokens[std::min(m_place + ahead, m_tokens.size() - 1)]; }
    const Token& take();
    bool atEnd() const { return peek().kind == Token::Kind::End; }
    bool at(std::string_view text) const { return peek().text == text && peek().kind != Token::Kind::Text; }
    /// Takes the next token if it is this one.
    bool accept(std::string_view text);
    void expect(std::string_view text, std::string_view where);
    std::string_view word(std::string_view what);
    /// A number without a sign, as it is used for sizes; refused above `most`.
    uint64_t size(std::string_view what, uint64_t most);
    void skipPast(std::string_view mark);
    void skipBraces();
    [[noreturn]] void refuse(const std::string& text) const { throw Refusal(peek().line, text); }

private:
    std::vector<Token> m_tokens;
    size_t m_place = 0;
};

/// A literal: kind is Integer, Float32 or Float64. Nothing for a token that is none.
std::optional<Operand> literal(std::string_view text);

} // namespace lathe::ptx
