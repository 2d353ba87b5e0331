#include "core/ir/scratch.h"

#include "core/ir/substitute.h"

#include <set>

namespace lathe::ir {

namespace {

void findBuffers(const Stmt& s, std::set<std::int32_t>& used)
{
    if (!s)
        return;
    if (s->kind == StmtKind::Store || s->kind == StmtKind::AsyncCopy || s->kind == StmtKind::Shuffle)
        used.insert(s->buffer);
    visitExprs(s, [&used](const Expr& e) {
        visit(e, [&used](const Expr& inner) {
            if (inner->kind == ExprKind::Load)
                used.insert(inner->source);
        });
    });
    for (const Stmt& inner : s->body)
        findBuffers(inner, used);
}

} // namespace

std::vector<std::int32_t> buffersOf(const Stmt& s)
{
    std::set<std::int32_t> used;
    findBuffers(s, used);
    return {used.begin(), used.end()};
}

std::int64_t sharedBytes(const LoopNest& nest, const Launch& launch)
{
    std::int64_t bytes = 0;
    for (const std::int32_t id : buffersOf(launch.body))
        if (const Buffer& buffer = nest.buffers[static_cast<std::size_t>(id)]; buffer.scope == Scope::Shared)
            bytes += (elementCount(buffer) * sizeOf(buffer.dtype) + 15) / 16 * 16;
    return bytes;
}

std::int64_t elementCount(const Buffer& buffer)
{
    std::int64_t last = 0;
    for (std::size_t d = 0; d < buffer.shape.size(); ++d)
        last += (buffer.shape[d] - 1) * buffer.strides[d];
    return last + 1;
}

ScratchLayout scratchLayout(const LoopNest& nest)
{
    constexpr std::int64_t kLine = 64;
    ScratchLayout layout;
    for (const Buffer& buffer : nest.buffers) {
        std::int64_t* total = buffer.scope == Scope::Team   ? &layout.teamBytes
                              : buffer.scope == Scope::Part ? &layout.partBytes
                                                            : nullptr;
        layout.offsets.push_back(total != nullptr ? *total : -1);
        if (total != nullptr)
            *total += (elementCount(buffer) * sizeOf(buffer.dtype) + kLine - 1) / kLine * kLine;
    }
    return layout;
}

} // namespace lathe::ir
