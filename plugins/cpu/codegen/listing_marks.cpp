#include "plugins/cpu/codegen/listing_marks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

namespace lathe::cpu {

namespace {

using backend::LineMark;
using backend::MarkedLines;

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

/// x86 writes remarks behind '#', Arm behind "//" or '@'.
std::string_view withoutRemark(std::string_view line)
{
    for (std::size_t i = 0; i < line.size(); ++i)
        if (line.substr(i, 2) == "# " || line.substr(i, 2) == "@ " || line.substr(i, 2) == "//")
            return line.substr(0, i);
    return line;
}

bool isWordPart(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

/// What is there for debuggers, or marks places for the assembler alone.
bool isNoise(std::string_view line)
{
    const std::string_view text = trimmed(line);
    static constexpr std::array<std::string_view, 8> kStarts = {".cfi_", ".file",   ".Ltmp", ".Lfunc_begin",
                                                                "#APP",  "#NO_APP", "//APP", "//NO_APP"};
    static constexpr std::array<std::string_view, 2> kArmStarts = {"@APP", "@NO_APP"};
    const auto begins = [text](std::string_view start) { return text.starts_with(start); };
    return std::ranges::any_of(kStarts, begins) || std::ranges::any_of(kArmStarts, begins);
}

/// The second number of ".loc FILE LINE COLUMN", less one; -1 for line 0, which is no place.
std::int32_t statementOf(std::string_view location)
{
    std::string_view rest = trimmed(trimmed(location).substr(4));
    rest = trimmed(rest.substr(std::min(rest.find_first_of(" \t"), rest.size())));
    std::int32_t line = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), line);
    return line - 1;
}

/// The label that a line defines; empty: none.
std::string_view labelOf(std::string_view line)
{
    const std::size_t colon = line.find(':');
    const bool isLabel = colon != std::string_view::npos && colon > 0
                         && std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), isWordPart);
    return isLabel ? line.substr(0, colon) : std::string_view();
}

std::vector<MarkedLines> findLoops(const std::vector<std::string>& lines)
{
    std::map<std::string_view, std::int32_t> labels; // and the line of each
    std::map<std::int32_t, std::int32_t> loops; // by the line of the label, the last jump back to it
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string_view line = lines[i];
        if (const std::string_view label = labelOf(line); !label.empty()) {
            labels[label] = static_cast<std::int32_t>(i);
            continue;
        }
        if (!isInstruction(line))
            continue;
        const std::string_view code = withoutRemark(line);
        const std::size_t at = code.find(".LBB");
        if (at == std::string_view::npos)
            continue;
        const std::string_view word = code.substr(at);
        const auto end = std::find_if_not(word.begin(), word.end(), isWordPart);
        if (const auto target = labels.find(word.substr(0, static_cast<std::size_t>(end - word.begin())));
            target != labels.end())
            loops[target->second] = static_cast<std::int32_t>(i);
    }
    std::vector<MarkedLines> marks;
    for (const auto& [first, last] : loops)
        marks.push_back({LineMark::Loop, first, last});
    return marks;
}

/// How often the stores of a stretch run, each statement once whatever becomes of it.
double storesIn(const MarkedLines& loop, const AssemblyText& text, const ir::PrintedNest& program)
{
    std::set<std::int32_t> seen;
    double runs = 0;
    for (std::int32_t i = loop.first; i <= loop.last; ++i) {
        const std::int32_t statement = text.statements[static_cast<std::size_t>(i)];
        if (statement >= 0 && static_cast<std::size_t>(statement) < program.runs.size()
            && program.stores[static_cast<std::size_t>(statement)] && seen.insert(statement).second)
            runs += program.runs[static_cast<std::size_t>(statement)];
    }
    return runs;
}

/// The number of a general register of x86 by its name without '%', -1: it is none.
int x86General(std::string_view name)
{
    static constexpr std::array<std::string_view, 8> kOld = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    if (name.starts_with('r') && name.size() > 1 && std::isdigit(static_cast<unsigned char>(name[1])) != 0) {
        int number = -1;
        std::from_chars(name.data() + 1, name.data() + name.size(), number);
        return number;
    }
    if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e'))
        name.remove_prefix(1);
    for (std::size_t i = 0; i < kOld.size(); ++i)
        if (name == kOld[i] || (name.size() == 2 && name[0] == kOld[i][0] && name.back() == 'l' && i < 4)
            || (name.size() == 3 && name.starts_with(kOld[i]) && name.back() == 'l'))
            return static_cast<int>(i);
    return -1;
}

/// `prefixes` and a number, and nothing or a part ("v3.4s") behind it; -1: another word.
int numbered(std::string_view word, std::string_view prefixes)
{
    if (word.size() < 2 || prefixes.find(word[0]) == std::string_view::npos)
        return -1;
    int number = -1;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
    const bool whole = error == std::errc() && (end == word.data() + word.size() || *end == '.');
    return whole ? number : -1;
}

} // namespace

bool isInstruction(std::string_view line)
{
    const std::string_view text = trimmed(withoutRemark(line));
    return !text.empty() && (line[0] == ' ' || line[0] == '\t') && text[0] != '.';
}

AssemblyText readAssembly(std::string_view printed)
{
    AssemblyText out;
    std::int32_t statement = -1;
    bool debugging = false; // in a section that debuggers alone read
    while (!printed.empty()) {
        const std::size_t end = std::min(printed.find('\n'), printed.size());
        const std::string_view line = printed.substr(0, end);
        printed.remove_prefix(std::min(end + 1, printed.size()));
        const std::string_view text = trimmed(line);
        if (text.starts_with(".section") || text.starts_with(".text"))
            debugging = text.find(".debug") != std::string_view::npos;
        if (text.starts_with(".loc\t") || text.starts_with(".loc ")) {
            statement = statementOf(text);
            continue;
        }
        if (debugging || isNoise(line))
            continue;
        if (!isInstruction(line) && !labelOf(line).empty() && line.find("@function") == std::string_view::npos
            && !line.starts_with(".LBB"))
            statement = -1; // another function: nothing of the one before it
        out.lines.emplace_back(line);
        out.statements.push_back(isInstruction(line) ? statement : -1);
    }
    return out;
}

void takeStatements(AssemblyText& text, const AssemblyText& located)
{
    constexpr std::size_t kFar = 64; // lines that an instruction was moved by at most
    std::vector<bool> taken(located.lines.size(), false);
    std::size_t next = 0; // all before it are taken or too far away
    for (std::size_t i = 0; i < text.lines.size(); ++i) {
        text.statements[i] = -1;
        const std::size_t first = std::max(next, i > kFar ? i - kFar : 0);
        for (std::size_t other = first; other < std::min(located.lines.size(), i + kFar); ++other)
            if (!taken[other] && located.lines[other] == text.lines[i]) {
                text.statements[i] = located.statements[other];
                taken[other] = true;
                break;
            }
        while (next < taken.size() && taken[next])
            ++next;
    }
}

std::vector<MarkedLines> findMarks(const AssemblyText& text, const ir::PrintedNest& program)
{
    std::vector<MarkedLines> marks = findLoops(text.lines);
    MarkedLines* hot = nullptr;
    double most = 0;
    for (MarkedLines& loop : marks) {
        const bool innermost = std::ranges::none_of(marks, [&loop](const MarkedLines& other) {
            return &other != &loop && other.first >= loop.first && other.last <= loop.last;
        });
        if (const double runs = storesIn(loop, text, program); innermost && runs > most) {
            most = runs;
            hot = &loop;
        }
    }
    if (hot != nullptr)
        hot->mark = LineMark::HotLoop;
    for (std::size_t i = 0; i < text.lines.size(); ++i) {
        const auto line = static_cast<std::int32_t>(i);
        // LLVM's remarks: "32-byte Spill", "32-byte Folded Reload".
        if (text.lines[i].find("-byte ") == std::string::npos)
            continue;
        if (text.lines[i].ends_with("Spill"))
            marks.push_back({LineMark::Spill, line, line});
        else if (text.lines[i].ends_with("Reload"))
            marks.push_back({LineMark::Reload, line, line});
    }
    std::ranges::stable_sort(marks, {}, &MarkedLines::first);
    return marks;
}

RegisterCount countRegisters(const std::vector<std::string>& lines, bool isX86)
{
    std::set<int> vector;
    std::set<int> general;
    const auto note = [](std::set<int>& set, int number) {
        if (number >= 0)
            set.insert(number);
    };
    for (const std::string& whole : lines) {
        if (!isInstruction(whole))
            continue;
        const std::string_view line = withoutRemark(whole);
        for (std::size_t i = 0; i < line.size();) {
            const auto end = static_cast<std::size_t>(
                std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(i), line.end(), isWordPart) - line.begin());
            const std::string_view word = line.substr(i, end - i);
            const bool marked = i > 0 && line[i - 1] == '%'; // as x86 writes registers
            if (isX86 && marked && word.size() > 3 && word.substr(1, 2) == "mm")
                note(vector, numbered(word.substr(2), "m"));
            else if (isX86 && marked)
                note(general, x86General(word));
            else if (!isX86) {
                note(vector, numbered(word, "vqdsh"));
                note(general, numbered(word, "xwr"));
            }
            i = std::max(end, i + 1);
        }
    }
    return {static_cast<std::int32_t>(vector.size()), static_cast<std::int32_t>(general.size())};
}

} // namespace lathe::cpu
