#include "core/store/skipped_lines.h"

#include <algorithm>
#include <utility>

namespace lathe::store {

void SkippedCounts::add(const Message& why, std::string_view file, std::int64_t line)
{
    const auto find = [this](const std::string& reason) {
        return std::ranges::find(m_all, reason, &SkippedLines::reason);
    };
    std::string reason = textOf(why);
    About reasonAbout;
    auto alike = find(reason);
    if (alike == m_all.end() && m_all.size() >= kMostReasons) {
        const Message others = say(Msg::LineOtherReasons);
        reason = textOf(others);
        reasonAbout = about(others);
        alike = find(reason);
    } else if (alike == m_all.end()) {
        reasonAbout = about(why);
    }
    if (alike == m_all.end())
        alike = m_all.insert(alike, {std::move(reason), std::move(reasonAbout), 0, std::string(file), line});
    ++alike->count;
}

std::vector<SkippedLines> SkippedCounts::take()
{
    std::ranges::stable_sort(m_all, std::ranges::greater(), &SkippedLines::count);
    return std::exchange(m_all, {});
}

} // namespace lathe::store
