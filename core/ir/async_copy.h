#pragma once

#include "core/ir/loop_nest.h"

#include <string>

// Copies that a thread of a launch starts and does not wait for, as GPUs have them from global to shared memory. The
// thread puts those that it has started since the last time into a group (AsyncCommit); once it has waited until no
// more than so many of its groups are on their way (AsyncWait), older ones have arrived, for itself. Others see them
// behind the next barrier. Until then nobody may come to the elements.

namespace lathe::ir {

/// To `count` elements from `indices` of a Shared buffer on, along its last dimension, from as many from those of
/// `source` on, a load of a parameter or of Team scratch of the same type, along its last dimension: 4, 8 or 16 bytes,
/// beginning at multiples of as many in both.
Stmt makeAsyncCopy(std::int32_t buffer, std::vector<Expr> indices, Expr source, std::int32_t count);
Stmt makeAsyncCommit();
Stmt makeAsyncWait(std::int32_t groups);

constexpr bool isAsynchronous(StmtKind kind)
{
    return kind >= StmtKind::AsyncCopy && kind <= StmtKind::AsyncWait;
}

/// What copies so many bytes at once.
constexpr bool isCopied(std::int64_t bytes)
{
    return bytes == 4 || bytes == 8 || bytes == 16;
}

/// A branch of which one side copies and the other stores zeros to the same elements: devices do both in one step, and
/// come to no element where the condition does not hold.
struct CopyOrZero
{
    const StmtNode* copy = nullptr; ///< of the branch, which outlives this; null: it is no such branch
    bool isWhereItHolds = true; ///< that it copies; false: where the condition does not hold
};
CopyOrZero copyOrZero(const StmtNode& branch);

/// The same copy by the thread itself, at once: a store, or a loop over lanes.
Stmt synchronously(const LoopNest& nest, const StmtNode& copy);

/// What makes a statement of these kinds none that a device could run; empty: nothing. Alignment is not looked at.
std::string problemOfCopy(const LoopNest& nest, const StmtNode& statement);

} // namespace lathe::ir
