#include "core/backend/source_text.h"

#include "core/backend/source_functions.h"
#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>

namespace lathe::backend {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;

const char* typeName(DType dtype)
{
    switch (dtype) {
    case DType::F16: return "half";
    case DType::F32: return "float";
    case DType::F64: return "double";
    case DType::I8: return "char";
    case DType::I16: return "short";
    case DType::I32: return "int";
    case DType::I64: return "long";
    case DType::Bool:
    case DType::U8: return "uchar";
    case DType::U16: return "ushort";
    case DType::U32: return "uint";
    case DType::U64: return "ulong";
    default: return nullptr;
    }
}

namespace {

/// The type without a sign of the same size, in which sums wrap around.
const char* wrappingType(DType dtype)
{
    return sizeOf(dtype) == 8 ? "ulong" : "uint";
}

bool isData(const Expr& e)
{
    return e->kind == ExprKind::Load || std::ranges::any_of(e->operands, &isData);
}

constexpr DType kPrintedTypes[] = {DType::F16, DType::F32, DType::F64, DType::I8,  DType::I16, DType::I32,
                                   DType::I64, DType::U8,  DType::U16, DType::U32, DType::U64};
constexpr std::int64_t kWidths[] = {2, 3, 4, 8, 16}; ///< of vectors

/// From floats to integers: the type's ends for what lies beyond them, 0 for not-a-number.
std::string conversionName(DType from, DType to)
{
    return fmt::format("nearest_{}_of_{}", typeName(to), typeName(from));
}

/// The language's own words and functions, and all that a text calls or declares beside its tensors.
std::set<std::string> makeWords()
{
    std::set<std::string> words = {
        "kernel",   "global",   "local",        "constant",     "private",    "for",
        "if",       "else",     "while",        "do",           "return",     "const",
        "void",     "switch",   "case",         "image",        "event",      "signed",
        "unsigned", "struct",   "union",        "enum",         "static",     "inline",
        "break",    "continue", "default",      "goto",         "sizeof",     "typedef",
        "volatile", "register", "restrict",     "extern",       "auto",       "pipe",
        "bool",     "size_t",   "read_only",    "dot",          "step",       "mix",
        "sign",     "length",   "clamp",        "round",        "abs",        "min",
        "max",      "select",   "isnan",        "barrier",      "NAN",        "INFINITY",
        "INT_MIN",  "LONG_MIN", "get_group_id", "get_local_id", "write_only", "CLK_LOCAL_MEM_FENCE"};
    for (const auto& [ours, printed] : languageFunctions())
        words.emplace(printed);
    for (const std::int64_t width : kWidths) {
        words.insert(fmt::format("vload{}", width));
        words.insert(fmt::format("vstore{}", width));
    }
    for (const DType dtype : kPrintedTypes) {
        std::vector<std::string> types = {typeName(dtype)};
        for (const std::int64_t width : kWidths)
            types.push_back(fmt::format("{}{}", typeName(dtype), width));
        for (const DType from : {DType::F16, DType::F32, DType::F64})
            words.insert(conversionName(from, dtype));
        for (const std::string& type : types) {
            words.insert(type);
            for (const SourceHelper& helper : sourceHelpers())
                words.insert(ofType(helper.name, type));
        }
    }
    return words;
}

bool isWord(const std::string& name)
{
    static const std::set<std::string> kWords = makeWords();
    return kWords.contains(name) || name.starts_with("__") || SourceScopes::isName(name);
}

std::string literal(std::int64_t value, DType dtype)
{
    if (dtype == DType::U64)
        return fmt::format("{}ul", static_cast<std::uint64_t>(value));
    if (dtype == DType::U32)
        return fmt::format("{}u", value);
    if (value == INT64_MIN)
        return "LONG_MIN";
    if (value == INT32_MIN)
        return "INT_MIN";
    const std::string number = dtype == DType::I64 ? fmt::format("{}l", value) : std::to_string(value);
    return value < 0 ? "(" + number + ")" : number;
}

} // namespace

std::string floatLiteral(double value, DType dtype)
{
    const char* const suffix = dtype == DType::F64 ? "" : "f";
    if (std::isnan(value))
        return "NAN";
    if (std::isinf(value))
        return value < 0 ? "-INFINITY" : "INFINITY";
    // As short as it can be to mean the same number in its own type.
    const bool isSingle = dtype != DType::F64 && static_cast<double>(static_cast<float>(value)) == value;
    const std::string digits = isSingle ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    const bool isWhole = digits.find_first_of(".e") == std::string::npos;
    const std::string number = digits + (isWhole ? ".0" : "") + suffix;
    const std::string whole = dtype == DType::F16 ? "(half)" + number : number;
    return std::signbit(value) ? "(" + whole + ")" : whole;
}

SourceText::SourceText(const ir::LoopNest& nest)
    : m_nest(nest)
{
    for (const ir::Buffer& buffer : nest.buffers)
        m_bufferNames.push_back(identifier(buffer.name, m_taken));
}

void SourceText::problem(const std::string& what)
{
    if (m_problem.empty())
        m_problem = what;
}

void SourceText::noteType(DType dtype)
{
    if (dtype == DType::F16 || dtype == DType::F64)
        m_extensions.insert(dtype);
}

std::string SourceText::identifier(const std::string& name, std::set<std::string>& taken)
{
    std::string made;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            made += c;
        else if (!made.empty() && made.back() != '_')
            made += '_';
    while (!made.empty() && made.back() == '_')
        made.pop_back();
    if (made.empty() || std::isdigit(static_cast<unsigned char>(made.front())) != 0 || isWord(made))
        made = "v_" + made;
    std::string free = made;
    for (int n = 1; !taken.insert(free).second; ++n)
        free = fmt::format("{}_{}", made, n);
    return free;
}

ir::Expr SourceText::offsetOf(std::int32_t id, const std::vector<Expr>& indices) const
{
    const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
    Expr offset = 0;
    for (std::size_t d = 0; d < indices.size(); ++d)
        offset = offset + ir::cast(DType::I32, indices[d]) * ir::intImm(buffer.strides[d]);
    return ir::simplify(offset, m_ranges);
}

std::string SourceText::element(std::int32_t id, const std::vector<Expr>& indices)
{
    const std::string& name = m_bufferNames[static_cast<std::size_t>(id)];
    const std::string offset = offsetText(offsetOf(id, indices));
    if (registerWidth(id) > 1) // one of a vector
        return fmt::format("(({}*){})[{}]", typeName(m_nest.buffers[static_cast<std::size_t>(id)].dtype), name, offset);
    return fmt::format("{}[{}]", name, offset);
}

std::string SourceText::arithmetic(const Expr& e, const char* sign)
{
    // A product may be joined with what is added to it, as processors' code has it, but not with a subtraction: places
    // and their fractions are computed so.
    const bool isExact = e->kind == ExprKind::Sub && isFloat(e->dtype);
    const auto operand = [&](const Expr& part) {
        return isExact && part->kind == ExprKind::Mul ? product(part->operands[0], part->operands[1]) : text(part);
    };
    const std::string a = operand(e->operands[0]), b = operand(e->operands[1]);
    if (isFloat(e->dtype) || !isData(e))
        return fmt::format("({} {} {})", a, sign, b);
    const char* const wide = wrappingType(e->dtype); // sums of data wrap around
    return fmt::format("({})(({})({}) {} ({})({}))", typeName(e->dtype), wide, a, sign, wide, b);
}

std::string SourceText::division(const Expr& e)
{
    const std::string a = text(e->operands[0]), b = text(e->operands[1]);
    const bool isQuotient = e->kind == ExprKind::FloorDiv;
    const bool isUnsigned = e->dtype == DType::U64 || e->dtype == DType::U32 || e->dtype == DType::U16
                            || e->dtype == DType::U8;
    const bool isPositive = ir::boundsOf(e->operands[1], m_ranges).lo > 0;
    if (isPositive && (isUnsigned || ir::boundsOf(e->operands[0], m_ranges).lo >= 0))
        return fmt::format("({} {} {})", a, isQuotient ? "/" : "%", b);
    const char* const name = isUnsigned ? (isQuotient ? "div_TYPE" : "mod_TYPE")
                                        : (isQuotient ? "floordiv_TYPE" : "floormod_TYPE");
    return fmt::format("{}({}, {})", helper(name, typeName(e->dtype)), a, b);
}

std::string SourceText::conversion(const Expr& e)
{
    const Expr& from = e->operands[0];
    const std::string value = text(from);
    noteType(e->dtype);
    noteType(from->dtype);
    if (e->dtype == DType::Bool)
        return fmt::format("({} != 0)", value);
    if (isFloat(from->dtype) && !isFloat(e->dtype)) {
        const std::string name = conversionName(from->dtype, e->dtype);
        // The language's conversion should give 0 for not-a-number; Intel's for processors does not always.
        m_helpers.insert(fmt::format("{0} {1}({2} x) {{ return x == x ? convert_{0}_sat_rtz(x) : 0; }}\n",
                                     typeName(e->dtype), name, typeName(from->dtype)));
        return fmt::format("{}({})", name, value);
    }
    return fmt::format("({})({})", typeName(e->dtype), value);
}

void SourceText::bind(const Expr& variable, const std::string& name)
{
    m_names[variable.get()] = name;
    m_levels[variable.get()] = m_scopes.level();
}

std::size_t SourceText::levelOf(const Expr& e) const
{
    std::size_t level = 1;
    ir::visit(e, [&](const Expr& inner) {
        if (inner->kind == ExprKind::Var)
            level = std::max(level, m_levels.at(inner.get()));
    });
    return level;
}

/// An integer that is computed from loops' variables alone.
bool SourceText::isPlace(const Expr& e) const
{
    return e->dtype == DType::I32 && !ir::holdsData(e) && !usesLanes(e);
}

std::string SourceText::offsetText(const Expr& offset)
{
    if (!isPlace(offset))
        return text(offset);
    const ir::LinearForm form = ir::linearForm(offset, m_ranges);
    std::map<std::size_t, std::string> sums; // by level
    for (const ir::LinearForm::Term& term : form.terms) {
        std::string& sum = sums[levelOf(term.atom)];
        const std::string times = term.coefficient == 1 ? std::string()
                                                        : fmt::format(" * {}", std::abs(term.coefficient));
        const char* const sign = term.coefficient < 0 ? (sum.empty() ? "-" : " - ") : (sum.empty() ? "" : " + ");
        sum += sign + text(term.atom) + times;
    }
    std::string whole;
    for (const auto& [level, sum] : sums) {
        whole += whole.empty() ? sum : sum.starts_with('-') ? " - " + sum.substr(1) : " + " + sum;
        if (whole.find(' ') != std::string::npos || whole.starts_with('-'))
            whole = m_scopes.place(level, whole);
    }
    if (whole.empty())
        return literal(form.constant, DType::I32);
    if (form.constant == 0)
        return whole;
    return fmt::format("{} {} {}", whole, form.constant < 0 ? "-" : "+", std::abs(form.constant));
}

bool SourceText::isShared(const Expr& e) const
{
    if (m_written == 0 || m_within > 0)
        return false;
    bool found = false, isRegister = false;
    ir::visit(e, [&](const Expr& inner) {
        if (inner->kind != ExprKind::Load)
            return;
        found = true;
        isRegister = isRegister || m_nest.buffers[static_cast<std::size_t>(inner->source)].scope == Scope::Register;
    });
    return found && !isRegister;
}

std::string SourceText::text(const Expr& e)
{
    if ((e->kind == ExprKind::FloorDiv || e->kind == ExprKind::FloorMod) && isPlace(e))
        return m_scopes.place(levelOf(e), division(e));
    const bool isCondition = e->kind == ExprKind::Select || e->kind == ExprKind::IfThenElse || e->kind == ExprKind::And
                             || e->kind == ExprKind::Or;
    if (e->kind != ExprKind::Load && !isCondition)
        return plainText(e);
    const bool isNamed = isShared(e);
    // What is read under a condition must not be read without it.
    ++m_within;
    std::string made = plainText(e);
    --m_within;
    if (!isNamed)
        return made;
    std::set<std::int32_t> buffers;
    ir::visit(e, [&](const Expr& inner) {
        if (inner->kind == ExprKind::Load)
            buffers.insert(inner->source);
    });
    const bool isLogical = e->kind == ExprKind::And || e->kind == ExprKind::Or;
    return m_scopes.value(usesLanes(e) ? vectorType(e->dtype, m_lanes.width)
                          : isLogical  ? "int"
                                       : typeName(e->dtype),
                          made, buffers);
}

std::string SourceText::plainText(const Expr& e)
{
    const auto infix = [&](const char* sign) {
        return fmt::format("({} {} {})", text(e->operands[0]), sign, text(e->operands[1]));
    };
    switch (e->kind) {
    case ExprKind::IntImm: return literal(e->intValue, e->dtype);
    case ExprKind::FloatImm: return floatLiteral(e->floatValue, e->dtype);
    case ExprKind::Var: return m_names.at(e.get());
    case ExprKind::Add: return arithmetic(e, "+");
    case ExprKind::Sub: return arithmetic(e, "-");
    case ExprKind::Mul: return arithmetic(e, "*");
    case ExprKind::Div: return infix("/");
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: return division(e);
    case ExprKind::Min:
    case ExprKind::Max: {
        const char* const name = e->kind == ExprKind::Min ? "min" : "max";
        if (!isFloat(e->dtype))
            return fmt::format("{}(({})({}), ({})({}))", name, typeName(e->dtype), text(e->operands[0]),
                               typeName(e->dtype), text(e->operands[1]));
        if (usesLanes(e))
            return fmt::format("{}({}, {})",
                               helper(std::string("v") + name + "_TYPE", vectorType(e->dtype, m_lanes.width)),
                               vectorText(e->operands[0]), vectorText(e->operands[1]));
        return fmt::format("{}({}, {})", helper(std::string(name) + "_TYPE", typeName(e->dtype)), text(e->operands[0]),
                           text(e->operands[1]));
    }
    case ExprKind::Eq: return infix("==");
    case ExprKind::Ne: return infix("!=");
    case ExprKind::Lt: return infix("<");
    case ExprKind::Le: return infix("<=");
    case ExprKind::Gt: return infix(">");
    case ExprKind::Ge: return infix(">=");
    case ExprKind::And: return infix("&&");
    case ExprKind::Or: return infix("||");
    case ExprKind::Not: return "!" + text(e->operands[0]);
    case ExprKind::Select:
    case ExprKind::IfThenElse:
        if (usesLanes(e))
            return fmt::format("({} ? {} : {})", text(e->operands[0]), vectorText(e->operands[1]),
                               vectorText(e->operands[2]));
        return fmt::format("({} ? {} : {})", text(e->operands[0]), text(e->operands[1]), text(e->operands[2]));
    case ExprKind::Cast: return conversion(e);
    case ExprKind::Call: return callText(e);
    case ExprKind::Load: return usesLanes(e) ? vectorLoad(e) : element(e->source, e->operands);
    case ExprKind::Reduce: break;
    }
    problem("a reduction");
    return "0";
}

} // namespace lathe::backend
