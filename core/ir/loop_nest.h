#pragma once

#include "core/ir/expr.h"

#include <array>
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
    VThread, ///< not in a nest that was lowered: part of each thread's own work by then
    BlockX, ///< this one and those below: not in a nest that was lowered, where a Launch has them as axes
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
    Part, ///< scratch of one part, lives within one phase; of a thread in launches, until their lowering ends
    Register, ///< must become registers: every index is constant once Unrolled and Vectorized loops are emitted
    Shared, ///< of the threads of one block of a launch
    Local ///< of one thread of a launch
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
    Evaluate, ///< value is a Call with an effect (tensor intrinsics)
    Barrier, ///< all threads of a block come here before any goes on; each of them does
    AsyncCopy, ///< buffer, indices, value, count: as async_copy.h has it
    AsyncCommit, ///< closes the thread's group of copies
    AsyncWait, ///< count
    Shuffle ///< buffer, indices: of a thread's own; they become what `value` is in the lane of the same warp whose
            ///< number differs in the bit `distance`. All lanes of the warp come here together, and none but they do at
            ///< once
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
    std::int32_t count = 1; ///< AsyncCopy: elements. AsyncWait: groups that may still be on their way
    /// Shuffle: threads whose numbers (x + block x * (y + block y * z)) have the same quotient by `warp` are a warp,
    /// the rest of it is the lane. Both are powers of two, distance < warp. The text is right where a device has warps
    /// of just so many lanes.
    std::int32_t warp = 0, distance = 0;
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
Stmt makeBarrier();
Stmt makeShuffle(std::int32_t buffer, std::vector<Expr> indices, Expr value, std::int32_t distance, std::int32_t warp);

/// What a GPU starts at once: grid[0] * grid[1] * grid[2] blocks of block[0] * block[1] * block[2] threads each, every
/// one of which runs the body.
struct Launch
{
    std::string name; ///< of the stage at root that it computes
    std::array<std::int64_t, 3> grid = {1, 1, 1}; ///< x, y, z
    std::array<std::int64_t, 3> block = {1, 1, 1};
    std::array<Expr, 3> blockIndex; ///< variables; that of an axis d lies in [0, grid[d])
    std::array<Expr, 3> threadIndex; ///< in [0, block[d])
    std::int32_t leastBlocks = 0; ///< that a core is to have room for at a time; 0: the compiler chooses
    Stmt body;
};

/// One kernel, in one of two forms. Phases (processors) run in order with a barrier between; all parts run every phase.
/// Launches (GPUs) run in order, each sees all that those before it have written. A nest has one of the two.
struct LoopNest
{
    std::string name;
    std::vector<Buffer> buffers; ///< Load/Store indices refer here
    std::vector<std::int32_t> parameters; ///< buffers with Scope::Parameter, in the order of LatheArgs::tensors
    std::vector<Stmt> phases;
    std::vector<Launch> launches;
};

/// The phases, or the bodies of the launches.
std::vector<Stmt*> bodiesOf(LoopNest& nest);
std::vector<const Stmt*> bodiesOf(const LoopNest& nest);

/// Stable text, one node a line, for goldens and the window.
std::string print(const LoopNest& nest);
std::string print(const Expr& e);
/// The first line of a statement of the nest, as print(nest) has it but for the numbers that tell equal names apart.
std::string firstLine(const LoopNest& nest, const StmtNode& statement);

} // namespace lathe::ir
