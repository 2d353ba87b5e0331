#include "core/schedule/unroll_rules.h"

#include "core/ir/async_copy.h"
#include "core/ir/substitute.h"

#include <vector>

namespace lathe::schedule {

using ir::Expr;
using ir::ExprKind;
using ir::Scope;
using ir::Stmt;
using ir::StmtKind;

namespace {

// In LLVM's units: instructions.
constexpr double kWhole = 300, kWholeShared = 1000, kForBranch = 200, kMostThreshold = 2700;
constexpr int kDeepestShared = 2; ///< loops around which that of shared memory is unrolled whole more readily

constexpr std::int64_t kMostCopies = 16; ///< steps of a loop that fills shared memory
// Statements up to which a compiler is asked to repeat the body of a loop, and how often at most: enough to have
// several loads on their way and few instructions for the loop itself.
constexpr std::int64_t kRepeated = 256, kMostRepeats = 8, kMostRepeatsAtRunTime = 4;
// The same where each pass copies a tile ahead: what is counted along from tile to tile, and where the tiles begin, is
// made once for both.
constexpr std::int64_t kRepeatedOfTiles = 1024, kMostRepeatsOfTiles = 2;

} // namespace

std::int64_t tripsOf(const ir::StmtNode& loop)
{
    return loop.extent->kind == ExprKind::IntImm ? std::max<std::int64_t>(1, loop.extent->intValue) : 0;
}

bool isWritten(const ir::StmtNode& loop)
{
    return loop.loop == ir::LoopKind::Unrolled || loop.loop == ir::LoopKind::Vectorized;
}

bool holdsBranch(const Stmt& body)
{
    return holds(body, [](const ir::StmtNode& n) {
        bool isFound = n.kind == StmtKind::If;
        if (n.kind == StmtKind::Store)
            ir::visit(n.value, [&isFound](const Expr& e) { isFound = isFound || e->kind == ExprKind::IfThenElse; });
        return isFound;
    });
}

bool isCostly(const Expr& extent)
{
    bool isFound = false;
    ir::visit(extent,
              [&isFound](const Expr& e) { isFound = isFound || e->kind == ExprKind::Min || e->kind == ExprKind::Max; });
    return isFound;
}

double unrollThreshold(const ir::LoopNest& nest, const ir::StmtNode& loop, int depth,
                       const std::function<bool(const ir::StmtNode&)>& isWhole)
{
    double threshold = kWhole;
    const auto touches = [&](std::int32_t id, const std::vector<Expr>& indices) {
        const auto isMade = [&loop](const Expr& index) { return ir::uses(index, loop.variable); };
        if (depth <= kDeepestShared && nest.buffers[static_cast<std::size_t>(id)].scope == Scope::Shared
            && std::ranges::any_of(indices, isMade))
            threshold = std::max(threshold, kWholeShared);
    };
    const auto note = [&](const auto& self, const Stmt& s, double copies) -> void {
        if (!s)
            return;
        if (s->kind == StmtKind::For) {
            if (isWritten(*s) || isWhole(*s))
                self(self, s->body[0], copies * static_cast<double>(std::max<std::int64_t>(1, tripsOf(*s))));
            return;
        }
        if (s->kind == StmtKind::If && ir::uses(s->condition, loop.variable))
            threshold += kForBranch * copies;
        if (s->kind == StmtKind::Store) {
            touches(s->buffer, s->indices);
            ir::visit(s->value, [&](const Expr& e) {
                if (e->kind == ExprKind::Load)
                    touches(e->source, e->operands);
                if (e->kind == ExprKind::IfThenElse && ir::uses(e->operands[0], loop.variable))
                    threshold += kForBranch * copies;
            });
        }
        for (const Stmt& inner : s->body)
            self(self, inner, copies);
    };
    note(note, loop.body[0], 1);
    return std::min(threshold, kMostThreshold);
}

std::int64_t writtenStores(const Stmt& s)
{
    if (!s)
        return 0;
    std::int64_t inside = s->kind == StmtKind::Store || s->kind == StmtKind::AsyncCopy || s->kind == StmtKind::Shuffle
                              ? 1
                              : 0;
    for (const Stmt& inner : s->body)
        inside += writtenStores(inner);
    return s->kind == StmtKind::For && isWritten(*s) ? inside * std::max<std::int64_t>(1, s->extent->intValue) : inside;
}

bool isShortCopy(const ir::LoopNest& nest, const ir::StmtNode& loop)
{
    if (loop.extent->kind != ExprKind::IntImm || loop.extent->intValue > kMostCopies)
        return false;
    std::int64_t stores = 0;
    const auto copies = [&](const auto& self, const Stmt& inner) -> bool {
        switch (inner->kind) {
        case StmtKind::AsyncCopy:
        case StmtKind::Store:
            ++stores;
            return nest.buffers[static_cast<std::size_t>(inner->buffer)].scope == Scope::Shared;
        case StmtKind::Barrier:
        case StmtKind::Shuffle:
        case StmtKind::Evaluate: return false;
        default: return std::ranges::all_of(inner->body, [&](const Stmt& one) { return !one || self(self, one); });
        }
    };
    return std::ranges::all_of(loop.body, [&](const Stmt& one) { return !one || copies(copies, one); }) && stores > 0;
}

namespace {

/// writtenStores(), with what the compiler writes out of short copies; what copies or stores zeros is one.
std::int64_t storesOfTiles(const ir::LoopNest& nest, const Stmt& s)
{
    if (!s)
        return 0;
    if (s->kind == StmtKind::Store || ir::copyOrZero(*s).copy != nullptr)
        return 1;
    std::int64_t inside = s->kind == StmtKind::AsyncCopy || s->kind == StmtKind::Shuffle ? 1 : 0;
    for (const Stmt& inner : s->body)
        inside += storesOfTiles(nest, inner);
    const bool isRepeated = s->kind == StmtKind::For && (isWritten(*s) || isShortCopy(nest, *s));
    return isRepeated ? inside * std::max<std::int64_t>(1, s->extent->intValue) : inside;
}

} // namespace

std::int64_t repeatsOf(const ir::LoopNest& nest, const ir::StmtNode& loop)
{
    const bool isOfTiles = holds(loop.body[0], [](const ir::StmtNode& n) { return n.kind == StmtKind::AsyncWait; });
    const auto stays = [&](const ir::StmtNode& n) {
        if (isOfTiles)
            return n.kind == StmtKind::For && !isWritten(n) && !isShortCopy(nest, n);
        return n.kind == StmtKind::Barrier || (n.kind == StmtKind::For && !isWritten(n));
    };
    if (holds(loop.body[0], stays))
        return 1;
    const std::int64_t stores = isOfTiles ? storesOfTiles(nest, loop.body[0]) : writtenStores(loop.body[0]);
    const std::int64_t room = (isOfTiles ? kRepeatedOfTiles : kRepeated) / std::max<std::int64_t>(1, stores);
    if (loop.extent->kind != ExprKind::IntImm)
        return std::clamp<std::int64_t>(room, 1, isOfTiles ? 1 : kMostRepeatsAtRunTime);
    std::int64_t repeats = std::clamp<std::int64_t>(room, 1, isOfTiles ? kMostRepeatsOfTiles : kMostRepeats);
    while (loop.extent->intValue % repeats != 0)
        --repeats;
    return repeats;
}

} // namespace lathe::schedule
