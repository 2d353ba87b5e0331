#pragma once

#include "core/ir/loop_nest.h"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace lathe::schedule {

// Which loops a compiler for GPUs unrolls, as far as their bodies tell: LLVM's rules (AMDGPUTargetTransformInfo.cpp,
// LoopUnrollPass.cpp), for register_model.h.

/// Iterations; 0: they are known only when the kernel runs.
std::int64_t tripsOf(const ir::StmtNode& loop);

/// A loop that our own printers write out, or as vectors.
bool isWritten(const ir::StmtNode& loop);

/// Whether a statement, or one within it, is such a one.
template<class Predicate>
bool holds(const ir::Stmt& s, const Predicate& is)
{
    return s && (is(*s) || std::ranges::any_of(s->body, [&is](const ir::Stmt& inner) { return holds(inner, is); }));
}

/// A branch, or a choice between values, which compilers make of one.
bool holdsBranch(const ir::Stmt& body);

/// Whether the trips of a loop take a minimum or a maximum to compute.
bool isCostly(const ir::Expr& extent);

/// Instructions up to which a loop is unrolled whole: more where that makes addresses in shared memory constant or
/// decides conditions.
/// @param depth  loops that stay around it, and itself
/// @param isWhole  whether a loop within it is unrolled whole
double unrollThreshold(const ir::LoopNest& nest, const ir::StmtNode& loop, int depth,
                       const std::function<bool(const ir::StmtNode&)>& isWhole);

// What printed texts ask of a compiler that does as it is told (CUDA's).

/// Whether all that a loop of few steps does is to store to the block's memory: unrolled, all that is loaded is on its
/// way before the first of it is stored.
bool isShortCopy(const ir::LoopNest& nest, const ir::StmtNode& loop);

/// How often the body of a loop that stays one is repeated: several times only in innermost loops of few statements,
/// twice in those that copy a tile ahead in each pass.
std::int64_t repeatsOf(const ir::LoopNest& nest, const ir::StmtNode& loop);

/// Stores that a statement comes to where what our printers write out is written out.
std::int64_t writtenStores(const ir::Stmt& s);

} // namespace lathe::schedule
