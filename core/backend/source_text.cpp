#include "core/backend/source_text.h"

#include "core/backend/source_functions.h"
#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>

namespace lathe::backend {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;

namespace {

/// The type without a sign of the same size, in which sums wrap around.
DType wrappingType(DType dtype)
{
    return sizeOf(dtype) == 8 ? DType::U64 : DType::U32;
}

DType withoutSign(DType dtype)
{
    switch (dtype) {
    case DType::I8: return DType::U8;
    case DType::I16: return DType::U16;
    case DType::I32: return DType::U32;
    case DType::I64: return DType::U64;
    default: return dtype;
    }
}

bool isData(const Expr& e)
{
    return e->kind == ExprKind::Load || std::ranges::any_of(e->operands, &isData);
}

constexpr std::int64_t kWidths[] = {2, 3, 4, 8, 16}; ///< of vectors

/// From floats to integers: the type's ends for what lies beyond them, 0 for not-a-number.
std::string conversionName(const SourceLanguage& language, DType from, DType to)
{
    return fmt::format("nearest_{}_of_{}", language.typeName(to), language.typeName(from));
}

/// The language's own words and functions, and all that a text calls or declares beside its tensors.
std::set<std::string> makeWords(const SourceLanguage& language)
{
    std::set<std::string> words;
    std::istringstream listed{std::string(language.words)};
    for (std::string word; listed >> word;)
        words.insert(word);
    std::vector<std::string> ofTypes; // with a type's name in place of TYPE
    for (const SourceFunction& function : language.functions)
        for (const std::string_view printed : {function.ofF32, function.ofF64}) {
            if (printed.find("TYPE") == std::string_view::npos)
                words.emplace(printed);
            if (!language.computesVectors)
                ofTypes.push_back(std::string(printed) + "_TYPE");
        }
    for (const std::span<const SourceHelper> helpers : {sharedHelpers(), language.helpers})
        for (const SourceHelper& helper : helpers)
            ofTypes.emplace_back(helper.name);
    if (!language.computesVectors)
        ofTypes.insert(ofTypes.end(), {"make_TYPE", "spread_TYPE", "load_TYPE", "store_TYPE"});
    for (std::size_t d = 0; d < language.types.size(); ++d) {
        const auto dtype = static_cast<DType>(d);
        const std::string name(language.typeName(dtype));
        if (name.empty())
            continue;
        std::vector<std::string> types = {name};
        for (const std::int64_t width : kWidths)
            types.push_back(fmt::format("{}{}", name, width));
        for (const DType from : {DType::F16, DType::BF16, DType::F32, DType::F64})
            words.insert(conversionName(language, from, dtype));
        for (const std::string& type : types) {
            words.insert(type);
            for (const std::string& called : ofTypes)
                words.insert(ofType(called, type));
        }
    }
    return words;
}

bool isWord(const SourceLanguage& language, const std::string& name)
{
    static const std::set<std::string> kOpenCl = makeWords(openClLanguage()), kCuda = makeWords(cudaLanguage());
    const std::set<std::string>& words = &language == &openClLanguage() ? kOpenCl : kCuda;
    return words.contains(name) || name.starts_with("__") || SourceScopes::isName(name);
}

} // namespace

SourceText::SourceText(const ir::LoopNest& nest, const SourceLanguage& language)
    : m_nest(nest)
    , m_language(language)
{
    for (const ir::Buffer& buffer : nest.buffers)
        m_bufferNames.push_back(identifier(buffer.name, m_taken));
}

void SourceText::problem(const std::string& what)
{
    if (m_problem.empty())
        m_problem = what;
}

std::string SourceText::typeText(DType dtype)
{
    const std::string_view name = m_language.typeName(dtype);
    if (name.empty())
        problem(toString(dtype));
    m_types.insert(dtype);
    return std::string(name);
}

std::string SourceText::identifier(const std::string& name, std::set<std::string>& taken) const
{
    std::string made;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            made += c;
        else if (!made.empty() && made.back() != '_')
            made += '_';
    while (!made.empty() && made.back() == '_')
        made.pop_back();
    if (made.empty() || std::isdigit(static_cast<unsigned char>(made.front())) != 0 || isWord(m_language, made))
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
        return fmt::format("(({}*){})[{}]", typeText(m_nest.buffers[static_cast<std::size_t>(id)].dtype), name, offset);
    return fmt::format("{}[{}]", name, offset);
}

std::vector<std::string> SourceText::both(std::string a, std::string b)
{
    return {std::move(a), std::move(b)};
}

std::string SourceText::arithmetic(const Expr& e, const char* sign)
{
    // A product may be joined with what is added to it, as processors' code has it, but not with a subtraction: places
    // and their fractions are computed so.
    const bool isExact = e->kind == ExprKind::Sub && isFloat(e->dtype);
    const bool maySum = e->kind == ExprKind::Add && isFloat(e->dtype);
    const auto operand = [&](const Expr& part) {
        if (part->kind == ExprKind::Mul && isExact)
            return product(part->operands[0], part->operands[1]);
        return part->kind == ExprKind::Mul && maySum ? arithmetic(part, "*") : text(part);
    };
    const std::string a = operand(e->operands[0]), b = operand(e->operands[1]);
    if (isFloat(e->dtype) || !isData(e)) {
        noteOperator(sign, usesLanes(e->operands[0]), usesLanes(e->operands[1]));
        return fmt::format("({} {} {})", a, sign, b);
    }
    const std::string wide = typeText(wrappingType(e->dtype)); // sums of data wrap around
    return fmt::format("({})(({})({}) {} ({})({}))", typeText(e->dtype), wide, a, sign, wide, b);
}

std::string SourceText::division(const Expr& e)
{
    const std::string a = text(e->operands[0]), b = text(e->operands[1]);
    const bool isQuotient = e->kind == ExprKind::FloorDiv;
    const bool isUnsigned = e->dtype == DType::U64 || e->dtype == DType::U32 || e->dtype == DType::U16
                            || e->dtype == DType::U8;
    const bool isPositive = ir::boundsOf(e->operands[1], m_ranges).lo > 0;
    if (isPositive && (isUnsigned || ir::boundsOf(e->operands[0], m_ranges).lo >= 0)) {
        const char* const sign = isQuotient ? "/" : "%";
        const bool isSum = e->operands[0]->kind == ExprKind::Add || e->operands[0]->kind == ExprKind::Sub;
        return isSum && isPlace(e) ? fmt::format(fmt::runtime(m_language.quotientOfSum), a, sign, b)
                                   : fmt::format("({} {} {})", a, sign, b);
    }
    const char* const name = isUnsigned ? (isQuotient ? "div_TYPE" : "mod_TYPE")
                                        : (isQuotient ? "floordiv_TYPE" : "floormod_TYPE");
    typeText(withoutSign(e->dtype));
    return fmt::format("{}({}, {})", helper(name, typeText(e->dtype)), a, b);
}

std::string SourceText::conversion(const Expr& e)
{
    const Expr& from = e->operands[0];
    const std::string value = text(from);
    const std::string type = typeText(e->dtype);
    typeText(from->dtype);
    if (e->dtype == DType::Bool)
        return fmt::format("({} != 0)", value);
    if (isFloat(from->dtype) && !isFloat(e->dtype)) {
        const std::string name = conversionName(m_language, from->dtype, e->dtype);
        m_helpers.insert({0, m_language.toInteger(from->dtype, e->dtype, name)});
        return fmt::format("{}({})", name, value);
    }
    return fmt::format("({})({})", type, value);
}

void SourceText::bind(const Expr& variable, const std::string& name)
{
    m_names[variable.get()] = name;
    m_levels[variable.get()] = m_scopes.level();
}

void SourceText::forget(const Expr& variable)
{
    m_names.erase(variable.get());
    m_levels.erase(variable.get());
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
        return m_language.intLiteral(form.constant, DType::I32);
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

std::optional<SourceText::Remainder> SourceText::remainderOf(const Expr& e) const
{
    if (e->kind != ExprKind::FloorMod || e->operands[1]->kind != ExprKind::IntImm || !isPlace(e))
        return std::nullopt;
    const std::int64_t modulus = e->operands[1]->intValue;
    const ir::LinearForm form = ir::linearForm(e->operands[0], m_ranges);
    if (modulus < 2 || form.terms.size() != 1 || form.terms[0].coefficient != 1
        || form.terms[0].atom->kind != ExprKind::Var)
        return std::nullopt;
    return Remainder{form.terms[0].atom.get(), ir::floorModulo(form.constant, modulus), modulus, {}};
}

std::vector<SourceText::Remainder> SourceText::remaindersOf(const ir::StmtNode& loop)
{
    std::vector<Remainder> found;
    if (!m_language.countsRemainders || loop.min->kind != ExprKind::IntImm)
        return found;
    ir::visitExprs(loop.body[0], [&](const Expr& whole) {
        ir::visit(whole, [&](const Expr& e) {
            std::optional<Remainder> remainder = remainderOf(e);
            if (!remainder || remainder->variable != loop.variable.get()
                || std::ranges::any_of(found,
                                       [&remainder](const Remainder& other) { return other.isSame(*remainder); }))
                return;
            remainder->name = identifier(loop.variable->name + " remainder", m_takenHere);
            found.push_back(*std::move(remainder));
        });
    });
    return found;
}

std::string SourceText::text(const Expr& e)
{
    if (const std::optional<Remainder> remainder = m_remainders.empty() ? std::nullopt : remainderOf(e)) {
        const auto known = std::ranges::find_if(
            m_remainders, [&remainder](const Remainder& other) { return other.isSame(*remainder); });
        if (known != m_remainders.end())
            return known->name;
    }
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
                                       : typeText(e->dtype),
                          made, buffers);
}

std::string SourceText::plainText(const Expr& e)
{
    const auto infix = [&](const char* sign) {
        return fmt::format("({} {} {})", text(e->operands[0]), sign, text(e->operands[1]));
    };
    switch (e->kind) {
    case ExprKind::IntImm: return m_language.intLiteral(e->intValue, e->dtype);
    case ExprKind::FloatImm: return m_language.floatLiteral(e->floatValue, e->dtype);
    case ExprKind::Var: return m_names.at(e.get());
    case ExprKind::Add: return arithmetic(e, "+");
    case ExprKind::Sub: return arithmetic(e, "-");
    case ExprKind::Mul:
        return m_language.joinsStatements && isFloat(e->dtype) ? product(e->operands[0], e->operands[1])
                                                               : arithmetic(e, "*");
    case ExprKind::Div: noteOperator("/", usesLanes(e->operands[0]), usesLanes(e->operands[1])); return infix("/");
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: return division(e);
    case ExprKind::Min:
    case ExprKind::Max: {
        const std::string name = e->kind == ExprKind::Min ? "min" : "max";
        const std::string type = typeText(e->dtype);
        if (!isFloat(e->dtype))
            return fmt::format("{}(({})({}), ({})({}))", name, type, text(e->operands[0]), type, text(e->operands[1]));
        // Vectors have a choice of their own, by each element's condition, where the language computes with them.
        const char* const kind = usesLanes(e) && m_language.computesVectors ? "v" : "";
        return functionText(kind + name + "_TYPE", e->dtype, usesLanes(e),
                            usesLanes(e) ? both(vectorText(e->operands[0]), vectorText(e->operands[1]))
                                         : both(text(e->operands[0]), text(e->operands[1])));
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
