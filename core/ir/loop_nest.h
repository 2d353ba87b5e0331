#pragma once

#include "core/ir/expr.h"

#include <memory>
#include <string>
#include <vector>

namespace lathe::ir {

/// What a kernel does, as loops over physical buffers: the contract between schedule (which lowers a State to it),
/// the nest interpreter, and the codegen halves. A back end may refuse a kind, by name.
enum class LoopKind : std::uint8_t
{
    Serial,
    Parallel, ///< only outermost in a phase: its iterations are divided among `parts`
    Vectorized, ///< constant extent; the body is emitted on vectors of that many lanes, where an If of it differs
                ///< between lanes under a mask
    Unrolled, ///< constant extent; the body is emitted once per iteration with the variable as a constant
    VThread,
    BlockX,
    BlockY,
    BlockZ,
    ThreadX,
    ThreadY,
    ThreadZ,
    Tensorized
};

enum class Scope : std::uint8_t
{
    Parameter, ///< a kernel argument
    Team, ///< scratch shared by all parts, lives across phases
    Part, ///< scratch of one part, lives within one phase
    Register, ///< must become registers: every index is constant once Unrolled and Vectorized loops are emitted
    Shared, ///< GPU: of a thread block
    Local ///< GPU: of a thread
};

/// A dense physical buffer, row-major over `shape` with `strides` in elements (padded strides are larger than dense).
struct Buffer
{
    std::string name;
    DType dtype = DType::F32;
    Scope scope = Scope::Parameter;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    bool readOnly = false;
    bool constant = false; ///< a weight: same contents at every call
};

enum class StmtKind : std::uint8_t
{
    For, ///< variable, min, extent, loop, body[0]
    Store, ///< buffer, indices, value
    Block, ///< body in order
    If, ///< condition, body[0], optionally body[1]
    Prefetch, ///< buffer, indices: a hint, may point outside the buffer; `locality` 3 = to L1
    Evaluate ///< value is a Call with an effect (tensor intrinsics)
};

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;

struct StmtNode
{
    StmtKind kind = StmtKind::Block;
    LoopKind loop = LoopKind::Serial;
    std::int32_t buffer = -1;
    std::int32_t locality = 3;
    /// For: after an enclosing Unrolled emission a Serial loop with this > 1 is unrolled by that many
    /// (llvm.loop.unroll.count).
    std::int32_t unrollHint = 0;
    Expr variable;
    Expr min;
    Expr extent;
    Expr value;
    Expr condition;
    std::vector<Expr> indices; ///< one per physical dimension of the buffer
    std::vector<Stmt> body;
};

Stmt makeFor(Expr variable, Expr min, Expr extent, LoopKind kind, Stmt body);
Stmt makeStore(std::int32_t buffer, std::vector<Expr> indices, Expr value);
Stmt makeBlock(std::vector<Stmt> body); ///< flattens nested blocks, drops empty ones
Stmt makeIf(Expr condition, Stmt thenBody, Stmt elseBody = nullptr);
Stmt makePrefetch(std::int32_t buffer, std::vector<Expr> indices, std::int32_t locality = 3);

/// One kernel: phases run in order with a barrier between; all parts run every phase.
struct LoopNest
{
    std::string name;
    std::vector<Buffer> buffers; ///< Load/Store indices refer here
    std::vector<std::int32_t> parameters; ///< buffers with Scope::Parameter, in the order of LatheArgs::tensors
    std::vector<Stmt> phases;
};

/// Stable text, one node a line, for goldens and the window.
std::string print(const LoopNest& nest);
std::string print(const Expr& e);

} // namespace lathe::ir
