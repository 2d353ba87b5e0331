#include "core/compute/interpret_program.h"

#include "core/ir/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace lathe::compute {

namespace {

struct Function1
{
    std::string_view name;
    double (*run)(double);
};

constexpr Function1 kFunctions1[] = {
    {"exp", [](double x) { return std::exp(x); }},        {"exp2", [](double x) { return std::exp2(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},      {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}, {"tanh", [](double x) { return std::tanh(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},      {"cosh", [](double x) { return std::cosh(x); }},
    {"erf", [](double x) { return std::erf(x); }},        {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"sin", [](double x) { return std::sin(x); }},        {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},        {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},      {"atan", [](double x) { return std::atan(x); }},
    {"floor", [](double x) { return std::floor(x); }},    {"ceil", [](double x) { return std::ceil(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},    {"round", [](double x) { return std::nearbyint(x); }},
    {"abs", [](double x) { return std::fabs(x); }},       {"fabs", [](double x) { return std::fabs(x); }},
};

double power(double x, double y)
{
    return std::pow(x, y);
}
double remainder(double x, double y)
{
    return std::fmod(x, y);
}
double fusedMultiplyAdd(double x, double y, double z)
{
    return std::fma(x, y, z);
}

class Compiler
{
public:
    explicit Compiler(const Op& op)
        : m_op(op)
    {
        m_program.code.resize(op.reduceAxes.size() + 1);
        for (std::size_t i = 0; i < op.axes.size(); ++i)
            m_variables.emplace(op.axes[i].get(), newRegister(0));
        for (std::size_t i = 0; i < op.reduceAxes.size(); ++i)
            m_variables.emplace(op.reduceAxes[i].get(), newRegister(i + 1));
    }

    Result<Program> run()
    {
        ir::Expr body = m_op.bodies.front();
        m_program.resultIsFloat = isFloat(m_op.dtype);
        if (body->kind == ir::ExprKind::Reduce) {
            m_program.isReduce = true;
            m_program.combiner = body->combiner;
            const ir::Expr identity = body->operands[1];
            if (identity->kind != ir::ExprKind::FloatImm && identity->kind != ir::ExprKind::IntImm)
                return makeError(Errc::Unsupported,
                                 fmt::format("operation {}: the identity of its reduction is no constant", m_op.name));
            m_program.identityF = identity->floatValue;
            m_program.identityI = identity->intValue;
            body = body->operands[0];
        }
        m_program.valueIsFloat = isFloat(body->dtype);
        m_program.valueType = body->dtype;
        m_program.value = compile(body, kNoGuard);
        if (m_problem)
            return *std::move(m_problem);
        return std::move(m_program);
    }

private:
    static constexpr std::int32_t kNoGuard = -1;

    std::int32_t newRegister(std::size_t level)
    {
        m_levels.push_back(level);
        return m_program.registers++;
    }

    std::size_t level(std::int32_t reg) const { return reg < 0 ? 0 : m_levels[static_cast<std::size_t>(reg)]; }

    std::int32_t emit(Instruction instruction, std::size_t at)
    {
        instruction.target = newRegister(at);
        m_program.code[at].push_back(instruction);
        return instruction.target;
    }

    std::int32_t emit(OpCode code, std::int32_t a, std::int32_t b = -1, std::int32_t c = -1, DType type = DType::F64)
    {
        Instruction instruction{};
        instruction.code = code;
        instruction.type = type;
        instruction.a = a;
        instruction.b = b;
        instruction.c = c;
        return emit(instruction, std::max({level(a), level(b), level(c)}));
    }

    std::int32_t constantRegister(const ir::Node& e)
    {
        for (const ConstantRegister& known : m_program.constants)
            if (known.isFloat == isFloat(e.dtype)
                && (known.isFloat ? known.f == e.floatValue && std::signbit(known.f) == std::signbit(e.floatValue)
                                  : known.i == e.intValue))
                return known.target;
        m_program.constants.push_back({newRegister(0), isFloat(e.dtype), e.floatValue, e.intValue});
        return m_program.constants.back().target;
    }

    std::int32_t fail(std::string what)
    {
        if (!m_problem)
            m_problem = makeError(Errc::Unsupported, fmt::format("operation {}: {}", m_op.name, what));
        return 0;
    }

    std::int32_t compile(const ir::Expr& e, std::int32_t guard)
    {
        if (const auto known = m_done.find({e.get(), guard}); known != m_done.end())
            return known->second;
        const std::int32_t reg = compileNew(e, guard);
        m_done.emplace(std::pair{e.get(), guard}, reg);
        return reg;
    }

    std::int32_t compileBinary(const ir::Node& e, OpCode ifFloat, OpCode ifInt, std::int32_t guard)
    {
        const std::int32_t a = compile(e.operands[0], guard);
        const std::int32_t b = compile(e.operands[1], guard);
        return emit(isFloat(e.operands[0]->dtype) ? ifFloat : ifInt, a, b, -1, e.operands[0]->dtype);
    }

    std::int32_t compileNew(const ir::Expr& expr, std::int32_t guard)
    {
        const ir::Node& e = *expr;
        switch (e.kind) {
        case ir::ExprKind::IntImm:
        case ir::ExprKind::FloatImm: return constantRegister(e);
        case ir::ExprKind::Var: {
            const auto found = m_variables.find(expr.get());
            return found != m_variables.end() ? found->second
                                              : fail(fmt::format("variable {} is none of its iterators", e.name));
        }
        case ir::ExprKind::Add: return compileBinary(e, OpCode::AddF, OpCode::AddI, guard);
        case ir::ExprKind::Sub: return compileBinary(e, OpCode::SubF, OpCode::SubI, guard);
        case ir::ExprKind::Mul: return compileBinary(e, OpCode::MulF, OpCode::MulI, guard);
        case ir::ExprKind::Div: return compileBinary(e, OpCode::DivF, OpCode::FloorDivI, guard);
        case ir::ExprKind::FloorDiv: return compileBinary(e, OpCode::DivF, OpCode::FloorDivI, guard);
        case ir::ExprKind::FloorMod:
            return isFloat(e.dtype) ? fail("floormod of floating point values")
                                    : compileBinary(e, OpCode::SubF, OpCode::FloorModI, guard);
        case ir::ExprKind::Min: return compileBinary(e, OpCode::MinF, OpCode::MinI, guard);
        case ir::ExprKind::Max: return compileBinary(e, OpCode::MaxF, OpCode::MaxI, guard);
        case ir::ExprKind::Eq: return compileBinary(e, OpCode::EqF, OpCode::EqI, guard);
        case ir::ExprKind::Ne: return compileBinary(e, OpCode::NeF, OpCode::NeI, guard);
        case ir::ExprKind::Lt: return compileBinary(e, OpCode::LtF, OpCode::LtI, guard);
        case ir::ExprKind::Le: return compileBinary(e, OpCode::LeF, OpCode::LeI, guard);
        case ir::ExprKind::Gt: return compileBinary(e, OpCode::GtF, OpCode::GtI, guard);
        case ir::ExprKind::Ge: return compileBinary(e, OpCode::GeF, OpCode::GeI, guard);
        case ir::ExprKind::And: return compileBinary(e, OpCode::And, OpCode::And, guard);
        case ir::ExprKind::Or: return compileBinary(e, OpCode::Or, OpCode::Or, guard);
        case ir::ExprKind::Not: return emit(OpCode::Not, compile(e.operands[0], guard));
        case ir::ExprKind::Select: {
            const std::int32_t c = compile(e.operands[0], guard);
            const std::int32_t t = compile(e.operands[1], guard);
            return emit(OpCode::Select, c, t, compile(e.operands[2], guard));
        }
        case ir::ExprKind::IfThenElse: {
            const std::int32_t c = compile(e.operands[0], guard);
            const std::int32_t otherGuard = guard == kNoGuard ? emit(OpCode::Not, c) : emit(OpCode::AndNot, guard, c);
            const std::int32_t thisGuard = guard == kNoGuard ? c : emit(OpCode::And, guard, c);
            const std::int32_t t = compile(e.operands[1], thisGuard);
            return emit(OpCode::Select, c, t, compile(e.operands[2], otherGuard));
        }
        case ir::ExprKind::Cast: return compileCast(e, guard);
        case ir::ExprKind::Call: return compileCall(e, guard);
        case ir::ExprKind::Load: {
            LoadSite site{e.source, {}};
            std::size_t at = level(guard);
            for (const ir::Expr& index : e.operands) {
                site.indices.push_back(compile(index, guard));
                at = std::max(at, level(site.indices.back()));
            }
            if (e.output != 0)
                return fail("a load of a second output");
            Instruction instruction{};
            instruction.code = OpCode::Load;
            instruction.type = e.dtype;
            instruction.a = guard;
            instruction.b = static_cast<std::int32_t>(m_program.loads.size());
            m_program.loads.push_back(std::move(site));
            return emit(instruction, at);
        }
        case ir::ExprKind::Reduce: break;
        }
        return fail("a reduction stands inside an expression");
    }

    std::int32_t compileCast(const ir::Node& e, std::int32_t guard)
    {
        const std::int32_t x = compile(e.operands[0], guard);
        const bool fromFloat = isFloat(e.operands[0]->dtype);
        if (isFloat(e.dtype)) {
            const std::int32_t value = fromFloat ? x : emit(OpCode::IntToFloat, x, -1, -1, e.operands[0]->dtype);
            return e.dtype == DType::F64 ? value : emit(OpCode::RoundFloat, value, -1, -1, e.dtype);
        }
        return emit(fromFloat ? OpCode::FloatToInt : OpCode::WrapInt, x, -1, -1, e.dtype);
    }

    std::int32_t compileCall(const ir::Node& e, std::int32_t guard)
    {
        std::vector<std::int32_t> arguments;
        bool floats = true;
        for (const ir::Expr& operand : e.operands) {
            arguments.push_back(compile(operand, guard));
            floats &= isFloat(operand->dtype);
        }
        if (e.name == "abs" && arguments.size() == 1 && !floats)
            return emit(OpCode::AbsI, arguments[0], -1, -1, e.dtype);
        if (e.name == "pow" && arguments.size() == 2 && !isFloat(e.dtype))
            return emit(OpCode::WrapInt, emit(OpCode::PowerI, arguments[0], arguments[1], -1, e.dtype), -1, -1,
                        e.dtype);
        if (const auto bits = ir::findBitIntrinsic(e.name); bits != nullptr && arguments.size() == 2 && !floats) {
            Instruction instruction{};
            instruction.code = OpCode::CallBits;
            instruction.type = e.dtype;
            instruction.a = arguments[0];
            instruction.b = arguments[1];
            instruction.callBits = bits;
            return emit(instruction, std::max(level(arguments[0]), level(arguments[1])));
        }
        if (!floats || !isFloat(e.dtype))
            return fail(fmt::format("intrinsic {} on integers", e.name));
        Instruction instruction{};
        instruction.a = arguments.empty() ? -1 : arguments[0];
        instruction.b = arguments.size() > 1 ? arguments[1] : -1;
        instruction.c = arguments.size() > 2 ? arguments[2] : -1;
        const std::size_t at = std::max({level(instruction.a), level(instruction.b), level(instruction.c)});
        if (arguments.size() == 1) {
            for (const Function1& f : kFunctions1)
                if (f.name == e.name) {
                    instruction.code = OpCode::Call1;
                    instruction.call1 = f.run;
                    return emit(instruction, at);
                }
        } else if (arguments.size() == 2 && (e.name == "pow" || e.name == "fmod")) {
            instruction.code = OpCode::Call2;
            instruction.call2 = e.name == "pow" ? power : remainder;
            return emit(instruction, at);
        } else if (arguments.size() == 3 && e.name == "fma") {
            instruction.code = OpCode::Call3;
            instruction.call3 = fusedMultiplyAdd;
            return emit(instruction, at);
        }
        return fail(fmt::format("intrinsic {} with {} arguments is not known", e.name, arguments.size()));
    }

    const Op& m_op;
    Program m_program;
    std::vector<std::size_t> m_levels; ///< of each register
    std::unordered_map<const ir::Node*, std::int32_t> m_variables;
    std::map<std::pair<const ir::Node*, std::int32_t>, std::int32_t> m_done;
    std::optional<Error> m_problem;
};

} // namespace

Result<Program> compileProgram(const Op& op)
{
    if (op.bodies.size() != 1)
        return makeError(Errc::Unsupported, fmt::format("operation {}: {} bodies", op.name, op.bodies.size()));
    return Compiler(op).run();
}

} // namespace lathe::compute
