#include "core/backend/source_language.h"

#include <fmt/format.h>

#include <cmath>

namespace lathe::backend {

std::string SourceLanguage::intLiteral(std::int64_t value, DType dtype) const
{
    if (dtype == DType::U64)
        return fmt::format("{}{}", static_cast<std::uint64_t>(value), suffixOfU64);
    if (dtype == DType::U32)
        return fmt::format("{}u", value);
    if (value == INT64_MIN)
        return std::string(lowestI64);
    if (value == INT32_MIN)
        return std::string(lowestI32);
    const std::string number = dtype == DType::I64 ? fmt::format("{}{}", value, suffixOfI64) : std::to_string(value);
    return value < 0 ? "(" + number + ")" : number;
}

std::string SourceLanguage::floatLiteral(double value, DType dtype) const
{
    const bool isNarrow = dtype == DType::F16 || dtype == DType::BF16;
    if (std::isnan(value) || std::isinf(value)) {
        const auto& word = std::isnan(value) ? notANumber : infinity;
        const std::string cast = isNarrow && !hasNarrowFloats ? fmt::format("({})", typeName(dtype)) : std::string();
        return fmt::format("{}{}{}", cast, std::isinf(value) && value < 0 ? "-" : "", word[dtype == DType::F64]);
    }
    // As short as it can be to mean the same number in its own type.
    const bool isSingle = dtype != DType::F64 && static_cast<double>(static_cast<float>(value)) == value;
    const std::string digits = isSingle ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    const bool isWhole = digits.find_first_of(".e") == std::string::npos;
    const std::string number = digits + (isWhole ? ".0" : "") + (dtype == DType::F64 ? "" : "f");
    const std::string whole = isNarrow ? fmt::format("({}){}", typeName(dtype), number) : number;
    return std::signbit(value) ? "(" + whole + ")" : whole;
}

} // namespace lathe::backend
