#include "core/ir/async_copy.h"

#include "core/ir/linear_form.h"
#include "core/ir/simplify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe::ir {

namespace {

const StmtNode* onlyStatement(const Stmt& s)
{
    const StmtNode* one = s.get();
    while (one != nullptr && one->kind == StmtKind::Block)
        one = one->body.size() == 1 ? one->body[0].get() : nullptr;
    return one;
}

bool isZero(const Expr& e)
{
    return (e->kind == ExprKind::FloatImm && e->floatValue == 0 && !std::signbit(e->floatValue))
           || (e->kind == ExprKind::IntImm && e->intValue == 0);
}

/// Whether `s` stores zeros to all elements that `copy` copies to, and nothing else.
bool storesZerosOf(const StmtNode& s, const StmtNode& copy)
{
    const bool isOfLanes = copy.count > 1;
    if (isOfLanes
        && (s.kind != StmtKind::For || s.loop != LoopKind::Vectorized || s.min->kind != ExprKind::IntImm
            || s.min->intValue != 0 || s.extent->kind != ExprKind::IntImm || s.extent->intValue != copy.count))
        return false;
    const StmtNode* const store = isOfLanes ? onlyStatement(s.body[0]) : &s;
    if (store == nullptr || store->kind != StmtKind::Store || store->buffer != copy.buffer || !isZero(store->value)
        || store->indices.size() != copy.indices.size())
        return false;
    const Ranges none;
    for (std::size_t i = 0; i < copy.indices.size(); ++i) {
        const bool isLast = i + 1 == copy.indices.size();
        const Expr of = isOfLanes && isLast ? copy.indices[i] + s.variable : copy.indices[i];
        if (!isZero(simplify(store->indices[i] - of, none)))
            return false;
    }
    return true;
}

} // namespace

CopyOrZero copyOrZero(const StmtNode& branch)
{
    if (branch.kind != StmtKind::If || branch.body.size() != 2)
        return {};
    // Places that are read from memory are there only where the condition holds.
    const auto isOfData = [](const Expr& index) { return holdsData(index); };
    for (const std::size_t side : {0, 1}) {
        const StmtNode* const copy = onlyStatement(branch.body[side]);
        const StmtNode* const other = onlyStatement(branch.body[1 - side]);
        if (copy != nullptr && other != nullptr && copy->kind == StmtKind::AsyncCopy && storesZerosOf(*other, *copy)
            && std::ranges::none_of(copy->indices, isOfData) && std::ranges::none_of(copy->value->operands, isOfData))
            return {copy, side == 0};
    }
    return {};
}

Stmt makeAsyncCopy(std::int32_t buffer, std::vector<Expr> indices, Expr source, std::int32_t count)
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::AsyncCopy;
    s->buffer = buffer;
    s->indices = std::move(indices);
    s->value = std::move(source);
    s->count = count;
    return s;
}

Stmt makeAsyncCommit()
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::AsyncCommit;
    return s;
}

Stmt makeAsyncWait(std::int32_t groups)
{
    auto s = std::make_shared<StmtNode>();
    s->kind = StmtKind::AsyncWait;
    s->count = groups;
    return s;
}

Stmt synchronously(const LoopNest& nest, const StmtNode& copy)
{
    if (copy.count == 1)
        return makeStore(copy.buffer, copy.indices, copy.value);
    const Expr lane = var("lane");
    std::vector<Expr> to = copy.indices, from = copy.value->operands;
    to.back() = to.back() + lane;
    from.back() = from.back() + lane;
    const DType dtype = nest.buffers[static_cast<std::size_t>(copy.buffer)].dtype;
    return makeFor(lane, 0, copy.count, LoopKind::Vectorized,
                   makeStore(copy.buffer, std::move(to), load(copy.value->source, dtype, std::move(from))));
}

std::string problemOfCopy(const LoopNest& nest, const StmtNode& s)
{
    if (s.kind == StmtKind::AsyncWait && s.count < 0)
        return "it waits for fewer groups of copies than none";
    if (s.kind != StmtKind::AsyncCopy)
        return {};
    if (s.value.get() == nullptr || s.value->kind != ExprKind::Load || s.count < 1)
        return "an asynchronous copy is of no elements of a buffer";
    const Buffer& to = nest.buffers[static_cast<std::size_t>(s.buffer)];
    const Buffer& from = nest.buffers[static_cast<std::size_t>(s.value->source)];
    if (to.scope != Scope::Shared || (from.scope != Scope::Parameter && from.scope != Scope::Team))
        return fmt::format("an asynchronous copy goes from {} to {}, not from global to shared memory", from.name,
                           to.name);
    if (to.dtype != from.dtype || !isCopied(s.count * sizeOf(to.dtype)))
        return fmt::format("an asynchronous copy from {} to {} is of {} elements of {}, not of 4, 8 or 16 bytes",
                           from.name, to.name, s.count, lathe::toString(to.dtype));
    const auto liesTogether = [](const Buffer& buffer) {
        return !buffer.strides.empty() && buffer.strides.back() == 1;
    };
    if (s.count > 1 && !(liesTogether(to) && liesTogether(from)))
        return fmt::format("an asynchronous copy from {} to {} is of elements that lie apart", from.name, to.name);
    return {};
}

} // namespace lathe::ir
