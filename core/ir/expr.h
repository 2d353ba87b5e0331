#pragma once

#include "core/runtime/dtype.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lathe::ir {

/// Expressions of compute definitions and loop nests alike. Nodes are immutable and shared behind the value type Expr;
/// passes return new trees. Index arithmetic is I32 (I64 where a buffer needs it), integers divide by floor.
enum class ExprKind : std::uint8_t
{
    IntImm, ///< integers and bool; dtype tells
    FloatImm,
    Var,
    Add,
    Sub,
    Mul,
    Div, ///< of floats; integers use FloorDiv
    FloorDiv,
    FloorMod,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
    Not,
    Select, ///< operands: condition, ifTrue, ifFalse; both sides may be evaluated
    IfThenElse, ///< same operands; the side not taken is not evaluated (guards a load out of bounds)
    Cast, ///< to `dtype`
    Call, ///< pure intrinsic `name`: exp, log, sqrt, rsqrt, tanh, erf, sigmoid, pow, floor, ceil, round, abs, fabs, fma
          ///< ...
    Load, ///< of source `index`, operands are the indices
    Reduce ///< only at the root of a compute body: operands {source, identity}; `reduce` names the combiner
};

enum class Combiner : std::uint8_t
{
    Sum,
    Prod,
    Max,
    Min,
    ArgMax,
    ArgMin
};

struct Node;

/// A shared immutable expression; empty by default.
class Expr
{
public:
    Expr() = default;
    explicit Expr(std::shared_ptr<const Node> node)
        : m_node(std::move(node))
    {
    }
    Expr(int value); // NOLINT(google-explicit-constructor): I32 literals in index arithmetic
    explicit operator bool() const { return m_node != nullptr; }
    const Node* operator->() const { return m_node.get(); }
    const Node& operator*() const { return *m_node; }
    bool same(const Expr& other) const { return m_node == other.m_node; } ///< the same node (identity of variables)
    const Node* get() const { return m_node.get(); }

private:
    std::shared_ptr<const Node> m_node;
};

struct Node
{
    ExprKind kind = ExprKind::IntImm;
    DType dtype = DType::I32;
    Combiner combiner = Combiner::Sum; ///< Reduce
    std::int64_t intValue = 0; ///< IntImm; of a FloatImm 1 if it is a vanishing zero
    double floatValue = 0; ///< FloatImm
    /// Load: which source. In a compute DAG: index of the operation in Dag::ops. In a loop nest: index of the buffer.
    std::int32_t source = -1;
    std::int32_t output = 0; ///< Load in a DAG: which body of a multi-output operation
    std::string name; ///< Var, Call
    std::vector<Expr> operands;
    std::vector<Expr> axes; ///< Reduce: its axes, Vars that are among the operation's reduceAxes
};

// Builders. Binary ones take operands of one dtype (integers widen I32 -> I64 where one side is I64); comparisons give
// Bool.
Expr intImm(std::int64_t value, DType dtype = DType::I32);
Expr floatImm(double value, DType dtype = DType::F32);
/// A zero of a constant matrix: its products with anything vanish, and sums pass over them. Only for algorithms that
/// are defined for finite numbers alone, as winograd's are.
Expr vanishingZero(DType dtype);
bool isVanishingZero(const Expr& e);
Expr boolImm(bool value);
Expr var(std::string name, DType dtype = DType::I32); ///< a new identity each time
Expr binary(ExprKind kind, Expr a, Expr b);
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr floorDiv(Expr a, Expr b);
Expr floorMod(Expr a, Expr b);
Expr div(Expr a, Expr b);
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr eq(Expr a, Expr b);
Expr ne(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);
Expr select(Expr condition, Expr ifTrue, Expr ifFalse);
Expr ifThenElse(Expr condition, Expr ifTrue, Expr ifFalse);
Expr cast(DType dtype, Expr value);
Expr call(std::string name, DType dtype, std::vector<Expr> arguments);
Expr load(std::int32_t source, DType dtype, std::vector<Expr> indices, std::int32_t output = 0);
Expr reduce(Combiner combiner, Expr sourceValue, Expr identity, std::vector<Expr> axes);

/// Structural equality; variables are equal by identity.
bool equal(const Expr& a, const Expr& b);
bool isConst(const Expr& e, std::int64_t value);

} // namespace lathe::ir
