#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::ptx {

/// Why a text is not taken: one sentence that names the line. Thrown within this folder alone; load() turns it into a
/// value.
class Refusal : public std::runtime_error
{
public:
    Refusal(unsigned atLine, const std::string& text);

    unsigned line;
};

/// A word of PTX. Words keep their dots ("ld.global.f32", ".reg", "%tid.x") and double colons ("ld.shared::cta").
struct Token
{
    enum class Kind : uint8_t
    {
        Word,
        Number, // begins with a digit
        Text, // a quoted string, without its quotes
        Mark, // one of , ; : { } [ ] ( ) < > @ ! + - | = * / ~ & ^ # ?
        End,
    };
    Kind kind = Kind::End;
    unsigned line = 0;
    std::string_view text; // of the source, which must live as long
};

/// Cuts a text into tokens; the last one is End. Comments are gone. Throws Refusal at a character that PTX does not
/// have, or at a comment or string that does not end.
std::vector<Token> tokensOf(std::string_view source);

} // namespace lathe::ptx
