#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lathe::ui {

/// A few numbers by name, in the names' order. Takes a fifth of a map's memory, which counts where a long run keeps ten
/// thousand of them: the names are shared by all. GUI thread.
class NamedNumbers
{
public:
    using Entry = std::pair<const std::string*, double>;

    NamedNumbers() = default;
    explicit NamedNumbers(const std::map<std::string, double>& numbers);

    bool isEmpty() const { return m_entries.empty(); }
    double operator[](std::string_view name) const; ///< NaN: there is none
    auto begin() const { return m_entries.begin(); }
    auto end() const { return m_entries.end(); }

private:
    std::vector<Entry> m_entries;
};

/// The one copy of a text that is held as long as the program runs; for texts of which there are few.
const std::string& shared(const std::string& text);

} // namespace lathe::ui
