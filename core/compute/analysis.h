#pragma once

#include "core/compute/dag.h"

#include <cstdint>
#include <span>
#include <vector>

namespace lathe::compute {

/// All reads that one operation makes of one producer.
struct Reads
{
    std::int32_t producer = -1;
    std::vector<std::vector<ir::Expr>> indices; ///< one entry per load, in order of appearance
};

/// What the schedule rules ask about one operation (auto-scheduler.md 1.2).
struct OpAccess
{
    std::vector<Reads> reads; ///< by producer, in order of first appearance in the body
    std::vector<std::int32_t> consumers; ///< operations that read it, ascending
    bool isOutput = false; ///< nothing reads it
    bool hasReduce = false;
    bool hasBranch = false; ///< select or if_then_else in the body
    bool hasExpensiveOp = false; ///< a call to exp
    bool simpleAccess = false; ///< every index is an integer constant or a const-shift of a spatial axis
    bool strictlyInlineable = false;
    bool needsMultiLevelTiling = false;
};

/// Flags of one read whose indices are all constants or const-shifts.
struct SimpleRead
{
    bool simple = false;
    bool axisMissing = false; ///< some spatial axis is not used
    bool axisDuplicated = false;
    bool sameOrder = true; ///< axes appear in increasing order
};

/// The axis a const-shift index moves with: position in `axes`, or -1 (`var`, `var + c`, `c + var`, `var - c`).
std::int32_t constShiftAxis(const ir::Expr& index, const std::vector<ir::Expr>& axes);
SimpleRead classifyRead(const Op& op, const std::vector<ir::Expr>& indices);

/// Access relations of a DAG, computed once. Keeps the DAG alive.
class Analysis
{
public:
    explicit Analysis(DagPtr dag);

    const Dag& dag() const { return *m_dag; }
    const OpAccess& op(std::int32_t index) const { return m_ops[static_cast<std::size_t>(index)]; }

    /// Positions of the producers that the operation reads, in order of first appearance.
    std::vector<std::int32_t> producers(std::int32_t index) const;
    const std::vector<std::int32_t>& consumers(std::int32_t index) const { return op(index).consumers; }

    /// Number of outer dimensions in which `producer` and `consumer` (reachable from it) walk together; 0 if
    /// unreachable.
    std::int32_t commonOuterIterators(std::int32_t producer, std::int32_t consumer) const;
    /// True when following single-consumer edges from `op` reaches `target` and every hop is elementwise.
    bool elementwiseMatch(std::int32_t op, std::int32_t target) const;
    /// Placeholders read by `op` whose memory layout the schedule may choose: constants of its own (auto-scheduler.md
    /// 11).
    std::vector<std::int32_t> layoutFreePlaceholders(std::int32_t op) const;

private:
    DagPtr m_dag;
    std::vector<OpAccess> m_ops;
};

/// The integer constants and string lists of attributes; defaults when absent.
std::vector<std::string> attrNames(const Op& op, const std::string& key);
std::int64_t attrInteger(const Op& op, const std::string& key, std::int64_t fallback);

/// Product of the spatial extents, of the reduce extents (1 if none).
std::int64_t spatialSize(const Op& op);
std::int64_t reduceSize(const Op& op);
/// The dimensions of a shape of more than one element: equal for shapes that reshapes lead to by adding or dropping
/// ones.
std::vector<std::int64_t> realDimensions(std::span<const std::int64_t> shape);

} // namespace lathe::compute
