#include "plugins/cpu/codegen/emitter.h"

#include <fmt/format.h>
#include <llvm/IR/InlineAsm.h>

#include <algorithm>
#include <bit>

namespace lathe::cpu {

using ir::ExprKind;
using ir::LoopKind;
using ir::StmtKind;

namespace {

constexpr std::int64_t kMaxStatements = 20000; ///< of one phase; unrolling beyond it is refused

using VariableSet = std::unordered_set<const ir::Node*>;

bool mentions(const ir::Expr& e, const VariableSet& variables)
{
    if (e.get() == nullptr)
        return false;
    if (e->kind == ExprKind::Var)
        return variables.contains(e.get());
    return std::any_of(e->operands.begin(), e->operands.end(),
                       [&](const ir::Expr& o) { return mentions(o, variables); });
}

bool anyMentions(const std::vector<ir::Expr>& list, const VariableSet& variables)
{
    return std::any_of(list.begin(), list.end(), [&](const ir::Expr& e) { return mentions(e, variables); });
}

bool loadsFrom(const ir::Expr& e, std::int32_t buffer)
{
    if (e.get() == nullptr)
        return false;
    if (e->kind == ExprKind::Load && e->source == buffer)
        return true;
    return std::any_of(e->operands.begin(), e->operands.end(), [&](const ir::Expr& o) { return loadsFrom(o, buffer); });
}

/// Lanes of one variable each do their own work: every store goes to another place, loops inside have one extent.
bool independentLanes(const ir::Stmt& stmt, VariableSet& varying)
{
    switch (stmt->kind) {
    case StmtKind::For:
        if (mentions(stmt->extent, varying))
            return false;
        if (mentions(stmt->min, varying))
            varying.insert(stmt->variable.get());
        break;
    case StmtKind::Store:
        if (!anyMentions(stmt->indices, varying)
            && (mentions(stmt->value, varying) || loadsFrom(stmt->value, stmt->buffer)))
            return false;
        break;
    case StmtKind::Evaluate:
    case StmtKind::Barrier:
    case StmtKind::AsyncCopy:
    case StmtKind::AsyncCommit:
    case StmtKind::AsyncWait:
    case StmtKind::Shuffle: return false;
    case StmtKind::Block:
    case StmtKind::If:
    case StmtKind::Prefetch: break;
    }
    return std::all_of(stmt->body.begin(), stmt->body.end(),
                       [&](const ir::Stmt& s) { return !s || independentLanes(s, varying); });
}

void widestData(const ir::Expr& e, std::int64_t& bytes)
{
    if (e.get() == nullptr)
        return;
    if (e->kind == ExprKind::Load) {
        bytes = std::max(bytes, sizeOf(e->dtype));
        return; // indices are not data
    }
    if (isFloat(e->dtype) || e->kind == ExprKind::Cast)
        bytes = std::max(bytes, std::max<std::int64_t>(sizeOf(e->dtype), isFloat(e->dtype) ? 4 : 1));
    for (const ir::Expr& operand : e->operands)
        widestData(operand, bytes);
}

void surveyLoop(const ir::Stmt& stmt, const std::vector<ir::Buffer>& buffers, std::int64_t& bytes, bool& hasLoop)
{
    if (!stmt)
        return;
    if (stmt->kind == StmtKind::Store) {
        bytes = std::max(bytes, sizeOf(buffers[static_cast<std::size_t>(stmt->buffer)].dtype));
        widestData(stmt->value, bytes);
    }
    if (stmt->kind == StmtKind::For && stmt->loop == LoopKind::Serial && !ir::isConst(stmt->extent, 1))
        hasLoop = true;
    for (const ir::Stmt& s : stmt->body)
        surveyLoop(s, buffers, bytes, hasLoop);
}

/// The loop adds up: nothing in it is stored at an index that depends on its variable.
bool isReduction(const ir::Stmt& stmt, VariableSet& varying)
{
    if (!stmt)
        return true;
    if (stmt->kind == StmtKind::Store && anyMentions(stmt->indices, varying))
        return false;
    return std::all_of(stmt->body.begin(), stmt->body.end(),
                       [&](const ir::Stmt& s) { return isReduction(s, varying); });
}

bool storesOnlyPrivately(const ir::Stmt& stmt, const std::vector<ir::Buffer>& buffers)
{
    if (!stmt)
        return true;
    if (stmt->kind == StmtKind::Store) {
        const ir::Scope scope = buffers[static_cast<std::size_t>(stmt->buffer)].scope;
        if (scope != ir::Scope::Part && scope != ir::Scope::Register)
            return false;
    }
    return std::all_of(stmt->body.begin(), stmt->body.end(),
                       [&](const ir::Stmt& s) { return storesOnlyPrivately(s, buffers); });
}

const char* nameOf(LoopKind kind)
{
    switch (kind) {
    case LoopKind::Serial: return "serial";
    case LoopKind::Parallel: return "parallel";
    case LoopKind::Vectorized: return "vectorized";
    case LoopKind::Unrolled: return "unrolled";
    case LoopKind::VThread: return "vthread";
    case LoopKind::BlockX: return "blockIdx.x";
    case LoopKind::BlockY: return "blockIdx.y";
    case LoopKind::BlockZ: return "blockIdx.z";
    case LoopKind::ThreadX: return "threadIdx.x";
    case LoopKind::ThreadY: return "threadIdx.y";
    case LoopKind::ThreadZ: return "threadIdx.z";
    case LoopKind::Tensorized: return "tensorized";
    }
    return "unknown";
}

} // namespace

void PhaseEmitter::emitPhaseBody(const ir::Stmt& stmt)
{
    if (!stmt)
        return;
    if (stmt->kind == StmtKind::Block) {
        for (const ir::Stmt& s : stmt->body)
            emitPhaseBody(s);
        return;
    }
    if (stmt->kind == StmtKind::For && stmt->loop == LoopKind::Parallel) {
        m_parallelAllowed = true;
        emitStmt(stmt);
        return;
    }
    // What no parallel loop divides is done once, by part 0; private scratch is prepared by each part for itself.
    if (storesOnlyPrivately(stmt, m_nest.buffers)) {
        emitStmt(stmt);
        return;
    }
    llvm::BasicBlock* once = llvm::BasicBlock::Create(m_context, "once", m_function);
    llvm::BasicBlock* after = llvm::BasicBlock::Create(m_context, "after", m_function);
    m_builder.CreateCondBr(m_builder.CreateICmpEQ(m_function->getArg(2), m_builder.getInt32(0)), once, after);
    m_builder.SetInsertPoint(once);
    emitStmt(stmt);
    m_builder.CreateBr(after);
    m_builder.SetInsertPoint(after);
}

void PhaseEmitter::emitStmt(const ir::Stmt& stmt)
{
    if (!stmt || failed())
        return;
    if (m_printed == nullptr) {
        emitUnlocated(stmt);
        return;
    }
    const llvm::DebugLoc outer = m_builder.getCurrentDebugLocation();
    locate(stmt);
    emitUnlocated(stmt);
    m_builder.SetCurrentDebugLocation(outer);
}

void PhaseEmitter::emitUnlocated(const ir::Stmt& stmt)
{
    switch (stmt->kind) {
    case StmtKind::Block:
        for (const ir::Stmt& s : stmt->body)
            emitStmt(s);
        return;
    case StmtKind::For: emitFor(*stmt); return;
    case StmtKind::If: emitIf(*stmt); return;
    case StmtKind::Store: emitStore(*stmt); return;
    case StmtKind::Prefetch: emitPrefetch(*stmt); return;
    case StmtKind::Evaluate:
        fail(Errc::Unsupported, fmt::format("the CPU back end has no tensor intrinsic '{}'",
                                            stmt->value ? stmt->value->name : std::string()));
        return;
    case StmtKind::Barrier:
        fail(Errc::Unsupported, "the CPU back end runs phases, which have no barriers inside");
        return;
    case StmtKind::AsyncCopy:
    case StmtKind::AsyncCommit:
    case StmtKind::AsyncWait:
        fail(Errc::Unsupported, "the CPU back end runs phases, which have no asynchronous copies");
        return;
    case StmtKind::Shuffle: fail(Errc::Unsupported, "the CPU back end runs phases, which have no warps"); return;
    }
}

void PhaseEmitter::emitFor(const ir::StmtNode& node)
{
    switch (node.loop) {
    case LoopKind::Parallel: emitParallel(node); return;
    case LoopKind::Serial: emitSerial(node); return;
    case LoopKind::Unrolled: emitUnrolled(node); return;
    case LoopKind::Vectorized:
        if (m_lanes > 1)
            emitUnrolled(node);
        else
            emitVectorized(node);
        return;
    case LoopKind::VThread:
    case LoopKind::BlockX:
    case LoopKind::BlockY:
    case LoopKind::BlockZ:
    case LoopKind::ThreadX:
    case LoopKind::ThreadY:
    case LoopKind::ThreadZ:
    case LoopKind::Tensorized:
        fail(Errc::Unsupported, fmt::format("the CPU back end has no {} loops", nameOf(node.loop)));
        return;
    }
}

void PhaseEmitter::emitCountedLoop(const ir::StmtNode& node, llvm::Value* begin, llvm::Value* end, const IndexForm& min,
                                   IndexRange range, std::int64_t knownTrips)
{
    // `knownTrips` 0: unknown, may be none. With an unroll hint one trip makes `step` iterations.
    const std::int64_t step = node.unrollHint > 1 && knownTrips >= node.unrollHint && node.loop == LoopKind::Serial
                                  ? node.unrollHint
                                  : 1;
    const std::int64_t trips = knownTrips / step;
    if (step > 1)
        end = m_builder.getInt64(static_cast<std::uint64_t>(trips));

    llvm::BasicBlock* header = llvm::BasicBlock::Create(m_context, "loop", m_function);
    llvm::BasicBlock* body = llvm::BasicBlock::Create(m_context, "body", m_function);
    llvm::BasicBlock* exit = llvm::BasicBlock::Create(m_context, "done", m_function);
    llvm::BasicBlock* before = m_builder.GetInsertBlock();
    if (knownTrips > 0)
        m_builder.CreateBr(header);
    else
        m_builder.CreateCondBr(m_builder.CreateICmpSLT(begin, end), header, exit);

    m_builder.SetInsertPoint(header);
    llvm::PHINode* counter = m_builder.CreatePHI(m_builder.getInt64Ty(), 2, node.variable->name);
    counter->addIncoming(begin, before);
    m_levels.push_back({m_builder.CreateBr(body), {}, {}});
    m_builder.SetInsertPoint(body);
    const auto atom = static_cast<std::int32_t>(m_atoms.size());
    m_atoms.push_back({counter, static_cast<int>(m_levels.size()) - 1, range, false});
    if (step > 1)
        m_atoms.back().range = {0, trips - 1};

    VariableSet varying{node.variable.get()};
    const bool separates = step > 1 && isReduction(node.body[0], varying);
    for (std::int64_t i = 0; i < step && !failed(); ++i) {
        IndexForm count;
        count.constant = i;
        count.terms.push_back({atom, step});
        m_variables[node.variable.get()] = add(min, count);
        emitStmt(node.body[0]);
        if (separates)
            separate();
    }

    llvm::Value* next = m_builder.CreateNSWAdd(counter, m_builder.getInt64(1));
    counter->addIncoming(next, m_builder.GetInsertBlock());
    m_builder.CreateCondBr(m_builder.CreateICmpSLT(next, end), header, exit);
    m_builder.SetInsertPoint(exit);
    m_levels.pop_back();

    for (std::int64_t i = trips * step; step > 1 && i < knownTrips && !failed(); ++i) {
        IndexForm count;
        count.constant = i;
        m_variables[node.variable.get()] = add(min, count);
        emitStmt(node.body[0]);
    }
    m_variables.erase(node.variable.get());
}

void PhaseEmitter::emitSerial(const ir::StmtNode& node)
{
    const IndexForm min = index(node.min);
    const IndexForm extent = index(node.extent);
    if (failed())
        return;
    if (!isUniform(extent)) {
        fail(Errc::Unsupported,
             fmt::format("the extent of loop '{}' differs between vector lanes", node.variable->name));
        return;
    }
    if (extent.isConstant() && extent.constant <= 0)
        return;
    if (extent.isConstant() && extent.constant == 1) {
        m_variables[node.variable.get()] = min;
        emitStmt(node.body[0]);
        m_variables.erase(node.variable.get());
        return;
    }
    IndexRange range{0, kUnknownRange};
    if (const IndexRange trips = rangeOf(extent); trips.isKnown())
        range.high = std::max<std::int64_t>(0, trips.high - 1);
    emitCountedLoop(node, m_builder.getInt64(0), scalarSum(extent), min, range,
                    extent.isConstant() ? extent.constant : 0);
}

void PhaseEmitter::emitParallel(const ir::StmtNode& node)
{
    if (!m_parallelAllowed) {
        fail(Errc::Unsupported, fmt::format("loop '{}' is parallel inside another loop", node.variable->name));
        return;
    }
    m_parallelAllowed = false;
    const IndexForm min = index(node.min);
    const IndexForm extent = index(node.extent);
    if (failed())
        return;
    llvm::Type* i64 = m_builder.getInt64Ty();
    llvm::Value* total = scalarSum(extent);
    llvm::Value* part = m_builder.CreateZExt(m_function->getArg(2), i64);
    llvm::Value* parts = m_builder.CreateZExt(m_function->getArg(3), i64);
    llvm::Value* begin = m_builder.CreateUDiv(m_builder.CreateMul(total, part), parts);
    llvm::Value* end = m_builder.CreateUDiv(
        m_builder.CreateMul(total, m_builder.CreateAdd(part, m_builder.getInt64(1))), parts);
    IndexRange range{0, kUnknownRange};
    if (const IndexRange trips = rangeOf(extent); trips.isKnown())
        range.high = std::max<std::int64_t>(0, trips.high - 1);
    emitCountedLoop(node, begin, end, min, range, 0);
}

void PhaseEmitter::emitUnrolled(const ir::StmtNode& node)
{
    const IndexForm min = index(node.min);
    const IndexForm extent = index(node.extent);
    if (failed())
        return;
    if (!extent.isConstant()) {
        fail(Errc::Unsupported,
             fmt::format("the {} loop '{}' has no constant extent", nameOf(node.loop), node.variable->name));
        return;
    }
    VariableSet varying{node.variable.get()};
    const bool separates = isReduction(node.body[0], varying);
    for (std::int64_t i = 0; i < extent.constant && !failed(); ++i) {
        IndexForm iteration = min;
        iteration.constant += i;
        m_variables[node.variable.get()] = iteration;
        emitStmt(node.body[0]);
        if (separates)
            separate();
    }
    m_variables.erase(node.variable.get());
}

bool PhaseEmitter::canVectorize(const ir::StmtNode& loop) const
{
    VariableSet varying{loop.variable.get()};
    return independentLanes(loop.body[0], varying);
}

int PhaseEmitter::lanesFor(const ir::StmtNode& loop) const
{
    std::int64_t bytes = 1;
    bool hasLoop = false;
    surveyLoop(loop.body[0], m_nest.buffers, bytes, hasLoop);
    const std::int64_t lanes = std::max<std::int64_t>(1, m_target.vectorBytes / bytes);
    // A loop inside runs once for all chunks of a wide vector, which then takes several registers.
    return static_cast<int>(hasLoop ? lanes * 4 : lanes);
}

void PhaseEmitter::emitVectorized(const ir::StmtNode& node)
{
    const IndexForm min = index(node.min);
    const IndexForm extent = index(node.extent);
    if (failed())
        return;
    if (!extent.isConstant()) {
        fail(Errc::Unsupported, fmt::format("the vectorized loop '{}' has no constant extent", node.variable->name));
        return;
    }
    if (!canVectorize(node)) {
        constexpr std::int64_t kShort = 64;
        if (extent.constant <= kShort)
            emitUnrolled(node);
        else
            emitSerial(node);
        return;
    }
    const auto widest = static_cast<std::uint64_t>(lanesFor(node));
    for (std::int64_t at = 0; at < extent.constant && !failed();) {
        const std::uint64_t left = static_cast<std::uint64_t>(extent.constant - at);
        const auto lanes = static_cast<std::int64_t>(std::min(std::bit_floor(left), widest));
        IndexForm chunk = min;
        chunk.constant += at;
        if (lanes > 1) {
            IndexForm steps;
            for (std::int64_t i = 0; i < lanes; ++i)
                steps.lanes.push_back(i);
            chunk = add(chunk, steps);
        }
        m_lanes = static_cast<int>(lanes);
        m_variables[node.variable.get()] = chunk;
        emitStmt(node.body[0]);
        m_lanes = 1;
        at += lanes;
    }
    m_variables.erase(node.variable.get());
}

void PhaseEmitter::emitIf(const ir::StmtNode& node)
{
    llvm::Value* condition = value(node.condition);
    if (failed())
        return;
    const bool hasElse = node.body.size() > 1 && node.body[1];
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
        if (!constant->isZero())
            emitStmt(node.body[0]);
        else if (hasElse)
            emitStmt(node.body[1]);
        return;
    }
    if (condition->getType()->isVectorTy()) {
        const Guard outer = m_guard;
        m_guard.lanes = outer.lanes != nullptr ? m_builder.CreateAnd(outer.lanes, condition) : condition;
        emitStmt(node.body[0]);
        if (hasElse) {
            llvm::Value* opposite = m_builder.CreateNot(condition);
            m_guard.lanes = outer.lanes != nullptr ? m_builder.CreateAnd(outer.lanes, opposite) : opposite;
            emitStmt(node.body[1]);
        }
        m_guard = outer;
        return;
    }
    llvm::BasicBlock* thenBlock = llvm::BasicBlock::Create(m_context, "then", m_function);
    llvm::BasicBlock* elseBlock = hasElse ? llvm::BasicBlock::Create(m_context, "else", m_function) : nullptr;
    llvm::BasicBlock* join = llvm::BasicBlock::Create(m_context, "join", m_function);
    m_builder.CreateCondBr(condition, thenBlock, hasElse ? elseBlock : join);
    m_builder.SetInsertPoint(thenBlock);
    emitStmt(node.body[0]);
    m_builder.CreateBr(join);
    if (hasElse) {
        m_builder.SetInsertPoint(elseBlock);
        emitStmt(node.body[1]);
        m_builder.CreateBr(join);
    }
    m_builder.SetInsertPoint(join);
}

void PhaseEmitter::emitStore(const ir::StmtNode& node)
{
    if (++m_statements > kMaxStatements) {
        fail(Errc::BuildFailed, fmt::format("unrolling yields more than {} statements", kMaxStatements));
        return;
    }
    llvm::Value* v = value(node.value);
    if (failed())
        return;
    const DType dtype = m_nest.buffers[static_cast<std::size_t>(node.buffer)].dtype;
    v = convert(v, node.value->dtype, dtype);
    store(node.buffer, offsetOf(node.buffer, node.indices), v);
}

void PhaseEmitter::emitPrefetch(const ir::StmtNode& node)
{
    ++m_statements;
    const IndexForm offset = offsetOf(node.buffer, node.indices);
    if (failed())
        return;
    std::int64_t stride = 0;
    if (!offset.laneStride(stride) || stride < 0 || !isUniform({offset.constant, offset.terms, {}}))
        return; // a hint: where lanes scatter it is dropped
    const std::int64_t span = stride * (m_lanes - 1)
                              * sizeOf(m_nest.buffers[static_cast<std::size_t>(node.buffer)].dtype);
    const std::int64_t first = offset.lanes.empty() ? 0 : offset.lanes.front();
    IndexForm line{offset.constant + first, offset.terms, {}};
    const std::int64_t elementsPerLine = kLine / sizeOf(m_nest.buffers[static_cast<std::size_t>(node.buffer)].dtype);
    for (std::int64_t at = 0; at <= span; at += kLine) {
        const Access target = access(node.buffer, line, 0);
        m_builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {m_builder.getPtrTy()},
                                  {target.pointer, m_builder.getInt32(0),
                                   m_builder.getInt32(static_cast<std::uint32_t>(std::clamp(node.locality, 0, 3))),
                                   m_builder.getInt32(1)});
        line.constant += elementsPerLine;
    }
}

void PhaseEmitter::separate()
{
    auto* type = llvm::FunctionType::get(m_builder.getVoidTy(), false);
    m_builder.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", true));
}

} // namespace lathe::cpu
