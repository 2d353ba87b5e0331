#include "plugins/cuda/library/ptx_text.h"

#include <cstddef>

namespace lathe::cuda {

namespace {

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void skipSpace(std::string_view& text)
{
    while (!text.empty() && isSpace(text[0]))
        text.remove_prefix(1);
}

std::size_t countOf(std::string_view text, std::string_view word)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size()))
        ++count;
    return count;
}

} // namespace

std::string_view ptxVersion(std::string_view ptx)
{
    constexpr std::string_view kWord = ".version ";
    const std::size_t at = ptx.find(kWord);
    if (at == std::string_view::npos)
        return {};
    std::string_view rest = ptx; // its substr() would throw, which libraries cannot
    rest.remove_prefix(at + kWord.size());
    std::size_t length = 0;
    while (length < rest.size() && ((rest[length] >= '0' && rest[length] <= '9') || rest[length] == '.'))
        ++length;
    return rest.substr(0, length);
}

int ptxParameters(std::string_view ptx, std::string_view kernel)
{
    constexpr std::string_view kEntry = ".entry";
    for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at + 1)) {
        std::string_view rest = ptx;
        rest.remove_prefix(at + kEntry.size());
        skipSpace(rest);
        if (rest.substr(0, kernel.size()) != kernel)
            continue;
        rest.remove_prefix(kernel.size());
        skipSpace(rest);
        if (rest.empty() || rest[0] != '(') // a longer name, or a kernel without parameters
            continue;
        const std::size_t end = rest.find(')');
        return static_cast<int>(countOf(rest.substr(0, end), ".param "));
    }
    return -1;
}

} // namespace lathe::cuda
