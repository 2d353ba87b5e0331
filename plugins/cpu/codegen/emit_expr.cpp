#include "plugins/cpu/codegen/emitter.h"
#include "plugins/cpu/codegen/integer_power.h"
#include "plugins/cpu/codegen/vector_math.h"

#include <fmt/format.h>

namespace lathe::cpu {

using ir::ExprKind;

llvm::Type* PhaseEmitter::valueType(DType dtype) const
{
    switch (dtype) {
    case DType::Bool: return llvm::Type::getInt1Ty(m_context);
    case DType::F16:
    case DType::BF16: return llvm::Type::getFloatTy(m_context);
    default: return memoryType(dtype);
    }
}

llvm::Type* PhaseEmitter::lanesOf(llvm::Type* scalar) const
{
    return m_lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(m_lanes));
}

llvm::Value* PhaseEmitter::toLanes(llvm::Value* v)
{
    if (m_lanes == 1 || v->getType()->isVectorTy())
        return v;
    return m_builder.CreateVectorSplat(static_cast<unsigned>(m_lanes), v);
}

void PhaseEmitter::unify(llvm::Value*& a, llvm::Value*& b)
{
    if (a->getType()->isVectorTy() || b->getType()->isVectorTy()) {
        a = toLanes(a);
        b = toLanes(b);
    }
}

llvm::Value* PhaseEmitter::value(const ir::Expr& e)
{
    if (failed() || e.get() == nullptr)
        return e ? llvm::PoisonValue::get(valueType(e->dtype)) : fail(Errc::Internal, "an expression is missing");
    const ir::Node& n = *e;
    if (n.kind != ExprKind::IntImm && isIndex(e)) {
        const IndexForm form = index(e);
        return failed() ? llvm::PoisonValue::get(valueType(n.dtype)) : materialize(form, valueType(n.dtype));
    }
    switch (n.kind) {
    case ExprKind::IntImm:
        if (isFloat(n.dtype))
            return llvm::ConstantFP::get(valueType(n.dtype), static_cast<double>(n.intValue));
        return llvm::ConstantInt::get(valueType(n.dtype), static_cast<std::uint64_t>(n.intValue), isSigned(n.dtype));
    case ExprKind::FloatImm: return roundTo(llvm::ConstantFP::get(valueType(n.dtype), n.floatValue), n.dtype);
    case ExprKind::Var: // of another dtype than I32 or I64
        return materialize(index(e), valueType(n.dtype));
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::Div:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
    case ExprKind::Min:
    case ExprKind::Max: return arithmetic(n);
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Gt:
    case ExprKind::Ge: return compare(n);
    case ExprKind::And:
    case ExprKind::Or: {
        llvm::Value* a = value(n.operands[0]);
        if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(a))
            return constant->isZero() == (n.kind == ExprKind::And) ? a : value(n.operands[1]);
        llvm::Value* b = value(n.operands[1]);
        unify(a, b);
        return n.kind == ExprKind::And ? m_builder.CreateAnd(a, b) : m_builder.CreateOr(a, b);
    }
    case ExprKind::Not: return m_builder.CreateNot(value(n.operands[0]));
    case ExprKind::Select:
    case ExprKind::IfThenElse: return conditional(n);
    case ExprKind::Cast: {
        llvm::Value* v = value(n.operands[0]);
        return failed() ? v : convert(v, n.operands[0]->dtype, n.dtype);
    }
    case ExprKind::Call: return callIntrinsic(n);
    case ExprKind::Load: {
        const IndexForm offset = offsetOf(n.source, n.operands);
        llvm::Value* v = load(n.source, offset);
        return failed() ? v : convert(v, m_nest.buffers[static_cast<std::size_t>(n.source)].dtype, n.dtype);
    }
    case ExprKind::Reduce: return fail(Errc::Internal, "a reduction stands inside a loop nest");
    }
    return fail(Errc::Internal, "an expression of unknown kind");
}

llvm::Value* PhaseEmitter::conditional(const ir::Node& n)
{
    llvm::Value* condition = value(n.operands[0]);
    if (failed())
        return condition;
    llvm::Constant* constant = llvm::dyn_cast<llvm::Constant>(condition);
    if (constant != nullptr && constant->getType()->isVectorTy() && constant->getSplatValue() != nullptr)
        constant = constant->getSplatValue();
    if (const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant))
        return value(n.operands[known->isZero() ? 2 : 1]);

    // Both sides are evaluated without a branch. What could fault, loads and divisions, sees the guard.
    const Guard outer = m_guard;
    const auto guarded = [&](const ir::Expr& side, bool taken) {
        if (n.kind == ExprKind::IfThenElse) {
            llvm::Value* holds = taken ? condition : m_builder.CreateNot(condition);
            llvm::Value*& slot = holds->getType()->isVectorTy() ? m_guard.lanes : m_guard.scalar;
            slot = slot != nullptr ? m_builder.CreateAnd(slot, holds) : holds;
        }
        llvm::Value* v = value(side);
        m_guard = outer;
        return v;
    };
    llvm::Value* yes = guarded(n.operands[1], true);
    llvm::Value* no = guarded(n.operands[2], false);
    if (failed())
        return yes;
    unify(yes, no);
    if (condition->getType()->isVectorTy()) {
        yes = toLanes(yes);
        no = toLanes(no);
    }
    return m_builder.CreateSelect(condition, yes, no);
}

llvm::Value* PhaseEmitter::compare(const ir::Node& n)
{
    if (isIndex(n.operands[0]) && isIndex(n.operands[1])) {
        const IndexForm a = index(n.operands[0]);
        const IndexForm b = index(n.operands[1]);
        return failed() ? llvm::PoisonValue::get(m_builder.getInt1Ty()) : foldComparison(n.kind, a, b);
    }
    llvm::Value* a = value(n.operands[0]);
    llvm::Value* b = value(n.operands[1]);
    if (failed())
        return a;
    unify(a, b);
    const DType dtype = n.operands[0]->dtype;
    using P = llvm::CmpInst::Predicate;
    const bool isSignedInt = isSigned(dtype);
    P predicate = P::FCMP_OEQ;
    switch (n.kind) {
    case ExprKind::Eq: predicate = isFloat(dtype) ? P::FCMP_OEQ : P::ICMP_EQ; break;
    case ExprKind::Ne: predicate = isFloat(dtype) ? P::FCMP_UNE : P::ICMP_NE; break;
    case ExprKind::Lt: predicate = isFloat(dtype) ? P::FCMP_OLT : isSignedInt ? P::ICMP_SLT : P::ICMP_ULT; break;
    case ExprKind::Le: predicate = isFloat(dtype) ? P::FCMP_OLE : isSignedInt ? P::ICMP_SLE : P::ICMP_ULE; break;
    case ExprKind::Gt: predicate = isFloat(dtype) ? P::FCMP_OGT : isSignedInt ? P::ICMP_SGT : P::ICMP_UGT; break;
    default: predicate = isFloat(dtype) ? P::FCMP_OGE : isSignedInt ? P::ICMP_SGE : P::ICMP_UGE; break;
    }
    return m_builder.CreateCmp(predicate, a, b);
}

llvm::Value* PhaseEmitter::arithmetic(const ir::Node& n)
{
    const bool floating = isFloat(n.dtype);
    // a * b + c is one instruction where the processor has it.
    const bool fuses = floating && n.kind == ExprKind::Add && (n.dtype == DType::F32 || n.dtype == DType::F64);
    if (fuses) {
        for (int side = 1; side >= 0; --side) {
            const ir::Expr& product = n.operands[static_cast<std::size_t>(side)];
            if (product->kind != ExprKind::Mul)
                continue;
            llvm::Value* addend = value(n.operands[static_cast<std::size_t>(1 - side)]);
            llvm::Value* x = value(product->operands[0]);
            llvm::Value* y = value(product->operands[1]);
            if (failed())
                return addend;
            if (addend->getType()->isVectorTy() || x->getType()->isVectorTy() || y->getType()->isVectorTy()) {
                x = toLanes(x);
                y = toLanes(y);
                addend = toLanes(addend);
            }
            return m_builder.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, addend});
        }
    }
    llvm::Value* a = value(n.operands[0]);
    llvm::Value* b = value(n.operands[1]);
    if (failed())
        return a;
    unify(a, b);
    const bool isSignedInt = isSigned(n.dtype);
    switch (n.kind) {
    case ExprKind::Add: return floating ? roundTo(m_builder.CreateFAdd(a, b), n.dtype) : m_builder.CreateAdd(a, b);
    case ExprKind::Sub: return floating ? roundTo(m_builder.CreateFSub(a, b), n.dtype) : m_builder.CreateSub(a, b);
    case ExprKind::Mul: return floating ? roundTo(m_builder.CreateFMul(a, b), n.dtype) : m_builder.CreateMul(a, b);
    case ExprKind::Div:
        return floating ? roundTo(m_builder.CreateFDiv(a, b), n.dtype)
                        : integerDivision(ExprKind::FloorDiv, a, b, isSignedInt);
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
        if (floating) {
            llvm::Value* q = m_builder.CreateUnaryIntrinsic(llvm::Intrinsic::floor, m_builder.CreateFDiv(a, b));
            if (n.kind == ExprKind::FloorDiv)
                return roundTo(q, n.dtype);
            return roundTo(m_builder.CreateFSub(a, m_builder.CreateFMul(q, b)), n.dtype);
        }
        return integerDivision(n.kind, a, b, isSignedInt);
    default: break;
    }
    const bool isMin = n.kind == ExprKind::Min;
    if (floating)
        return emitExtremum(m_builder, isMin, a, b);
    llvm::Value* first = isSignedInt ? (isMin ? m_builder.CreateICmpSLT(a, b) : m_builder.CreateICmpSGT(a, b))
                                     : (isMin ? m_builder.CreateICmpULT(a, b) : m_builder.CreateICmpUGT(a, b));
    return m_builder.CreateSelect(first, a, b);
}

llvm::Value* PhaseEmitter::integerDivision(ExprKind kind, llvm::Value* a, llvm::Value* b, bool isSigned)
{
    llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
    if (!llvm::isa<llvm::Constant>(b)) {
        // A divisor of lanes that are not taken must not trap; neither may lowest / -1.
        llvm::Value* one = llvm::ConstantInt::get(a->getType(), 1);
        b = m_builder.CreateSelect(m_builder.CreateICmpEQ(b, zero), one, b);
    }
    if (!isSigned)
        return kind == ExprKind::FloorDiv ? m_builder.CreateUDiv(a, b) : m_builder.CreateURem(a, b);
    if (!llvm::isa<llvm::Constant>(b)) {
        llvm::Value* minusOne = llvm::ConstantInt::getAllOnesValue(a->getType());
        llvm::Value* isMinusOne = m_builder.CreateICmpEQ(b, minusOne);
        llvm::Value* safe = m_builder.CreateSelect(isMinusOne, llvm::ConstantInt::get(a->getType(), 1), b);
        llvm::Value* quotient = m_builder.CreateSDiv(a, safe);
        llvm::Value* rest = m_builder.CreateSub(a, m_builder.CreateMul(quotient, safe));
        llvm::Value* differs = m_builder.CreateICmpSLT(m_builder.CreateXor(rest, safe), zero);
        llvm::Value* down = m_builder.CreateAnd(m_builder.CreateICmpNE(rest, zero), differs);
        if (kind == ExprKind::FloorMod)
            return m_builder.CreateSelect(down, m_builder.CreateAdd(rest, safe), rest);
        llvm::Value* floored = m_builder.CreateSelect(
            down, m_builder.CreateSub(quotient, llvm::ConstantInt::get(a->getType(), 1)), quotient);
        return m_builder.CreateSelect(isMinusOne, m_builder.CreateNeg(a), floored);
    }
    llvm::Value* quotient = m_builder.CreateSDiv(a, b);
    llvm::Value* rest = m_builder.CreateSub(a, m_builder.CreateMul(quotient, b));
    llvm::Value* down = m_builder.CreateAnd(m_builder.CreateICmpNE(rest, zero),
                                            m_builder.CreateICmpSLT(m_builder.CreateXor(rest, b), zero));
    if (kind == ExprKind::FloorMod)
        return m_builder.CreateSelect(down, m_builder.CreateAdd(rest, b), rest);
    return m_builder.CreateSub(quotient, m_builder.CreateZExt(down, a->getType()));
}

llvm::Value* PhaseEmitter::roundTo(llvm::Value* v, DType dtype)
{
    const auto shaped = [&](llvm::Type* scalar) -> llvm::Type* {
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(v->getType());
        return vector != nullptr ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar;
    };
    if (dtype == DType::F16)
        return m_builder.CreateFPExt(m_builder.CreateFPTrunc(v, shaped(m_builder.getHalfTy())), v->getType());
    if (dtype != DType::BF16)
        return v;
    // To nearest, ties to even: add half of the last kept bit, and that bit; a NaN keeps its upper bits, made quiet.
    llvm::Type* i32 = shaped(m_builder.getInt32Ty());
    llvm::Value* bits = m_builder.CreateBitCast(v, i32);
    llvm::Value* last = m_builder.CreateAnd(m_builder.CreateLShr(bits, 16), 1);
    llvm::Value* rounded = m_builder.CreateAdd(bits, m_builder.CreateAdd(last, llvm::ConstantInt::get(i32, 0x7fff)));
    llvm::Value* quiet = m_builder.CreateOr(bits, llvm::ConstantInt::get(i32, 0x400000));
    llvm::Value* kept = m_builder.CreateSelect(m_builder.CreateFCmpUNO(v, v), quiet, rounded);
    return m_builder.CreateBitCast(m_builder.CreateAnd(kept, llvm::ConstantInt::get(i32, 0xffff0000U)), v->getType());
}

llvm::Value* PhaseEmitter::convert(llvm::Value* v, DType from, DType to)
{
    if (from == to)
        return v;
    const auto shaped = [&](llvm::Type* scalar) -> llvm::Type* {
        const auto* vector = llvm::dyn_cast<llvm::VectorType>(v->getType());
        return vector != nullptr ? llvm::VectorType::get(scalar, vector->getElementCount()) : scalar;
    };
    llvm::Type* type = shaped(valueType(to));
    if (to == DType::Bool) {
        llvm::Value* zero = llvm::Constant::getNullValue(v->getType());
        return isFloat(from) ? m_builder.CreateFCmpUNE(v, zero) : m_builder.CreateICmpNE(v, zero);
    }
    if (isFloat(from) && isFloat(to)) {
        if (from == DType::F64)
            v = m_builder.CreateFPTrunc(v, type);
        else if (to == DType::F64)
            v = m_builder.CreateFPExt(v, type);
        return roundTo(v, to);
    }
    if (isFloat(from)) {
        // Towards zero; the ends of the type for what lies beyond them, 0 for not-a-number.
        return m_builder.CreateIntrinsic(isSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                                         {type, v->getType()}, {v});
    }
    if (isFloat(to)) {
        v = from != DType::Bool && isSigned(from) ? m_builder.CreateSIToFP(v, type) : m_builder.CreateUIToFP(v, type);
        return roundTo(v, to);
    }
    return from != DType::Bool && isSigned(from) ? m_builder.CreateSExtOrTrunc(v, type)
                                                 : m_builder.CreateZExtOrTrunc(v, type);
}

llvm::Value* PhaseEmitter::callIntrinsic(const ir::Node& n)
{
    std::vector<llvm::Value*> operands;
    bool anyVector = false;
    for (const ir::Expr& operand : n.operands) {
        llvm::Value* v = value(operand);
        if (failed())
            return v;
        v = convert(v, operand->dtype, n.dtype);
        anyVector = anyVector || v->getType()->isVectorTy();
        operands.push_back(v);
    }
    if (anyVector)
        for (llvm::Value*& v : operands)
            v = toLanes(v);
    if (operands.empty())
        return fail(Errc::Unsupported, fmt::format("the CPU back end has no intrinsic '{}' without operands", n.name));
    if (!isFloat(n.dtype)) {
        if ((n.name == "abs" || n.name == "fabs") && operands.size() == 1)
            return isSigned(n.dtype)
                       ? m_builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, operands[0], m_builder.getInt1(false))
                       : operands[0];
        if (n.name == "pow" && operands.size() == 2)
            return emitIntegerPower(m_builder, operands[0], operands[1], isSigned(n.dtype));
        if (operands.size() == 2) {
            if (n.name == "bit_and")
                return m_builder.CreateAnd(operands[0], operands[1]);
            if (n.name == "bit_or")
                return m_builder.CreateOr(operands[0], operands[1]);
            if (n.name == "bit_xor")
                return m_builder.CreateXor(operands[0], operands[1]);
            if (n.name == "shift_left" || n.name == "shift_right") {
                llvm::Type* const type = operands[0]->getType();
                llvm::Value* const fits = m_builder.CreateICmpULT(
                    operands[1], llvm::ConstantInt::get(type, type->getScalarSizeInBits()));
                llvm::Value* const amount = m_builder.CreateSelect(fits, operands[1],
                                                                   llvm::Constant::getNullValue(type));
                llvm::Value* const shifted = n.name == "shift_left" ? m_builder.CreateShl(operands[0], amount)
                                                                    : m_builder.CreateLShr(operands[0], amount);
                return m_builder.CreateSelect(fits, shifted, llvm::Constant::getNullValue(type));
            }
        }
        return fail(Errc::Unsupported,
                    fmt::format("the CPU back end has no intrinsic '{}' on {}", n.name, toString(n.dtype)));
    }
    llvm::Value* result = emitMathCall(m_builder, n.name, operands, m_target.hasFma);
    if (result == nullptr)
        return fail(Errc::Unsupported,
                    fmt::format("the CPU back end has no intrinsic '{}' of {} operands", n.name, operands.size()));
    return roundTo(result, n.dtype);
}

} // namespace lathe::cpu
