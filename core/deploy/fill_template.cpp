#include "core/deploy/templates.h"

#include <algorithm>

namespace lathe::deploy {

namespace {
constexpr std::string_view kMark = "@NAME@";
}

std::string fillTemplate(std::string_view text, std::string_view name)
{
    std::string out;
    for (std::size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark)) {
        out.append(text.substr(0, at)).append(name);
        text.remove_prefix(at + kMark.size());
    }
    return out.append(text);
}

std::vector<std::string> interfaceFunctions()
{
    constexpr std::string_view kPrefix = "lathe_@NAME@_";
    std::vector<std::string> names;
    std::string_view text = kHeaderTemplate;
    for (std::size_t at = text.find(kPrefix); at != std::string_view::npos; at = text.find(kPrefix)) {
        text.remove_prefix(at + kPrefix.size());
        const std::size_t end = text.find('(');
        const std::string_view name = text.substr(0, end);
        if (end != std::string_view::npos
            && std::all_of(name.begin(), name.end(), [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); })
            && std::find(names.begin(), names.end(), name) == names.end())
            names.emplace_back(name);
    }
    return names;
}

} // namespace lathe::deploy
