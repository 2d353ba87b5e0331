#pragma once

#include "core/ir/expr.h"
#include "core/support/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace lathe::compute {

/// Attributes of an operation: strings, integers or lists of names, e.g. "layout_free_placeholders" = {"placeholder"},
/// "auto_scheduler_simplify_const_tensor_indices" = {"eps", "nu", "r_a", "r_b"}, "FLOP" = 123.
using AttrValue = std::variant<std::int64_t, std::string, std::vector<std::string>>;

enum class OpKind : std::uint8_t
{
    Placeholder,
    Compute
};

/// One operation (= one stage of a fresh State). Loads in `body` refer to positions in Dag::ops.
struct Op
{
    OpKind kind = OpKind::Compute;
    std::string name;
    std::string tag;
    std::map<std::string, AttrValue> attrs;
    DType dtype = DType::F32; ///< of output 0
    std::vector<std::int64_t> shape;
    std::vector<ir::Expr> axes; ///< spatial variables, one per dimension (compute only); range [0, shape[i])
    std::vector<ir::Expr> reduceAxes;
    std::vector<std::int64_t> reduceExtents; ///< ranges [0, extent)
    std::vector<ir::Expr> bodies; ///< one per output, almost always one; a Reduce only at the root
};

/// A compute DAG: immutable once built. `ops` is in stage order = print order (auto-scheduler.md 1.1): post-order from
/// the outputs, so every producer stands before its first consumer.
struct Dag
{
    std::vector<Op> ops;
    std::vector<std::int32_t> inputs; ///< placeholders in the order of first visit from the outputs
    std::vector<std::int32_t> outputs;
};

using DagPtr = std::shared_ptr<const Dag>;

/// Handle to an operation under construction.
struct Tensor
{
    std::int32_t id = -1;
};

/// Builds a DAG bottom up; the compute definitions of operators use it.
class DagBuilder
{
public:
    Tensor placeholder(std::string name, std::vector<std::int64_t> shape, DType dtype);
    /// body(axes) is called once with the new spatial variables (named axisNames, or i0.. if empty).
    Tensor compute(std::string name, std::vector<std::int64_t> shape, std::vector<std::string> axisNames,
                   std::string tag, const std::function<ir::Expr(const std::vector<ir::Expr>& axes)>& body);
    /// A reduction: body(axes, reduceAxes) gives the source value; the identity follows from combiner and dtype.
    Tensor reduce(
        std::string name, std::vector<std::int64_t> shape, std::vector<std::string> axisNames, std::string tag,
        ir::Combiner combiner, std::vector<std::pair<std::string, std::int64_t>> reduceAxes,
        const std::function<ir::Expr(const std::vector<ir::Expr>& axes, const std::vector<ir::Expr>& r)>& body);
    ir::Expr at(Tensor t, std::vector<ir::Expr> indices) const;
    const std::vector<std::int64_t>& shape(Tensor t) const;
    DType dtype(Tensor t) const;
    const std::string& name(Tensor t) const;
    bool isPlaceholder(Tensor t) const;
    void setAttr(Tensor t, std::string key, AttrValue value);

    /// Orders the operations, drops unreachable ones, checks index counts and names. Errors: Internal, with the
    /// operation. `inputs` receives the placeholders in the order of Dag::inputs (they share names, and unused ones are
    /// dropped).
    Result<DagPtr> finish(const std::vector<Tensor>& outputs, std::vector<Tensor>* inputs = nullptr) &&;

private:
    std::vector<Op> m_ops;
};

} // namespace lathe::compute
