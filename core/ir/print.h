#pragma once

#include "core/ir/loop_nest.h"

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace lathe::ir {

/// How an expression is spelled. The defaults are the loop nests' own; a compute DAG's text sets both
/// (auto-scheduler.md 1.4).
struct PrintOptions
{
    /// Name of what a Load reads; default "b<source>".
    std::function<std::string(std::int32_t source, std::int32_t output)> sourceName;
    std::string callPrefix; ///< before intrinsics, "tir." in compute DAGs (tir.exp, tir.if_then_else)
};

/// `(a + b)`, `floordiv(a, b)`, `select(c, t, f)`, `float32(x)`, `name[i, j]`; int32 literals bare, 0.5f, (bool)1.
std::string print(const Expr& e, const PrintOptions& options);

/// A loop nest's text with what stands where.
struct PrintedNest
{
    std::string text; ///< as print() gives it
    std::unordered_map<const StmtNode*, std::int32_t> lines; ///< by statement, from 0; blocks have none
    /// By line: how often its statement runs, which is the product of the extents around it. Loops whose extent is no
    /// constant count once; lines that are no statement have 0.
    std::vector<double> runs;
    std::vector<bool> stores; ///< by line: it is a Store
};
/// Every statement must be in one place only, as in what withOwnStatements() returns: else its last line counts.
PrintedNest printWithLines(const LoopNest& nest);
/// The same nest in which no statement is shared.
LoopNest withOwnStatements(const LoopNest& nest);

std::string toString(LoopKind kind); ///< "for", "parallel", "vectorize", "unroll", "blockIdx.x" ...
std::string toString(Scope scope); ///< "parameter", "team", ...

} // namespace lathe::ir
