#include "core/ir/nest_program.h"

#include "core/ir/bounds.h"
#include "core/ir/print.h"
#include "core/ir/scratch.h"

#include <fmt/format.h>

namespace lathe::ir {

namespace {

Scalar floatOperation(const Code& e, double a, double b)
{
    const auto rounded = [&e](double v) { return roundTo({v, 0}, e.dtype); };
    switch (e.kind) {
    case ExprKind::Add: return rounded(a + b);
    case ExprKind::Sub: return rounded(a - b);
    case ExprKind::Mul: return rounded(a * b);
    case ExprKind::Div: return rounded(a / b);
    case ExprKind::Min: return {minimum(a, b), 0};
    case ExprKind::Max: return {maximum(a, b), 0};
    case ExprKind::Eq: return {0, a == b};
    case ExprKind::Ne: return {0, a != b};
    case ExprKind::Lt: return {0, a < b};
    case ExprKind::Le: return {0, a <= b};
    case ExprKind::Gt: return {0, a > b};
    default: return {0, a >= b};
    }
}

} // namespace

Result<Instruction> NestCompiler::statement(const Stmt& s)
{
    Instruction out;
    out.kind = s->kind;
    out.of = s.get();
    out.buffer = s->buffer;
    if (s->kind == StmtKind::Evaluate)
        return makeError(Errc::Unsupported, "the interpreter knows no tensor intrinsics");
    if (s->kind == StmtKind::For) {
        if (s->loop >= LoopKind::VThread)
            return makeError(Errc::Unsupported, fmt::format("the interpreter runs no {} loops", toString(s->loop)));
        out.parallel = s->loop == LoopKind::Parallel;
        LATHE_TRY_ASSIGN(out.min, expression(s->min));
        LATHE_TRY_ASSIGN(out.extent, expression(s->extent));
        out.slot = slotOf(s->variable);
    }
    if (s->value) {
        LATHE_TRY_ASSIGN(out.value, expression(s->value));
    }
    if (s->condition) {
        LATHE_TRY_ASSIGN(out.condition, expression(s->condition));
    }
    for (const Expr& index : s->indices) {
        LATHE_TRY_ASSIGN(Code code, expression(index));
        out.indices.push_back(std::move(code));
    }
    for (const Stmt& inner : s->body) {
        if (!inner) {
            out.body.emplace_back();
            continue;
        }
        LATHE_TRY_ASSIGN(Instruction compiled, statement(inner));
        out.body.push_back(std::move(compiled));
    }
    return out;
}

std::int32_t NestCompiler::slotOf(const Expr& variable)
{
    return m_slots.emplace(variable.get(), static_cast<std::int32_t>(m_slots.size())).first->second;
}

Result<Code> NestCompiler::expression(const Expr& e)
{
    Code out;
    out.kind = e->kind;
    out.dtype = e->dtype;
    out.buffer = e->source;
    out.literal = {e->floatValue, e->intValue};
    if (e->kind == ExprKind::Var) {
        const auto found = m_slots.find(e.get());
        if (found == m_slots.end())
            return makeError(Errc::Internal, fmt::format("variable {} is used outside of its loop", e->name));
        out.slot = found->second;
    }
    if (e->kind == ExprKind::Reduce)
        return makeError(Errc::Internal, "a reduction stands inside a loop nest");
    if (e->kind == ExprKind::Call) {
        out.bits = isFloat(e->dtype) || e->operands.size() != 2 ? nullptr : findBitIntrinsic(e->name);
        out.intrinsic = findIntrinsic(e->name);
        out.isPower = e->name == "pow" && !isFloat(e->dtype);
        if ((out.intrinsic == nullptr && out.bits == nullptr) || e->operands.size() > 3)
            return makeError(Errc::Unsupported, fmt::format("the interpreter has no intrinsic '{}'", e->name));
    }
    for (const Expr& operand : e->operands) {
        LATHE_TRY_ASSIGN(Code code, expression(operand));
        out.operands.push_back(std::move(code));
    }
    if (!e->operands.empty())
        out.operandType = e->operands[0]->dtype;
    return out;
}

Result<> checkParameters(const LoopNest& nest, std::span<const std::span<std::byte>> parameters)
{
    if (parameters.size() != nest.parameters.size())
        return makeError(Errc::InvalidArgument, fmt::format("kernel {} has {} parameters, not {}", nest.name,
                                                            nest.parameters.size(), parameters.size()));
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Buffer& buffer = nest.buffers[nest.parameters[p]];
        const auto needed = static_cast<std::size_t>(elementCount(buffer) * sizeOf(buffer.dtype));
        if (parameters[p].size() < needed)
            return makeError(Errc::InvalidArgument, fmt::format("parameter {} of kernel {} has {} bytes of {}",
                                                                buffer.name, nest.name, parameters[p].size(), needed));
    }
    return {};
}

Scalar NestEvaluator::evaluate(const Code& e)
{
    if (e.kind >= ExprKind::Add && e.kind <= ExprKind::Ge) {
        const Scalar a = evaluate(e.operands[0]);
        const Scalar b = evaluate(e.operands[1]);
        return isFloat(e.operandType) ? floatOperation(e, a.f, b.f) : integerOperation(e, a.i, b.i);
    }
    switch (e.kind) {
    case ExprKind::Var: return {0, m_frame[e.slot]};
    case ExprKind::And: return {0, evaluate(e.operands[0]).i != 0 && evaluate(e.operands[1]).i != 0 ? 1 : 0};
    case ExprKind::Or: return {0, evaluate(e.operands[0]).i != 0 || evaluate(e.operands[1]).i != 0 ? 1 : 0};
    case ExprKind::Not: return {0, evaluate(e.operands[0]).i == 0 ? 1 : 0};
    case ExprKind::Select:
    case ExprKind::IfThenElse: return evaluate(e.operands[evaluate(e.operands[0]).i != 0 ? 1 : 2]);
    case ExprKind::Cast: return convert(evaluate(e.operands[0]), e.operandType, e.dtype);
    case ExprKind::Call: return callIntrinsic(e);
    case ExprKind::Load: {
        const std::byte* at = read(e.buffer, e.operands);
        return at != nullptr ? loadScalar(at, m_nest.buffers[e.buffer].dtype) : Scalar{};
    }
    default: return e.literal;
    }
}

Scalar NestEvaluator::callIntrinsic(const Code& e)
{
    if (e.bits != nullptr)
        return roundTo({0, e.bits(evaluate(e.operands[0]).i, evaluate(e.operands[1]).i)}, e.dtype);
    if (!isFloat(e.dtype) && e.isPower)
        return roundTo({0, power(evaluate(e.operands[0]).i, evaluate(e.operands[1]).i, e.dtype)}, e.dtype);
    double arguments[3] = {};
    for (std::size_t i = 0; i < e.operands.size(); ++i) {
        const Scalar v = evaluate(e.operands[i]);
        arguments[i] = isFloat(e.operands[i].dtype) ? v.f : static_cast<double>(v.i);
    }
    const double result = e.intrinsic(arguments[0], arguments[1], arguments[2]);
    return isFloat(e.dtype) ? roundTo({result, 0}, e.dtype) : convert({result, 0}, DType::F64, e.dtype);
}

Scalar NestEvaluator::integerOperation(const Code& e, std::int64_t a, std::int64_t b)
{
    const auto wrapped = [&e](std::int64_t v) { return roundTo({0, v}, e.dtype); };
    const auto u = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    const auto less = [&e](std::int64_t x, std::int64_t y) { return lessThan(x, y, e.operandType); };
    switch (e.kind) {
    case ExprKind::Add: return wrapped(static_cast<std::int64_t>(u(a) + u(b)));
    case ExprKind::Sub: return wrapped(static_cast<std::int64_t>(u(a) - u(b)));
    case ExprKind::Mul: return wrapped(static_cast<std::int64_t>(u(a) * u(b)));
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
        if (b == 0) {
            fail(fmt::format("kernel {} divides by zero", m_nest.name));
            return {};
        }
        if (e.operandType == DType::U64)
            return {0, static_cast<std::int64_t>(e.kind == ExprKind::FloorDiv ? u(a) / u(b) : u(a) % u(b))};
        if (b == -1) // the lowest number by it wraps around
            return wrapped(e.kind == ExprKind::FloorDiv ? static_cast<std::int64_t>(0 - u(a)) : 0);
        return wrapped(e.kind == ExprKind::FloorDiv ? floorDivide(a, b) : floorModulo(a, b));
    case ExprKind::Min: return {0, less(b, a) ? b : a};
    case ExprKind::Max: return {0, less(a, b) ? b : a};
    case ExprKind::Eq: return {0, a == b};
    case ExprKind::Ne: return {0, a != b};
    case ExprKind::Lt: return {0, less(a, b)};
    case ExprKind::Le: return {0, !less(b, a)};
    case ExprKind::Gt: return {0, less(b, a)};
    default: return {0, !less(a, b)};
    }
}

std::int64_t NestEvaluator::offset(std::int32_t id, const std::vector<Code>& indices, const char* verb)
{
    const Buffer& buffer = m_nest.buffers[id];
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        const std::int64_t index = evaluate(indices[d]).i;
        if (index < 0 || index >= buffer.shape[d]) {
            fail(fmt::format("kernel {} {} {} at index {} = {}, outside of [0, {})", m_nest.name, verb, buffer.name, d,
                             index, buffer.shape[d]));
            return -1;
        }
        offset += index * buffer.strides[d];
    }
    return offset;
}

void NestEvaluator::fail(std::string why)
{
    if (!m_failed)
        m_failure = std::move(why);
    m_failed = true;
}

} // namespace lathe::ir
