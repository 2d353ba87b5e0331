#include "ui/models/named_numbers.h"

#include <cmath>
#include <set>

namespace lathe::ui {

const std::string& shared(const std::string& text)
{
    static std::set<std::string> texts;
    return *texts.insert(text).first;
}

NamedNumbers::NamedNumbers(const std::map<std::string, double>& numbers)
{
    m_entries.reserve(numbers.size());
    for (const auto& [name, number] : numbers)
        m_entries.emplace_back(&shared(name), number);
}

double NamedNumbers::operator[](std::string_view name) const
{
    for (const auto& [known, number] : m_entries)
        if (*known == name)
            return number;
    return std::nan("");
}

} // namespace lathe::ui
