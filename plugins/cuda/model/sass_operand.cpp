#include "plugins/cuda/model/sass_operand.h"

#include <bit>
#include <charconv>
#include <limits>

namespace lathe::cuda {
namespace {

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

/// "R12" with prefix "R": 12. RZ, PT and their like are the last of their kind.
std::optional<std::int32_t> numbered(std::string_view text, std::string_view prefix, std::string_view last,
                                     std::int32_t lastIndex, std::int32_t count)
{
    if (text == last)
        return lastIndex;
    if (!text.starts_with(prefix))
        return std::nullopt;
    std::int32_t index = 0;
    const std::string_view digits = text.substr(prefix.size());
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc() || end != digits.data() + digits.size() || index < 0 || index >= count)
        return std::nullopt;
    return index;
}

std::optional<std::int64_t> integer(std::string_view text)
{
    bool isNegative = false;
    if (text.starts_with("-")) {
        isNegative = true;
        text.remove_prefix(1);
    } else if (text.starts_with("+")) {
        text.remove_prefix(1);
    }
    if (!text.starts_with("0x"))
        return std::nullopt;
    text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return static_cast<std::int64_t>(isNegative ? 0 - value : value);
}

/// The sum inside brackets: "R2.64+UR4+-0x20", "R0.X4+0x800".
bool readAddress(std::string_view text, SassOperand& operand)
{
    while (!text.empty()) {
        // A sign behind a plus belongs to the number.
        auto end = text.find('+');
        const std::string_view term = trimmed(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        if (term.empty())
            continue;
        if (const auto value = integer(term)) {
            operand.value += *value;
            continue;
        }
        const auto dot = term.find('.');
        const std::string_view name = term.substr(0, dot);
        const std::string_view suffix = dot == std::string_view::npos ? std::string_view{} : term.substr(dot + 1);
        if (const auto index = numbered(name, "UR", "URZ", kZeroRegister, 256)) {
            operand.uniform = *index;
        } else if (const auto plain = numbered(name, "R", "RZ", kZeroRegister, 256)) {
            operand.base = *plain;
            operand.isWide = suffix.starts_with("64");
            operand.scale = suffix == "X4" ? 4 : suffix == "X8" ? 8 : suffix == "X16" ? 16 : 1;
        } else {
            return false;
        }
    }
    return true;
}

SassOperand other(std::string_view text)
{
    SassOperand operand;
    operand.text = text;
    return operand;
}

} // namespace

std::vector<std::string_view> splitSassOperands(std::string_view text)
{
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == '(' || text[i] == '{')
            ++depth;
        else if (text[i] == ']' || text[i] == ')' || text[i] == '}')
            --depth;
        else if (text[i] == ',' && depth <= 0) {
            parts.push_back(text.substr(start, i - start));
            start = i + 1;
        }
    }
    if (!trimmed(text.substr(start)).empty())
        parts.push_back(text.substr(start));
    return parts;
}

SassOperand readSassOperand(std::string_view text)
{
    const std::string_view whole = text;
    SassOperand operand;
    if (text.starts_with("`(") && text.ends_with(")")) {
        operand.kind = SassOperandKind::Label;
        operand.text = text.substr(2, text.size() - 3);
        return operand;
    }
    if (text.starts_with("SR_") || text == "SRZ") {
        operand.kind = SassOperandKind::Special;
        operand.text = text;
        return operand;
    }
    if (const auto value = integer(text)) {
        operand.kind = SassOperandKind::Immediate;
        operand.value = *value;
        return operand;
    }
    if (text.starts_with("-") || text.starts_with("!")) {
        operand.isNegated = true;
        text.remove_prefix(1);
    } else if (text.starts_with("~")) {
        operand.isInverted = true;
        text.remove_prefix(1);
    }
    if (text.size() > 1 && text.front() == '|' && text.back() == '|')
        text = text.substr(1, text.size() - 2);
    if (text.starts_with("c[") || text.starts_with("cx[")) {
        const auto middle = text.find("][");
        if (middle == std::string_view::npos || text.back() != ']')
            return other(whole);
        const auto open = text.find('[');
        const auto bank = integer(text.substr(open + 1, middle - open - 1));
        SassOperand inner;
        if (!readAddress(text.substr(middle + 2, text.size() - middle - 3), inner))
            return other(whole);
        operand.kind = SassOperandKind::Constant;
        operand.index = bank ? static_cast<std::int32_t>(*bank & 0xff) : -1;
        operand.value = inner.value;
        operand.base = inner.base;
        operand.uniform = inner.uniform;
        return operand;
    }
    if (const auto open = text.rfind('['); open != std::string_view::npos && text.back() == ']') {
        operand.kind = SassOperandKind::Memory;
        if (!readAddress(text.substr(open + 1, text.size() - open - 2), operand))
            return other(whole);
        return operand;
    }
    const auto dot = text.find('.');
    const std::string_view name = text.substr(0, dot);
    operand.isReused = text.find(".reuse") != std::string_view::npos;
    operand.isPart = text.find(".B") != std::string_view::npos || text.find(".H") != std::string_view::npos;
    const struct
    {
        SassOperandKind kind;
        std::string_view prefix, last;
        std::int32_t lastIndex, count;
    } kinds[] = {{SassOperandKind::UniformRegister, "UR", "URZ", kZeroRegister, 256},
                 {SassOperandKind::UniformPredicate, "UP", "UPT", kTruePredicate, 8},
                 {SassOperandKind::Register, "R", "RZ", kZeroRegister, 256},
                 {SassOperandKind::Predicate, "P", "PT", kTruePredicate, 8}};
    for (const auto& kind : kinds)
        if (const auto index = numbered(name, kind.prefix, kind.last, kind.lastIndex, kind.count)) {
            operand.kind = kind.kind;
            operand.index = *index;
            return operand;
        }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool isInfinite = text == "+INF" || text == "INF",
               isSpecial = isInfinite || text == "QNAN" || text == "+QNAN";
    if (isSpecial)
        value = isInfinite ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (isSpecial || (error == std::errc() && end == text.data() + text.size() && !text.empty())) {
        operand.kind = SassOperandKind::Immediate;
        operand.isFloat = true;
        operand.number = operand.isNegated ? -value : value;
        operand.value = std::bit_cast<std::uint32_t>(static_cast<float>(operand.number));
        operand.isNegated = false;
        return operand;
    }
    return other(whole);
}

} // namespace lathe::cuda
