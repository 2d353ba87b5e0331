#pragma once

#include <algorithm>
#include <string_view>

namespace lathe {

/// Whether two texts of words "-key=value", divided by blanks, give some key different values: a device for
/// "-gpu=a100" is none for "expected -gpu=h100", but one for "expected".
inline bool contradict(std::string_view a, std::string_view b)
{
    const auto next = [](std::string_view& rest) {
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        const std::string_view word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(word.size());
        return word;
    };
    for (std::string_view word = next(a); !word.empty(); word = next(a)) {
        const std::size_t equals = word.find('=');
        if (word.front() != '-' || equals == std::string_view::npos)
            continue;
        std::string_view rest = b;
        for (std::string_view other = next(rest); !other.empty(); other = next(rest))
            if (other.substr(0, other.find('=')) == word.substr(0, equals) && other != word)
                return true;
    }
    return false;
}

} // namespace lathe
