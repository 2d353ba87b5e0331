#include "plugins/cpu/codegen/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lathe::cpu {

using ir::ExprKind;

namespace {

bool isIndexType(DType t)
{
    return t == DType::I32 || t == DType::I64;
}

IndexRange saturate(std::int64_t low, std::int64_t high)
{
    return {std::max(low, -kUnknownRange), std::min(high, kUnknownRange)};
}

std::pair<std::int64_t, std::int64_t> laneBounds(const IndexForm& form)
{
    if (form.lanes.empty())
        return {0, 0};
    const auto [low, high] = std::minmax_element(form.lanes.begin(), form.lanes.end());
    return {*low, *high};
}

} // namespace

bool PhaseEmitter::isIndex(const ir::Expr& e)
{
    if (const auto known = m_isIndex.find(e.get()); known != m_isIndex.end())
        return known->second;
    bool result = isIndexType(e->dtype);
    switch (e->kind) {
    case ExprKind::IntImm:
    case ExprKind::Var: break;
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Cast:
        for (const ir::Expr& operand : e->operands)
            result = result && isIndex(operand);
        break;
    default: result = false;
    }
    m_isIndex.emplace(e.get(), result);
    return result;
}

bool PhaseEmitter::isUniform(const IndexForm& form) const
{
    return form.lanes.empty() && std::none_of(form.terms.begin(), form.terms.end(), [&](const IndexForm::Term& t) {
               return m_atoms[static_cast<std::size_t>(t.atom)].vector;
           });
}

int PhaseEmitter::levelOf(const IndexForm& form) const
{
    int level = 0;
    for (const IndexForm::Term& t : form.terms)
        level = std::max(level, m_atoms[static_cast<std::size_t>(t.atom)].level);
    return level;
}

IndexRange PhaseEmitter::rangeOf(const IndexForm& form) const
{
    const auto [laneLow, laneHigh] = laneBounds(form);
    std::int64_t low = form.constant + laneLow;
    std::int64_t high = form.constant + laneHigh;
    for (const IndexForm::Term& t : form.terms) {
        const IndexRange& range = m_atoms[static_cast<std::size_t>(t.atom)].range;
        const bool up = t.coefficient > 0;
        const std::int64_t atLow = up ? range.low : range.high;
        const std::int64_t atHigh = up ? range.high : range.low;
        const bool lowKnown = low > -kUnknownRange && std::abs(atLow) < kUnknownRange;
        const bool highKnown = high < kUnknownRange && std::abs(atHigh) < kUnknownRange;
        low = lowKnown ? low + atLow * t.coefficient : -kUnknownRange;
        high = highKnown ? high + atHigh * t.coefficient : kUnknownRange;
    }
    return saturate(low, high);
}

IndexForm PhaseEmitter::opaque(llvm::Value* value, int level, IndexRange range)
{
    IndexForm form;
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
        form.constant = constant->getSExtValue();
        return form;
    }
    form.terms.push_back({static_cast<std::int32_t>(m_atoms.size()), 1});
    m_atoms.push_back({value, level, range, value->getType()->isVectorTy()});
    return form;
}

IndexForm PhaseEmitter::index(const ir::Expr& e)
{
    IndexForm form;
    if (failed() || e.get() == nullptr)
        return form;
    switch (e->kind) {
    case ExprKind::IntImm: form.constant = e->intValue; return form;
    case ExprKind::Var: {
        const auto bound = m_variables.find(e.get());
        if (bound == m_variables.end()) {
            fail(Errc::Internal, fmt::format("variable '{}' is used outside its loop", e->name));
            return form;
        }
        return bound->second;
    }
    case ExprKind::Add: return add(index(e->operands[0]), index(e->operands[1]));
    case ExprKind::Sub: return add(index(e->operands[0]), index(e->operands[1]), -1);
    case ExprKind::Mul: {
        const IndexForm a = index(e->operands[0]);
        const IndexForm b = index(e->operands[1]);
        if (b.isConstant())
            return scale(a, b.constant);
        if (a.isConstant())
            return scale(b, a.constant);
        if (failed())
            return form;
        llvm::Type* i64 = m_builder.getInt64Ty();
        llvm::Value* x = materialize(a, i64);
        llvm::Value* y = materialize(b, i64);
        unify(x, y);
        return opaque(m_builder.CreateNSWMul(x, y), kInPlace, {});
    }
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod: {
        const IndexForm a = index(e->operands[0]);
        const IndexForm b = index(e->operands[1]);
        if (failed() || !b.isConstant() || b.constant <= 0)
            break;
        const IndexForm quotient = floorDivForm(a, b.constant);
        return e->kind == ExprKind::FloorDiv ? quotient : add(a, quotient, -b.constant);
    }
    case ExprKind::Min:
    case ExprKind::Max: {
        const IndexForm a = index(e->operands[0]);
        const IndexForm b = index(e->operands[1]);
        if (failed())
            return form;
        const IndexRange difference = rangeOf(add(a, b, -1));
        const bool isMin = e->kind == ExprKind::Min;
        if (difference.high <= 0)
            return isMin ? a : b;
        if (difference.low >= 0)
            return isMin ? b : a;
        const IndexRange ra = rangeOf(a);
        const IndexRange rb = rangeOf(b);
        const IndexRange range = isMin ? IndexRange{std::min(ra.low, rb.low), std::min(ra.high, rb.high)}
                                       : IndexRange{std::max(ra.low, rb.low), std::max(ra.high, rb.high)};
        const bool uniform = isUniform(a) && isUniform(b);
        const int level = uniform ? std::max(levelOf(a), levelOf(b)) : kInPlace;
        const llvm::IRBuilderBase::InsertPointGuard saved(m_builder);
        if (level != kInPlace)
            m_builder.SetInsertPoint(m_levels[static_cast<std::size_t>(level)].hoistPoint);
        llvm::Value* x = materialize(a, m_builder.getInt64Ty());
        llvm::Value* y = materialize(b, m_builder.getInt64Ty());
        unify(x, y);
        return opaque(m_builder.CreateBinaryIntrinsic(isMin ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, x, y),
                      level, range);
    }
    case ExprKind::Cast:
        if (isIndexType(e->dtype) && isIndexType(e->operands[0]->dtype))
            return index(e->operands[0]);
        break;
    default: break;
    }
    llvm::Value* v = value(e);
    if (failed())
        return form;
    llvm::Type* wide = v->getType()->isVectorTy() ? lanesOf(m_builder.getInt64Ty()) : m_builder.getInt64Ty();
    return opaque(isSigned(e->dtype) ? m_builder.CreateSExt(v, wide) : m_builder.CreateZExt(v, wide), kInPlace, {});
}

IndexForm PhaseEmitter::floorDivForm(const IndexForm& a, std::int64_t divisor)
{
    if (divisor == 1)
        return a;
    DividedForm parts = divideExactPart(a, divisor);
    const auto [laneLow, laneHigh] = laneBounds(parts.remainder);
    IndexForm& rest = parts.remainder;

    // What is left lies within one multiple of the divisor: a constant quotient, or one constant per lane.
    const IndexRange uniformRange = rangeOf({rest.constant, rest.terms, {}});
    if (uniformRange.isKnown()
        && floorDivide(uniformRange.low + laneLow, divisor) == floorDivide(uniformRange.high + laneHigh, divisor)) {
        parts.quotient.constant += floorDivide(uniformRange.low + laneLow, divisor);
        return parts.quotient;
    }
    if (rest.terms.empty()) {
        IndexForm lanes;
        for (const std::int64_t lane : rest.lanes)
            lanes.lanes.push_back(floorDivide(rest.constant + lane, divisor));
        lanes.normalize();
        return add(parts.quotient, lanes);
    }
    // With every coefficient and the divisor a multiple of g, an offset in [0, g) cannot carry.
    std::int64_t g = divisor;
    for (const IndexForm::Term& t : rest.terms)
        g = std::gcd(g, t.coefficient);
    const std::int64_t low = floorDivide(rest.constant + laneLow, g);
    if (low == floorDivide(rest.constant + laneHigh, g)) {
        rest.constant = low * g;
        rest.lanes.clear();
        if (g > 1) {
            for (IndexForm::Term& t : rest.terms)
                t.coefficient /= g;
            rest.constant = low;
            divisor /= g;
        }
    }

    const IndexRange range = rangeOf(rest);
    const IndexRange quotientRange = range.isKnown()
                                         ? IndexRange{floorDivide(range.low, divisor), floorDivide(range.high, divisor)}
                                         : IndexRange{};
    const bool hoists = isUniform(rest) && levelOf(rest) != kInPlace;
    std::vector<std::int64_t> key{divisor, rest.constant};
    for (const IndexForm::Term& t : rest.terms)
        key.insert(key.end(), {t.atom, t.coefficient});
    const int level = hoists ? levelOf(rest) : kInPlace;
    if (hoists) {
        const auto& known = m_levels[static_cast<std::size_t>(level)].quotients;
        if (const auto found = known.find(key); found != known.end()) {
            parts.quotient = add(parts.quotient, IndexForm{0, {{found->second, 1}}, {}});
            return parts.quotient;
        }
    }
    const llvm::IRBuilderBase::InsertPointGuard saved(m_builder);
    if (hoists)
        m_builder.SetInsertPoint(m_levels[static_cast<std::size_t>(level)].hoistPoint);
    llvm::Value* x = materialize(rest, m_builder.getInt64Ty());
    llvm::Value* d = llvm::ConstantInt::get(x->getType(), static_cast<std::uint64_t>(divisor));
    llvm::Value* q = range.low >= 0 ? m_builder.CreateUDiv(x, d) : integerDivision(ExprKind::FloorDiv, x, d, true);
    const IndexForm atom = opaque(q, level, quotientRange);
    if (hoists && !atom.terms.empty())
        m_levels[static_cast<std::size_t>(level)].quotients.emplace(std::move(key), atom.terms.front().atom);
    return add(parts.quotient, atom);
}

llvm::Value* PhaseEmitter::termSum(std::int64_t baseKey, llvm::Value* base, const IndexForm& form, std::int64_t unit)
{
    std::vector<IndexForm::Term> terms;
    for (const IndexForm::Term& t : form.terms)
        if (!m_atoms[static_cast<std::size_t>(t.atom)].vector)
            terms.push_back(t);
    const auto levelOfTerm = [&](const IndexForm::Term& t) { return m_atoms[static_cast<std::size_t>(t.atom)].level; };
    std::stable_sort(terms.begin(), terms.end(), [&](const IndexForm::Term& a, const IndexForm::Term& b) {
        return levelOfTerm(a) < levelOfTerm(b);
    });

    llvm::Value* sum = base;
    std::vector<std::int64_t> key{baseKey};
    for (const IndexForm::Term& t : terms) {
        const int level = levelOfTerm(t);
        key.insert(key.end(), {t.atom, t.coefficient});
        Level* home = level == kInPlace ? nullptr : &m_levels[static_cast<std::size_t>(level)];
        if (home != nullptr) {
            if (const auto found = home->sums.find(key); found != home->sums.end()) {
                sum = found->second;
                continue;
            }
        }
        const llvm::IRBuilderBase::InsertPointGuard saved(m_builder);
        if (home != nullptr)
            m_builder.SetInsertPoint(home->hoistPoint);
        llvm::Value* term = m_atoms[static_cast<std::size_t>(t.atom)].value;
        if (const std::int64_t factor = t.coefficient * unit; factor != 1)
            term = m_builder.CreateNSWMul(term, m_builder.getInt64(static_cast<std::uint64_t>(factor)));
        if (base != nullptr)
            sum = m_builder.CreateGEP(m_builder.getInt8Ty(), sum, term);
        else
            sum = sum != nullptr ? m_builder.CreateNSWAdd(sum, term) : term;
        if (home != nullptr)
            home->sums.emplace(key, sum);
    }
    return sum;
}

llvm::Value* PhaseEmitter::scalarSum(const IndexForm& form)
{
    constexpr std::int64_t kIntegers = -1;
    llvm::Value* constant = m_builder.getInt64(static_cast<std::uint64_t>(form.constant));
    llvm::Value* sum = termSum(kIntegers, nullptr, form, 1);
    if (sum == nullptr)
        return constant;
    return form.constant == 0 ? sum : m_builder.CreateNSWAdd(sum, constant);
}

llvm::Value* PhaseEmitter::materialize(const IndexForm& form, llvm::Type* elementType)
{
    llvm::Value* scalar = scalarSum(form);
    if (elementType != scalar->getType())
        scalar = m_builder.CreateTrunc(scalar, elementType);
    if (isUniform(form))
        return scalar;
    llvm::Value* v = toLanes(scalar);
    if (!form.lanes.empty()) {
        std::vector<llvm::Constant*> lanes;
        for (const std::int64_t lane : form.lanes)
            lanes.push_back(llvm::ConstantInt::get(elementType, static_cast<std::uint64_t>(lane)));
        v = m_builder.CreateAdd(v, llvm::ConstantVector::get(lanes));
    }
    for (const IndexForm::Term& t : form.terms) {
        const Atom& atom = m_atoms[static_cast<std::size_t>(t.atom)];
        if (!atom.vector)
            continue;
        llvm::Value* part = m_builder.CreateTrunc(atom.value, v->getType());
        llvm::Value* factor = llvm::ConstantInt::get(v->getType(), static_cast<std::uint64_t>(t.coefficient));
        v = m_builder.CreateAdd(v, m_builder.CreateMul(part, factor));
    }
    return v;
}

llvm::Value* PhaseEmitter::foldComparison(ExprKind kind, const IndexForm& a, const IndexForm& b)
{
    const IndexForm difference = add(a, b, -1);
    // 1 or 0 where the sign of the difference decides, -1 where it does not.
    const auto decide = [&](const IndexRange& range) {
        const bool negative = range.high < 0;
        const bool positive = range.low > 0;
        const bool zero = range.low == 0 && range.high == 0;
        switch (kind) {
        case ExprKind::Eq: return zero ? 1 : negative || positive ? 0 : -1;
        case ExprKind::Ne: return zero ? 0 : negative || positive ? 1 : -1;
        case ExprKind::Lt: return negative ? 1 : range.low >= 0 ? 0 : -1;
        case ExprKind::Le: return range.high <= 0 ? 1 : positive ? 0 : -1;
        case ExprKind::Gt: return positive ? 1 : range.high <= 0 ? 0 : -1;
        default: return range.low >= 0 ? 1 : negative ? 0 : -1;
        }
    };
    const IndexRange all = rangeOf(difference);
    if (const int known = decide(all); known >= 0)
        return m_builder.getInt1(known == 1);
    if (!difference.lanes.empty()) {
        std::vector<llvm::Constant*> bits;
        for (const std::int64_t lane : difference.lanes) {
            const int known = decide(rangeOf({difference.constant + lane, difference.terms, {}}));
            if (known < 0)
                break;
            bits.push_back(m_builder.getInt1(known == 1));
        }
        if (bits.size() == difference.lanes.size())
            return llvm::ConstantVector::get(bits);
    }
    llvm::CmpInst::Predicate predicate = llvm::CmpInst::ICMP_SGE;
    switch (kind) {
    case ExprKind::Eq: predicate = llvm::CmpInst::ICMP_EQ; break;
    case ExprKind::Ne: predicate = llvm::CmpInst::ICMP_NE; break;
    case ExprKind::Lt: predicate = llvm::CmpInst::ICMP_SLT; break;
    case ExprKind::Le: predicate = llvm::CmpInst::ICMP_SLE; break;
    case ExprKind::Gt: predicate = llvm::CmpInst::ICMP_SGT; break;
    default: break;
    }
    constexpr std::int64_t kNarrow = std::int64_t{1} << 30;
    const bool narrow = all.low > -kNarrow && all.high < kNarrow;
    llvm::Type* type = narrow ? m_builder.getInt32Ty() : m_builder.getInt64Ty();
    llvm::Value* left = materialize(difference, type);
    return m_builder.CreateICmp(predicate, left, llvm::ConstantInt::get(left->getType(), 0));
}

} // namespace lathe::cpu
