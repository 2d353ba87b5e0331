#include "core/backend/source_functions.h"

#include "core/backend/function_coefficients.h"
#include "core/backend/source_text.h"
#include "core/support/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lathe::backend {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr SourceHelper kSharedHelpers[] = {
    {"min_TYPE", "TYPE min_TYPE(TYPE a, TYPE b) { return a < b || isnan(a) ? a : b; } // not-a-number stays\n"},
    {"max_TYPE", "TYPE max_TYPE(TYPE a, TYPE b) { return a > b || isnan(a) ? a : b; }\n"},
    // By e^-|x|, which does not overflow: so small results are kept. The language computes on vectors, too, by each
    // element's condition.
    {"sigmoid_TYPE", "TYPE sigmoid_TYPE(TYPE x)\n"
                     "{\n"
                     "    const TYPE e = exp(-fabs(x));\n"
                     "    return (x < 0 ? e : (TYPE)(1)) / (1 + e);\n"
                     "}\n"},
    {"tanh_TYPE", "TYPE tanh_TYPE(TYPE x)\n"
                  "{\n"
                  "    const TYPE z = x * x;\n"
                  "    const TYPE near = x + x * z * TANH;\n"
                  "    const TYPE far = 1 - 2 / (exp(2 * fabs(x)) + 1);\n"
                  "    return copysign(z < NEAR ? near : far, x);\n"
                  "}\n"},
    {"erf_TYPE", "TYPE erf_TYPE(TYPE x)\n"
                 "{\n"
                 "    const TYPE in = x > FLAT ? (TYPE)(FLAT) : x < -FLAT ? (TYPE)(-FLAT) : x;\n"
                 "    const TYPE z = in * in, y = in * ERFP / ERFQ;\n"
                 "    return y > 1 ? (TYPE)(1) : y < -1 ? (TYPE)(-1) : y;\n"
                 "}\n"},
    // Integers by the table in core/compute/README.md: a divisor of zero counts as 1, the lowest number by -1 wraps
    // around. The language leaves both undefined.
    {"div_TYPE", "TYPE div_TYPE(TYPE a, TYPE b) { return a / (b == 0 ? 1 : b); }\n"},
    {"mod_TYPE", "TYPE mod_TYPE(TYPE a, TYPE b) { return a % (b == 0 ? 1 : b); }\n"},
    {"floordiv_TYPE", "TYPE floordiv_TYPE(TYPE a, TYPE b)\n"
                      "{\n"
                      "    if (b == 0 || b == -1)\n"
                      "        return b == 0 ? a : (TYPE)(0 - (uTYPE)a);\n"
                      "    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));\n"
                      "}\n"},
    {"floormod_TYPE", "TYPE floormod_TYPE(TYPE a, TYPE b)\n"
                      "{\n"
                      "    if (b == 0 || b == -1)\n"
                      "        return 0;\n"
                      "    return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);\n"
                      "}\n"},
    {"power_TYPE", "TYPE power_TYPE(TYPE base, TYPE exponent) // wraps around\n"
                   "{\n"
                   "    if (exponent < 0)\n"
                   "        return base == 1 ? 1 : base == (TYPE)(-1) ? ((exponent & 1) != 0 ? -1 : 1) : 0;\n"
                   "    WIDE result = 1, square = (WIDE)base;\n"
                   "    for (; exponent != 0; exponent >>= 1, square *= square)\n"
                   "        if ((exponent & 1) != 0)\n"
                   "            result *= square;\n"
                   "    return (TYPE)result;\n"
                   "}\n"},
};

/// A product that is to be rounded for itself is written as fma(x, y, -0).
bool isProduct(const ir::Node& e)
{
    return e.name == "fma" && e.operands.size() == 3 && e.operands[2]->kind == ExprKind::FloatImm
           && e.operands[2]->floatValue == 0 && std::signbit(e.operands[2]->floatValue);
}

bool isNarrow(DType dtype)
{
    return dtype == DType::F16 || dtype == DType::BF16;
}

std::string replaced(std::string text, std::string_view what, std::string_view by)
{
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

/// Of z.
std::string polynomial(const SourceLanguage& language, std::span<const double> coefficients, DType type)
{
    const std::string first = language.floatLiteral(coefficients.front(), type);
    return coefficients.size() == 1
               ? first
               : fmt::format("({} + z * {})", first, polynomial(language, coefficients.subspan(1), type));
}

/// A helper's text with its numbers in place of their names.
std::string withNumbers(const SourceLanguage& language, std::string_view text, DType type)
{
    const std::pair<std::string_view, std::string> numbers[] = {
        {"TANH", type == DType::F64 ? polynomial(language, kTanh64, type) : polynomial(language, kTanh32, type)},
        {"NEAR", language.floatLiteral(kTanhNear, type)},
        {"ERFP", polynomial(language, kErfP32, type)},
        {"ERFQ", polynomial(language, kErfQ32, type)},
        {"FLAT", language.floatLiteral(kErfFlat, type)}};
    std::string made(text);
    for (const auto& [name, written] : numbers)
        made = replaced(std::move(made), name, written);
    return made;
}

} // namespace

std::span<const SourceHelper> sharedHelpers()
{
    return kSharedHelpers;
}

std::string ofType(std::string_view text, std::string_view type)
{
    return replaced(std::string(text), "TYPE", type);
}

std::string SourceText::helper(std::string_view name, const std::string& type)
{
    const auto among = [&](std::span<const SourceHelper> helpers) {
        const auto known = std::ranges::find(helpers, name, &SourceHelper::name);
        return known == helpers.end() ? nullptr : &*known;
    };
    const SourceHelper* known = among(m_language.helpers);
    if (known == nullptr)
        known = among(sharedHelpers());
    LATHE_CHECK(known != nullptr) << name;
    const DType numbers = type.starts_with("double") ? DType::F64 : DType::F32;
    std::string made = ofType(withNumbers(m_language, known->text, numbers), type);
    if (made.find("WIDE") != std::string::npos)
        made = replaced(std::move(made), "WIDE", typeText(DType::U64));
    m_helpers.insert({0, std::string(m_language.helperPrefix) + made});
    return ofType(name, type);
}

std::string SourceText::functionText(std::string_view name, DType dtype, bool areLanes,
                                     const std::vector<std::string>& arguments)
{
    const bool isHelper = name.find("TYPE") != std::string_view::npos;
    const std::string scalar = typeText(dtype), type = areLanes ? vectorType(dtype, m_lanes.width) : scalar;
    std::string called(name);
    if (areLanes && !m_language.computesVectors) {
        const std::string ofOne = isHelper ? helper(name, scalar) : called;
        called = isHelper ? ofType(name, type) : fmt::format("{}_{}", name, type);
        static constexpr const char* kNames[] = {"a", "b", "c"};
        std::string parameters, lane;
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            parameters += fmt::format("{}{} {}", i == 0 ? "" : ", ", type, kNames[i]);
            lane += fmt::format("{}{}@", i == 0 ? "" : ", ", kNames[i]);
        }
        laneWise(fmt::format("{} {}({})", type, called, parameters), type, fmt::format("{}({})", ofOne, lane));
    } else if (isHelper) {
        called = helper(name, type);
    }
    return fmt::format("{}({})", called, fmt::join(arguments, ", "));
}

std::string SourceText::integerCall(const ir::Node& e, const std::vector<std::string>& arguments)
{
    static const std::unordered_map<std::string, std::string> kSigns = {
        {"bit_and", "&"}, {"bit_or", "|"}, {"bit_xor", "^"}};
    const std::string type = typeText(e.dtype);
    if (const auto sign = kSigns.find(e.name); sign != kSigns.end() && arguments.size() == 2)
        return fmt::format("({} {} {})", arguments[0], sign->second, arguments[1]);
    if ((e.name == "shift_left" || e.name == "shift_right") && arguments.size() == 2)
        return fmt::format("({1} < {2} ? ({3})({0} {4} {1}) : 0)", arguments[0], arguments[1], 8 * sizeOf(e.dtype),
                           type, e.name == "shift_left" ? "<<" : ">>");
    if (e.name == "pow" && arguments.size() == 2)
        return fmt::format("{}({}, {})", helper("power_TYPE", type), arguments[0], arguments[1]);
    if ((e.name == "abs" || e.name == "fabs") && arguments.size() == 1) { // of the lowest number wraps around
        if (m_language.absoluteInteger.find("TYPE") != std::string_view::npos)
            return fmt::format("{}({})", helper(m_language.absoluteInteger, type), arguments[0]);
        return fmt::format(fmt::runtime(m_language.absoluteInteger), type, arguments[0]);
    }
    problem(fmt::format("{} of {}", e.name, toString(e.dtype)));
    return "0";
}

const SourceFunction* SourceText::findFunction(std::string_view ours) const
{
    const auto known = std::ranges::find(m_language.functions, ours, &SourceFunction::ours);
    return known == m_language.functions.end() ? nullptr : &*known;
}

std::string SourceText::product(const Expr& x, const Expr& y)
{
    const bool areLanes = usesLanes(x) || usesLanes(y);
    const std::vector<std::string> factors = both(areLanes ? vectorText(x) : text(x),
                                                  areLanes ? vectorText(y) : text(y));
    if (isNarrow(x->dtype) && !m_language.hasNarrowFloats) // which rounds each product
        return fmt::format("({} * {})", factors[0], factors[1]);
    const SourceFunction& function = *findFunction("product");
    return functionText(x->dtype == DType::F64 ? function.ofF64 : function.ofF32, x->dtype, areLanes, factors);
}

std::string SourceText::shuffleText(const ir::StmtNode& shuffle, std::int64_t threads)
{
    if (m_language.warp != 0 && shuffle.warp != m_language.warp) {
        problem(fmt::format("shuffles within warps of {} lanes", shuffle.warp));
        return "0";
    }
    if (!m_language.shuffleDeclaration.empty())
        m_helpers.insert({0, std::string(m_language.shuffleDeclaration)});
    // A block of less than a warp has no more lanes than threads.
    const std::uint64_t all = (std::uint64_t{1} << std::min<std::int64_t>(threads, shuffle.warp)) - 1;
    const std::string lanes = fmt::format("{:#x}u", all), distance = std::to_string(shuffle.distance);
    const DType dtype = shuffle.value->dtype;
    const std::string type = typeText(dtype), value = text(shuffle.value);
    if (isNarrow(dtype) && !m_language.shuffleNarrow.empty())
        return fmt::format("{}({}, {}, {})", helper(m_language.shuffleNarrow, type), lanes, value, distance);
    if (sizeOf(dtype) >= 4 || isFloat(dtype))
        return fmt::format(fmt::runtime(m_language.shuffle), value, lanes, distance);
    return fmt::format("({}){}", type,
                       fmt::format(fmt::runtime(m_language.shuffle), fmt::format("(int)({})", value), lanes, distance));
}

std::string SourceText::callText(const Expr& e)
{
    if (isProduct(*e))
        return product(e->operands[0], e->operands[1]);
    // Of half floats in f32, rounded once.
    const bool isHalf = isNarrow(e->dtype);
    const bool areLanes = usesLanes(e);
    std::vector<std::string> arguments;
    for (const Expr& operand : e->operands) {
        const std::string argument = areLanes && e->operands.size() > 1 ? vectorText(operand) : text(operand);
        arguments.push_back(isHalf ? fmt::format("(float)({})", argument) : argument);
    }
    if (!isFloat(e->dtype))
        return integerCall(*e, arguments);
    const SourceFunction* const known = findFunction(e->name);
    if (known == nullptr) {
        problem(fmt::format("the intrinsic '{}'", e->name));
        return "0";
    }
    const std::string call = functionText(e->dtype == DType::F64 ? known->ofF64 : known->ofF32,
                                          isHalf ? DType::F32 : e->dtype, areLanes, arguments);
    return isHalf ? fmt::format("({}){}", typeText(e->dtype), call) : call;
}

} // namespace lathe::backend
