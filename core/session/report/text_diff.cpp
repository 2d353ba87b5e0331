#include "core/session/report/text_diff.h"

#include <dtl/dtl.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace lathe::session {

namespace {

std::vector<std::string_view> linesOf(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

} // namespace

std::vector<DiffLine> diffLines(std::string_view left, std::string_view right)
{
    const auto a = linesOf(left), b = linesOf(right);
    // Numbers compare faster than lines. Equal ends are left out of the search.
    std::map<std::string_view, int> known;
    const auto numbered = [&known](const std::vector<std::string_view>& lines) {
        std::vector<int> ids;
        for (const std::string_view line : lines)
            ids.push_back(known.emplace(line, static_cast<int>(known.size())).first->second);
        return ids;
    };
    const std::vector<int> x = numbered(a), y = numbered(b);
    std::size_t head = 0, tail = 0;
    while (head < std::min(x.size(), y.size()) && x[head] == y[head])
        ++head;
    while (tail < std::min(x.size(), y.size()) - head && x[x.size() - 1 - tail] == y[y.size() - 1 - tail])
        ++tail;
    std::vector<DiffLine> out;
    std::int32_t l = 0, r = 0;
    const auto same = [&] {
        out.push_back({DiffLine::Kind::Same, l + 1, r + 1, std::string(a[static_cast<std::size_t>(l)])});
        ++l;
        ++r;
    };
    while (out.size() < head)
        same();
    dtl::Diff<int> diff(
        std::vector<int>(x.begin() + static_cast<std::ptrdiff_t>(head), x.end() - static_cast<std::ptrdiff_t>(tail)),
        std::vector<int>(y.begin() + static_cast<std::ptrdiff_t>(head), y.end() - static_cast<std::ptrdiff_t>(tail)));
    diff.compose();
    std::vector<DiffLine> added; // of this place
    for (const auto& [id, info] : diff.getSes().getSequence()) {
        if (info.type == dtl::SES_DELETE) {
            out.push_back({DiffLine::Kind::Removed, l + 1, 0, std::string(a[static_cast<std::size_t>(l)])});
            ++l;
        } else if (info.type == dtl::SES_ADD) {
            added.push_back({DiffLine::Kind::Added, 0, r + 1, std::string(b[static_cast<std::size_t>(r)])});
            ++r;
        } else {
            out.insert(out.end(), added.begin(), added.end());
            added.clear();
            same();
        }
    }
    out.insert(out.end(), added.begin(), added.end());
    for (std::size_t i = 0; i < tail; ++i)
        same();
    return out;
}

std::string unifiedDiff(const std::vector<DiffLine>& lines, std::int32_t context)
{
    std::vector<bool> shown(lines.size());
    const auto size = static_cast<std::int64_t>(lines.size());
    for (std::int64_t i = 0; i < size; ++i)
        if (lines[static_cast<std::size_t>(i)].kind != DiffLine::Kind::Same)
            for (std::int64_t j = std::max<std::int64_t>(0, i - context); j <= std::min(size - 1, i + context); ++j)
                shown[static_cast<std::size_t>(j)] = true;
    std::string text;
    std::int32_t left = 1, right = 1;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const DiffLine& line = lines[i];
        if (shown[i] && (i == 0 || !shown[i - 1]))
            text += fmt::format("@@ -{} +{} @@\n", left, right);
        if (shown[i])
            text += fmt::format("{}{}\n",
                                line.kind == DiffLine::Kind::Same      ? ' '
                                : line.kind == DiffLine::Kind::Removed ? '-'
                                                                       : '+',
                                line.text);
        left += line.kind != DiffLine::Kind::Added ? 1 : 0;
        right += line.kind != DiffLine::Kind::Removed ? 1 : 0;
    }
    return text;
}

} // namespace lathe::session
