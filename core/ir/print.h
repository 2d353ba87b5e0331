#pragma once

#include "core/ir/loop_nest.h"

#include <functional>
#include <string>

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

std::string toString(LoopKind kind); ///< "for", "parallel", "vectorize", "unroll", "blockIdx.x" ...
std::string toString(Scope scope); ///< "parameter", "team", ...

} // namespace lathe::ir
