#include "core/ir/interpret.h"

#include "core/ir/bounds.h"
#include "core/ir/print.h"
#include "core/ir/scalar.h"
#include "core/ir/scratch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace lathe::ir {

namespace {

/// An expression with variables as slots of a frame.
struct Code
{
    ExprKind kind = ExprKind::IntImm;
    DType dtype = DType::I32;
    DType operandType = DType::I32;
    std::int32_t slot = -1; ///< Var
    std::int32_t buffer = -1; ///< Load
    Scalar literal;
    Intrinsic intrinsic = nullptr;
    BitIntrinsic bits = nullptr; ///< a Call of two integers
    bool isPower = false; ///< of integers, which doubles do not hold
    std::vector<Code> operands;
};

struct Instruction
{
    StmtKind kind = StmtKind::Block;
    bool parallel = false;
    std::int32_t slot = -1;
    std::int32_t buffer = -1;
    Code min, extent, value, condition;
    std::vector<Code> indices;
    std::vector<Instruction> body;
};

class Compiler
{
public:
    Result<Instruction> statement(const Stmt& s)
    {
        Instruction out;
        out.kind = s->kind;
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

    std::int32_t slots() const { return static_cast<std::int32_t>(m_slots.size()); }

private:
    std::int32_t slotOf(const Expr& variable)
    {
        return m_slots.emplace(variable.get(), static_cast<std::int32_t>(m_slots.size())).first->second;
    }

    Result<Code> expression(const Expr& e)
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

    std::unordered_map<const Node*, std::int32_t> m_slots;
};

} // namespace

struct NestInterpreter::Impl
{
    LoopNest nest;
    std::vector<Instruction> phases;
    std::int32_t slots = 0;
};

namespace {

struct Memory
{
    std::vector<std::span<std::byte>> buffers;
    std::vector<std::vector<std::byte>> owned;
};

class Machine
{
public:
    Machine(const NestInterpreter::Impl& program, Memory& memory, std::uint32_t part, std::uint32_t parts)
        : m_program(program)
        , m_memory(memory)
        , m_part(part)
        , m_parts(parts)
        , m_frame(static_cast<std::size_t>(program.slots))
    {
    }

    void run(const Instruction& s)
    {
        if (m_failed)
            return;
        switch (s.kind) {
        case StmtKind::For: {
            std::int64_t begin = evaluate(s.min).i;
            std::int64_t end = begin + evaluate(s.extent).i;
            if (s.parallel) {
                const PartRange range = partRange(end - begin, m_part, m_parts);
                end = begin + range.end;
                begin += range.begin;
            }
            for (std::int64_t i = begin; i < end && !m_failed; ++i) {
                m_frame[s.slot] = i;
                run(s.body[0]);
            }
            break;
        }
        case StmtKind::Block:
            for (const Instruction& inner : s.body)
                run(inner);
            break;
        case StmtKind::If:
            if (evaluate(s.condition).i != 0)
                run(s.body[0]);
            else if (s.body.size() > 1)
                run(s.body[1]);
            break;
        case StmtKind::Store: {
            const Scalar value = evaluate(s.value);
            const Buffer& buffer = m_program.nest.buffers[s.buffer];
            if (std::byte* at = address(s.buffer, s.indices, "stores to"))
                storeScalar(at, buffer.dtype, value);
            break;
        }
        case StmtKind::Prefetch: // a hint; may point outside
        case StmtKind::Evaluate: break;
        }
    }

    bool failed() const { return m_failed; }
    const std::string& failure() const { return m_failure; }

private:
    std::byte* address(std::int32_t id, const std::vector<Code>& indices, const char* verb)
    {
        const Buffer& buffer = m_program.nest.buffers[id];
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < indices.size(); ++d) {
            const std::int64_t index = evaluate(indices[d]).i;
            if (index < 0 || index >= buffer.shape[d]) {
                fail(fmt::format("kernel {} {} {} at index {} = {}, outside of [0, {})", m_program.nest.name, verb,
                                 buffer.name, d, index, buffer.shape[d]));
                return nullptr;
            }
            offset += index * buffer.strides[d];
        }
        return m_memory.buffers[id].data() + offset * sizeOf(buffer.dtype);
    }

    void fail(std::string why)
    {
        if (!m_failed)
            m_failure = std::move(why);
        m_failed = true;
    }

    Scalar evaluate(const Code& e)
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
            const std::byte* at = address(e.buffer, e.operands, "reads");
            return at != nullptr ? loadScalar(at, m_program.nest.buffers[e.buffer].dtype) : Scalar{};
        }
        default: return e.literal;
        }
    }

    Scalar callIntrinsic(const Code& e)
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

    static Scalar floatOperation(const Code& e, double a, double b)
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

    Scalar integerOperation(const Code& e, std::int64_t a, std::int64_t b)
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
                fail(fmt::format("kernel {} divides by zero", m_program.nest.name));
                return {};
            }
            if (e.operandType == DType::U64)
                return {0, static_cast<std::int64_t>(e.kind == ExprKind::FloorDiv ? u(a) / u(b) : u(a) % u(b))};
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

    const NestInterpreter::Impl& m_program;
    Memory& m_memory;
    std::uint32_t m_part;
    std::uint32_t m_parts;
    std::vector<std::int64_t> m_frame;
    bool m_failed = false;
    std::string m_failure;
};

} // namespace

Result<NestInterpreter> NestInterpreter::compile(const LoopNest& nest)
{
    auto impl = std::make_shared<Impl>();
    impl->nest = nest;
    Compiler compiler;
    for (const Stmt& phase : nest.phases) {
        if (!phase)
            continue;
        LATHE_TRY_ASSIGN(Instruction code, compiler.statement(phase));
        impl->phases.push_back(std::move(code));
    }
    impl->slots = compiler.slots();
    return NestInterpreter(std::move(impl));
}

Result<> NestInterpreter::run(std::span<const std::span<std::byte>> parameters, std::uint32_t parts) const
{
    const LoopNest& nest = m_impl->nest;
    if (parameters.size() != nest.parameters.size() || parts == 0)
        return makeError(Errc::InvalidArgument, fmt::format("kernel {} has {} parameters, not {}", nest.name,
                                                            nest.parameters.size(), parameters.size()));
    Memory memory;
    memory.buffers.resize(nest.buffers.size());
    memory.owned.resize(nest.buffers.size());
    for (std::size_t b = 0; b < nest.buffers.size(); ++b) {
        if (nest.buffers[b].scope == Scope::Parameter)
            continue;
        memory.owned[b].resize(static_cast<std::size_t>(elementCount(nest.buffers[b]) * sizeOf(nest.buffers[b].dtype)),
                               std::byte{0xff});
        memory.buffers[b] = memory.owned[b];
    }
    for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Buffer& buffer = nest.buffers[nest.parameters[p]];
        const auto needed = static_cast<std::size_t>(elementCount(buffer) * sizeOf(buffer.dtype));
        if (parameters[p].size() < needed)
            return makeError(Errc::InvalidArgument, fmt::format("parameter {} of kernel {} has {} bytes of {}",
                                                                buffer.name, nest.name, parameters[p].size(), needed));
        memory.buffers[nest.parameters[p]] = parameters[p];
    }
    for (const Instruction& phase : m_impl->phases) {
        for (std::uint32_t part = 0; part < parts; ++part) {
            for (std::size_t b = 0; b < nest.buffers.size(); ++b)
                if (nest.buffers[b].scope != Scope::Parameter && nest.buffers[b].scope != Scope::Team)
                    std::fill(memory.owned[b].begin(), memory.owned[b].end(), std::byte{0xff});
            Machine machine(*m_impl, memory, part, parts);
            machine.run(phase);
            if (machine.failed())
                return makeError(Errc::WrongAnswer, machine.failure());
        }
    }
    return {};
}

} // namespace lathe::ir
