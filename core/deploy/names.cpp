#include "core/deploy/names.h"

namespace lathe::deploy {

std::string cIdentifier(std::string_view text)
{
    std::string name;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (digit && name.empty())
            name.push_back('_');
        if (digit || letter)
            name.push_back(c);
        else if (!name.empty() && name.back() != '_')
            name.push_back('_');
    }
    while (!name.empty() && name.back() == '_')
        name.pop_back();
    return name.empty() ? "model" : name;
}

std::string libraryName(std::string_view wanted, const std::filesystem::path& file)
{
    if (!wanted.empty())
        return cIdentifier(wanted);
    const std::string stem = file.stem().string();
    return cIdentifier(stem.starts_with("lib") ? stem.substr(3) : stem);
}

} // namespace lathe::deploy
