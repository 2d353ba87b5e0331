#include "core/backend/c_source.h"

#include "core/ir/bounds.h"
#include "core/ir/scratch.h"
#include "core/ir/simplify.h"
#include "core/ir/substitute.h"
#include "core/schedule/launch_resources.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <set>
#include <unordered_map>

namespace lathe::backend {

namespace {

using ir::Expr;
using ir::ExprKind;
using ir::LoopKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

/// Statements that unrolling may write out in one kernel; loops beyond stay loops, with a hint to the compiler.
constexpr std::int64_t kMostStatements = 4096;

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

/// The type without a sign of the same size, in which sums wrap around.
const char* wrappingType(DType dtype)
{
    return sizeOf(dtype) == 8 ? "ulong" : "uint";
}

bool isData(const Expr& e)
{
    return e->kind == ExprKind::Load || std::ranges::any_of(e->operands, &isData);
}

/// Small functions that a text needs, each once, before its kernels.
struct Helper
{
    std::string_view name; ///< with TYPE in place of the type's name
    std::string_view text;
};
constexpr Helper kHelpers[] = {
    {"min_TYPE", "TYPE min_TYPE(TYPE a, TYPE b) { return a < b || isnan(a) ? a : b; } // not-a-number stays\n"},
    {"max_TYPE", "TYPE max_TYPE(TYPE a, TYPE b) { return a > b || isnan(a) ? a : b; }\n"},
    {"floordiv_TYPE",
     "TYPE floordiv_TYPE(TYPE a, TYPE b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }\n"},
    {"floormod_TYPE",
     "TYPE floormod_TYPE(TYPE a, TYPE b) { return a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0); }\n"},
};

std::string replaced(std::string_view text, std::string_view what, std::string_view by)
{
    std::string result(text);
    for (std::size_t at = 0; (at = result.find(what, at)) != std::string::npos; at += by.size())
        result.replace(at, what.size(), by);
    return result;
}

class SourcePrinter
{
public:
    SourcePrinter(const ir::LoopNest& nest, std::string prefix)
        : m_nest(nest)
        , m_prefix(std::move(prefix))
    {
        for (const ir::Buffer& buffer : nest.buffers)
            m_bufferNames.push_back(identifier(buffer.name, m_taken));
    }

    Result<KernelSource> run()
    {
        for (const ir::Buffer& buffer : m_nest.buffers) {
            if (typeName(buffer.dtype) == nullptr)
                return unsupported(toString(buffer.dtype));
            if (ir::elementCount(buffer) > INT32_MAX)
                return unsupported(fmt::format("a tensor of {} elements", ir::elementCount(buffer)));
        }
        KernelSource source;
        std::string kernels;
        for (std::size_t i = 0; i < m_nest.launches.size(); ++i) {
            source.launches.push_back(kernel(m_nest.launches[i], i));
            kernels += "\n" + m_text;
        }
        if (!m_problem.empty())
            return unsupported(m_problem);
        for (const DType dtype : m_extensions)
            source.text += fmt::format("#pragma OPENCL EXTENSION {} : enable\n",
                                       dtype == DType::F16 ? "cl_khr_fp16" : "cl_khr_fp64");
        for (const std::string& helper : m_helpers)
            source.text += helper;
        source.text += kernels;
        return source;
    }

private:
    Error unsupported(const std::string& what) const
    {
        return makeError(Errc::Unsupported, say(Msg::SourceHasNoForm, m_nest.name, "OpenCL C", what));
    }
    void problem(const std::string& what)
    {
        if (m_problem.empty())
            m_problem = what;
    }

    /// A name of letters, digits and underscores that no other has.
    static std::string identifier(const std::string& name, std::set<std::string>& taken)
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

    /// Words of the language, and functions that are called.
    static bool isWord(const std::string& name)
    {
        static const std::set<std::string> kWords = {
            "kernel", "global",    "local",      "constant", "private", "float",   "double",   "half",     "int",
            "long",   "char",      "short",      "uint",     "ulong",   "uchar",   "ushort",   "bool",     "for",
            "if",     "else",      "while",      "do",       "return",  "const",   "void",     "switch",   "case",
            "image",  "event",     "signed",     "exp",      "log",     "sqrt",    "pow",      "floor",    "ceil",
            "min",    "max",       "abs",        "fma",      "sin",     "cos",     "tan",      "erf",      "tanh",
            "size_t", "select",    "dot",        "step",     "mix",     "sign",    "length",   "clamp",    "round",
            "trunc",  "read_only", "write_only", "unsigned", "struct",  "union",   "enum",     "static",   "inline",
            "break",  "continue",  "default",    "goto",     "sizeof",  "typedef", "volatile", "register", "restrict",
            "extern", "auto",      "pipe"};
        return kWords.contains(name) || name.starts_with("__");
    }

    // ---- one kernel ------------------------------------------------------------------------------------------------

    SourceLaunch kernel(const ir::Launch& launch, std::size_t number)
    {
        SourceLaunch made;
        made.symbol = fmt::format("{}_{}", m_prefix, number);
        made.grid = launch.grid;
        made.block = launch.block;
        made.sharedBytes = ir::sharedBytes(m_nest, launch);
        m_text.clear();
        m_names.clear();
        m_statements = 0;
        m_ranges = {};
        std::set<std::string> taken = m_taken;
        std::string axes;
        for (std::size_t d = 0; d < 3; ++d) {
            axes += axis(launch.blockIndex[d], launch.grid[d], fmt::format("get_group_id({})", d), *launch.body, taken);
            axes += axis(launch.threadIndex[d], launch.block[d], fmt::format("get_local_id({})", d), *launch.body,
                         taken);
        }
        m_takenHere = taken;
        std::string parameters, declarations;
        for (const std::int32_t id : ir::buffersOf(launch.body)) {
            const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
            const std::string& name = m_bufferNames[static_cast<std::size_t>(id)];
            noteType(buffer.dtype);
            if (buffer.scope == Scope::Parameter || buffer.scope == Scope::Team) {
                made.buffers.push_back(id);
                parameters += fmt::format("{}__global {}{} *restrict {}", parameters.empty() ? "" : ", ",
                                          buffer.readOnly ? "const " : "", typeName(buffer.dtype), name);
                continue;
            }
            const bool isShared = buffer.scope == Scope::Shared;
            declarations += fmt::format("    {}{} {}[{}]{};\n", isShared ? "__local " : "", typeName(buffer.dtype),
                                        name, isShared ? schedule::sharedElements(buffer) : ir::elementCount(buffer),
                                        isShared ? " __attribute__((aligned(16)))" : "");
        }
        m_text = fmt::format(
            "// {}: {} blocks of {} threads\n__kernel __attribute__((reqd_work_group_size({}, {}, {})))\n"
            "void {}({})\n{{\n{}{}",
            launch.name, made.grid[0] * made.grid[1] * made.grid[2], made.block[0] * made.block[1] * made.block[2],
            made.block[0], made.block[1], made.block[2], made.symbol, parameters, declarations, axes);
        statement(launch.body, 1);
        m_text += "}\n";
        return made;
    }

    std::string axis(const Expr& variable, std::int64_t extent, const std::string& value, const ir::StmtNode& body,
                     std::set<std::string>& taken)
    {
        m_ranges.setExtent(variable, extent);
        bool isUsed = false;
        const Stmt all = std::make_shared<ir::StmtNode>(body);
        ir::visitExprs(all, [&](const Expr& e) { isUsed = isUsed || ir::uses(e, variable); });
        const std::string name = identifier(variable->name, taken);
        m_names[variable.get()] = name;
        return isUsed ? fmt::format("    const int {} = {};\n", name, value) : std::string();
    }

    void noteType(DType dtype)
    {
        if (dtype == DType::F16 || dtype == DType::F64)
            m_extensions.insert(dtype);
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    void line(int depth, const std::string& text)
    {
        m_text.append(4 * static_cast<std::size_t>(depth), ' ');
        m_text += text;
        m_text += '\n';
    }

    static std::int64_t statementsOf(const Stmt& s)
    {
        if (!s)
            return 0;
        std::int64_t inside = s->kind == StmtKind::Store ? 1 : 0;
        for (const Stmt& inner : s->body)
            inside += statementsOf(inner);
        const bool isWritten = s->kind == StmtKind::For
                               && (s->loop == LoopKind::Unrolled || s->loop == LoopKind::Vectorized);
        return isWritten ? inside * std::max<std::int64_t>(1, s->extent->intValue) : inside;
    }

    bool touchesRegisters(const Stmt& s, const Expr& variable) const
    {
        if (!s)
            return false;
        const auto isIndex = [&](std::int32_t buffer, const std::vector<Expr>& indices) {
            return m_nest.buffers[static_cast<std::size_t>(buffer)].scope == Scope::Register
                   && std::ranges::any_of(indices, [&](const Expr& e) { return ir::uses(e, variable); });
        };
        bool found = s->kind == StmtKind::Store && isIndex(s->buffer, s->indices);
        ir::visitExprs(s, [&](const Expr& e) {
            ir::visit(e, [&](const Expr& inner) {
                found = found || (inner->kind == ExprKind::Load && isIndex(inner->source, inner->operands));
            });
        });
        return found;
    }

    void statement(const Stmt& s, int depth)
    {
        if (!s)
            return;
        switch (s->kind) {
        case StmtKind::For: loop(s, depth); return;
        case StmtKind::Block:
            for (const Stmt& inner : s->body)
                statement(inner, depth);
            return;
        case StmtKind::If:
            line(depth, fmt::format("if ({}) {{", text(s->condition)));
            statement(s->body[0], depth + 1);
            if (s->body.size() > 1 && s->body[1]) {
                line(depth, "} else {");
                statement(s->body[1], depth + 1);
            }
            line(depth, "}");
            return;
        case StmtKind::Store:
            line(depth, fmt::format("{} = {};", element(s->buffer, s->indices), text(s->value)));
            ++m_statements;
            return;
        case StmtKind::Barrier: line(depth, "barrier(CLK_LOCAL_MEM_FENCE);"); return;
        case StmtKind::Prefetch: return; // a hint
        case StmtKind::Evaluate: problem("tensor intrinsics"); return;
        }
    }

    void loop(const Stmt& s, int depth)
    {
        const bool isConstant = s->min->kind == ExprKind::IntImm && s->extent->kind == ExprKind::IntImm;
        const bool isWritten = s->loop == LoopKind::Unrolled || s->loop == LoopKind::Vectorized;
        if (isWritten && isConstant
            && (m_statements + statementsOf(s) <= kMostStatements || touchesRegisters(s->body[0], s->variable))) {
            for (std::int64_t i = 0; i < s->extent->intValue; ++i)
                statement(
                    ir::simplify(ir::substitute(s->body[0], {{s->variable.get(), ir::intImm(s->min->intValue + i)}}),
                                 m_ranges),
                    depth);
            return;
        }
        const std::string min = text(s->min), extent = text(s->extent);
        std::set<std::string> taken = m_takenHere;
        const std::string name = identifier(s->variable->name, m_takenHere);
        m_names[s->variable.get()] = name;
        const ir::Interval begin = ir::boundsOf(s->min, m_ranges), length = ir::boundsOf(s->extent, m_ranges);
        const ir::RangeScope range(m_ranges, s->variable,
                                   {begin.lo, begin.hi + std::max<std::int64_t>(1, length.hi) - 1});
        if (isWritten)
            line(depth, "#pragma unroll");
        line(depth, fmt::format("for (int {0} = {1}; {0} < {2}; ++{0}) {{", name, min,
                                min == "0" ? extent : text(ir::simplify(s->min + s->extent, m_ranges))));
        statement(s->body[0], depth + 1);
        line(depth, "}");
        m_takenHere = std::move(taken);
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    std::string element(std::int32_t id, const std::vector<Expr>& indices)
    {
        const ir::Buffer& buffer = m_nest.buffers[static_cast<std::size_t>(id)];
        Expr offset = 0;
        for (std::size_t d = 0; d < indices.size(); ++d)
            offset = offset + ir::cast(DType::I32, indices[d]) * ir::intImm(buffer.strides[d]);
        return fmt::format("{}[{}]", m_bufferNames[static_cast<std::size_t>(id)], text(ir::simplify(offset, m_ranges)));
    }

    std::string helper(std::string_view name, DType dtype)
    {
        const std::string made = replaced(name, "TYPE", typeName(dtype));
        for (const Helper& known : kHelpers)
            if (known.name == name)
                m_helpers.insert(replaced(known.text, "TYPE", typeName(dtype)));
        return made;
    }

    static std::string literal(double value, DType dtype)
    {
        const char* const suffix = dtype == DType::F64 ? "" : "f";
        if (std::isnan(value))
            return "NAN";
        if (std::isinf(value))
            return value < 0 ? "-INFINITY" : "INFINITY";
        const std::string digits = fmt::format("{}", static_cast<double>(static_cast<float>(value)) == value
                                                         ? fmt::format("{}", static_cast<float>(value))
                                                         : fmt::format("{}", value));
        const bool isWhole = digits.find_first_of(".e") == std::string::npos;
        const std::string number = digits + (isWhole ? ".0" : "") + suffix;
        const std::string whole = dtype == DType::F16 ? "(half)" + number : number;
        return std::signbit(value) ? "(" + whole + ")" : whole;
    }

    static std::string literal(std::int64_t value, DType dtype)
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

    std::string arithmetic(const Expr& e, const char* sign)
    {
        const std::string a = text(e->operands[0]), b = text(e->operands[1]);
        if (isFloat(e->dtype) || !isData(e))
            return fmt::format("({} {} {})", a, sign, b);
        const char* const wide = wrappingType(e->dtype); // sums of data wrap around
        return fmt::format("({})(({})({}) {} ({})({}))", typeName(e->dtype), wide, a, sign, wide, b);
    }

    std::string division(const Expr& e)
    {
        const std::string a = text(e->operands[0]), b = text(e->operands[1]);
        const char* const sign = e->kind == ExprKind::FloorDiv ? "/" : "%";
        const bool isUnsigned = e->dtype == DType::U64 || e->dtype == DType::U32 || e->dtype == DType::U16
                                || e->dtype == DType::U8;
        const bool isPositive = ir::boundsOf(e->operands[0], m_ranges).lo >= 0
                                && ir::boundsOf(e->operands[1], m_ranges).lo > 0;
        if (isUnsigned || isPositive)
            return fmt::format("({} {} {})", a, sign, b);
        return fmt::format("{}({}, {})",
                           helper(e->kind == ExprKind::FloorDiv ? "floordiv_TYPE" : "floormod_TYPE", e->dtype), a, b);
    }

    std::string conversion(const Expr& e)
    {
        const Expr& from = e->operands[0];
        const std::string value = text(from);
        noteType(e->dtype);
        noteType(from->dtype);
        if (e->dtype == DType::Bool)
            return fmt::format("({} != 0)", value);
        if (isFloat(from->dtype) && !isFloat(e->dtype)) // ends for what lies beyond them, 0 for not-a-number
            return fmt::format("convert_{}_sat_rtz({})", typeName(e->dtype), value);
        return fmt::format("({})({})", typeName(e->dtype), value);
    }

    std::string callText(const Expr& e)
    {
        std::vector<std::string> arguments;
        for (const Expr& operand : e->operands)
            arguments.push_back(text(operand));
        static const std::unordered_map<std::string, std::string> kSigns = {
            {"bit_and", "&"}, {"bit_or", "|"}, {"bit_xor", "^"}};
        if (const auto sign = kSigns.find(e->name); sign != kSigns.end() && arguments.size() == 2)
            return fmt::format("({} {} {})", arguments[0], sign->second, arguments[1]);
        if ((e->name == "shift_left" || e->name == "shift_right") && arguments.size() == 2)
            return fmt::format("({1} < {2} ? ({3})({0} {4} {1}) : 0)", arguments[0], arguments[1], 8 * sizeOf(e->dtype),
                               typeName(e->dtype), e->name == "shift_left" ? "<<" : ">>");
        if (e->name == "sigmoid")
            return fmt::format("(1 / (1 + exp(-{})))", arguments[0]);
        if (!isFloat(e->dtype)) {
            problem(fmt::format("{} of {}", e->name, toString(e->dtype)));
            return "0";
        }
        static const std::unordered_map<std::string, std::string> kNames = {
            {"exp", "exp"},     {"exp2", "exp2"},   {"log", "log"},     {"log2", "log2"},   {"sqrt", "sqrt"},
            {"rsqrt", "rsqrt"}, {"tanh", "tanh"},   {"expm1", "expm1"}, {"log1p", "log1p"}, {"erf", "erf"},
            {"sin", "sin"},     {"cos", "cos"},     {"tan", "tan"},     {"atan", "atan"},   {"floor", "floor"},
            {"ceil", "ceil"},   {"trunc", "trunc"}, {"round", "rint"},  {"abs", "fabs"},    {"fabs", "fabs"},
            {"pow", "pow"},     {"fmod", "fmod"},   {"fma", "fma"}};
        const auto known = kNames.find(e->name);
        if (known == kNames.end()) {
            problem(fmt::format("the intrinsic '{}'", e->name));
            return "0";
        }
        return fmt::format("{}({})", known->second, fmt::join(arguments, ", "));
    }

    std::string text(const Expr& e)
    {
        const auto infix = [&](const char* sign) {
            return fmt::format("({} {} {})", text(e->operands[0]), sign, text(e->operands[1]));
        };
        switch (e->kind) {
        case ExprKind::IntImm: return literal(e->intValue, e->dtype);
        case ExprKind::FloatImm: return literal(e->floatValue, e->dtype);
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
            return fmt::format("{}({}, {})", helper(std::string(name) + "_TYPE", e->dtype), text(e->operands[0]),
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
            return fmt::format("({} ? {} : {})", text(e->operands[0]), text(e->operands[1]), text(e->operands[2]));
        case ExprKind::Cast: return conversion(e);
        case ExprKind::Call: return callText(e);
        case ExprKind::Load: return element(e->source, e->operands);
        case ExprKind::Reduce: break;
        }
        problem("a reduction");
        return "0";
    }

    const ir::LoopNest& m_nest;
    std::string m_prefix;
    std::set<std::string> m_taken, m_takenHere;
    std::vector<std::string> m_bufferNames;
    std::unordered_map<const ir::Node*, std::string> m_names; ///< of variables
    ir::Ranges m_ranges;
    std::set<DType> m_extensions;
    std::set<std::string> m_helpers;
    std::string m_text, m_problem;
    std::int64_t m_statements = 0;
};

} // namespace

Result<KernelSource> printOpenCl(const ir::LoopNest& nest, const std::string& prefix)
{
    return SourcePrinter(nest, prefix).run();
}

} // namespace lathe::backend
