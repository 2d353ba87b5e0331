#include "core/ir/async_copy.h"

#include <fmt/format.h>

namespace lathe::ir {

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
