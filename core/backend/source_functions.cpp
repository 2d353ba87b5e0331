#include "core/backend/source_functions.h"

#include "core/backend/function_coefficients.h"
#include "core/backend/source_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace lathe::backend {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr SourceHelper kHelpers[] = {
    {"min_TYPE", "TYPE min_TYPE(TYPE a, TYPE b) { return a < b || isnan(a) ? a : b; } // not-a-number stays\n"},
    {"max_TYPE", "TYPE max_TYPE(TYPE a, TYPE b) { return a > b || isnan(a) ? a : b; }\n"},
    {"vmin_TYPE", "TYPE vmin_TYPE(TYPE a, TYPE b) { return select(b, a, a < b || a != a); }\n"},
    {"vmax_TYPE", "TYPE vmax_TYPE(TYPE a, TYPE b) { return select(b, a, a > b || a != a); }\n"},
    // Rounded before anything is added to it: compilers may else join the two.
    {"product_TYPE", "TYPE product_TYPE(TYPE x, TYPE y)\n"
                     "{\n"
                     "#pragma OPENCL FP_CONTRACT OFF\n"
                     "    return x * y;\n"
                     "}\n"},
    // By e^-|x|, which does not overflow: so small results are kept. The language computes on vectors, too, by each
    // element's condition.
    {"sigmoid_TYPE", "TYPE sigmoid_TYPE(TYPE x)\n"
                     "{\n"
                     "    const TYPE e = exp(-fabs(x));\n"
                     "    return (x < 0 ? e : (TYPE)(1)) / (1 + e);\n"
                     "}\n"},
    // Two that may have larger errors in the language: 5 and 16 units of the last place.
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
                   "    ulong result = 1, square = (ulong)base;\n"
                   "    for (; exponent != 0; exponent >>= 1, square *= square)\n"
                   "        if ((exponent & 1) != 0)\n"
                   "            result *= square;\n"
                   "    return (TYPE)result;\n"
                   "}\n"},
};

constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
    {"exp", "exp"},   {"exp2", "exp2"},   {"log", "log"},     {"log2", "log2"}, {"sqrt", "sqrt"},   {"rsqrt", "rsqrt"},
    {"tanh", "tanh"}, {"expm1", "expm1"}, {"log1p", "log1p"}, {"erf", "erf"},   {"sin", "sin"},     {"cos", "cos"},
    {"tan", "tan"},   {"atan", "atan"},   {"floor", "floor"}, {"ceil", "ceil"}, {"trunc", "trunc"}, {"round", "rint"},
    {"abs", "fabs"},  {"fabs", "fabs"},   {"pow", "pow"},     {"fmod", "fmod"}, {"fma", "fma"}};

/// A product that is to be rounded for itself is written as fma(x, y, -0).
bool isProduct(const ir::Node& e)
{
    return e.name == "fma" && e.operands.size() == 3 && e.operands[2]->kind == ExprKind::FloatImm
           && e.operands[2]->floatValue == 0 && std::signbit(e.operands[2]->floatValue);
}

std::string replaced(std::string text, std::string_view what, std::string_view by)
{
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}

/// Of z.
std::string polynomial(std::span<const double> coefficients, DType type)
{
    const std::string first = floatLiteral(coefficients.front(), type);
    return coefficients.size() == 1 ? first
                                    : fmt::format("({} + z * {})", first, polynomial(coefficients.subspan(1), type));
}

/// A helper's text with its numbers in place of their names.
std::string withNumbers(std::string_view text, DType type)
{
    const std::pair<std::string_view, std::string> numbers[] = {
        {"TANH", type == DType::F64 ? polynomial(kTanh64, type) : polynomial(kTanh32, type)},
        {"NEAR", floatLiteral(kTanhNear, type)},
        {"ERFP", polynomial(kErfP32, type)},
        {"ERFQ", polynomial(kErfQ32, type)},
        {"FLAT", floatLiteral(kErfFlat, type)}};
    std::string made(text);
    for (const auto& [name, written] : numbers)
        made = replaced(std::move(made), name, written);
    return made;
}

} // namespace

std::span<const SourceHelper> sourceHelpers()
{
    return kHelpers;
}

std::span<const std::pair<std::string_view, std::string_view>> languageFunctions()
{
    return kFunctions;
}

std::string ofType(std::string_view text, std::string_view type)
{
    return replaced(std::string(text), "TYPE", type);
}

std::string SourceText::helper(std::string_view name, const std::string& type)
{
    for (const SourceHelper& known : kHelpers)
        if (known.name == name)
            m_helpers.insert(
                ofType(withNumbers(known.text, type.starts_with("double") ? DType::F64 : DType::F32), type));
    return ofType(name, type);
}

std::string SourceText::integerCall(const ir::Node& e, const std::vector<std::string>& arguments)
{
    static const std::unordered_map<std::string, std::string> kSigns = {
        {"bit_and", "&"}, {"bit_or", "|"}, {"bit_xor", "^"}};
    const char* const type = typeName(e.dtype);
    if (const auto sign = kSigns.find(e.name); sign != kSigns.end() && arguments.size() == 2)
        return fmt::format("({} {} {})", arguments[0], sign->second, arguments[1]);
    if ((e.name == "shift_left" || e.name == "shift_right") && arguments.size() == 2)
        return fmt::format("({1} < {2} ? ({3})({0} {4} {1}) : 0)", arguments[0], arguments[1], 8 * sizeOf(e.dtype),
                           type, e.name == "shift_left" ? "<<" : ">>");
    if (e.name == "pow" && arguments.size() == 2)
        return fmt::format("{}({}, {})", helper("power_TYPE", type), arguments[0], arguments[1]);
    if ((e.name == "abs" || e.name == "fabs") && arguments.size() == 1) // of the lowest number wraps around
        return fmt::format("({0})abs(({0})({1}))", type, arguments[0]);
    problem(fmt::format("{} of {}", e.name, toString(e.dtype)));
    return "0";
}

std::string SourceText::product(const Expr& x, const Expr& y)
{
    const bool areLanes = usesLanes(x) || usesLanes(y);
    const std::string type = areLanes ? vectorType(x->dtype, m_lanes.width) : typeName(x->dtype);
    return fmt::format("{}({}, {})", helper("product_TYPE", type), areLanes ? vectorText(x) : text(x),
                       areLanes ? vectorText(y) : text(y));
}

std::string SourceText::callText(const Expr& e)
{
    if (isProduct(*e))
        return product(e->operands[0], e->operands[1]);
    // Of half floats in f32, rounded once.
    const bool isHalf = e->dtype == DType::F16;
    const bool areLanes = usesLanes(e);
    std::vector<std::string> arguments;
    for (const Expr& operand : e->operands) {
        const std::string argument = areLanes && e->operands.size() > 1 ? vectorText(operand) : text(operand);
        arguments.push_back(isHalf ? fmt::format("(float)({})", argument) : argument);
    }
    if (!isFloat(e->dtype))
        return integerCall(*e, arguments);
    const std::string scalar = isHalf ? "float" : typeName(e->dtype);
    const std::string type = areLanes ? vectorType(e->dtype, m_lanes.width) : scalar;
    std::string name;
    if (e->name == "sigmoid" || e->name == "tanh" || (e->name == "erf" && e->dtype != DType::F64)) {
        name = helper(e->name + "_TYPE", type);
    } else {
        const auto* const known = std::ranges::find(kFunctions, e->name,
                                                    &std::pair<std::string_view, std::string_view>::first);
        if (known == std::end(kFunctions)) {
            problem(fmt::format("the intrinsic '{}'", e->name));
            return "0";
        }
        name = known->second;
    }
    const std::string call = fmt::format("{}({})", name, fmt::join(arguments, ", "));
    return isHalf ? fmt::format("(half){}", call) : call;
}

} // namespace lathe::backend
