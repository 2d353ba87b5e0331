#pragma once

#include "core/ir/loop_nest.h"
#include "core/ir/scalar.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

// What the interpreters of phases and of launches share: statements with variables as slots of a frame, and the
// evaluation of their expressions. Private to core/ir.

namespace lathe::ir {

/// An expression with variables as slots of a frame.
struct Code
{
    ExprKind kind = ExprKind::IntImm;
    DType dtype = DType::I32;
    DType operandType = DType::I32;
    std::int32_t slot = -1; ///< Var
    std::int32_t buffer = -1; ///< Load
    Scalar literal;
    Intrinsic intrinsic = nullptr;
    BitIntrinsic bits = nullptr; ///< a Call of two integers
    bool isPower = false; ///< of integers, which doubles do not hold
    std::vector<Code> operands;
};

struct Instruction
{
    StmtKind kind = StmtKind::Block;
    const StmtNode* of = nullptr; ///< what it was compiled of, for messages
    bool parallel = false;
    std::int32_t slot = -1;
    std::int32_t buffer = -1;
    Code min, extent, value, condition;
    std::vector<Code> indices;
    std::vector<Instruction> body;
};

class NestCompiler
{
public:
    Result<Instruction> statement(const Stmt& s);
    /// Declares a variable that no loop has.
    std::int32_t slotOf(const Expr& variable);
    std::int32_t slots() const { return static_cast<std::int32_t>(m_slots.size()); }

private:
    Result<Code> expression(const Expr& e);

    std::unordered_map<const Node*, std::int32_t> m_slots;
};

/// Whether there is a large enough buffer for each parameter of the nest. Errors: InvalidArgument.
Result<> checkParameters(const LoopNest& nest, std::span<const std::span<std::byte>> parameters);

/// Computes expressions over one frame. What fails is noted once; after that results mean nothing.
class NestEvaluator
{
public:
    explicit NestEvaluator(const LoopNest& nest)
        : m_nest(nest)
    {
    }
    virtual ~NestEvaluator() = default;
    NestEvaluator(const NestEvaluator&) = delete;
    NestEvaluator& operator=(const NestEvaluator&) = delete;

    bool failed() const { return m_failed; }
    const std::string& failure() const { return m_failure; }

protected:
    /// The element that a Load reads; null if there is none, which was told to fail().
    virtual const std::byte* read(std::int32_t buffer, const std::vector<Code>& indices) = 0;

    Scalar evaluate(const Code& e);
    /// Offset of an element from the buffer's begin, in elements; -1 if an index is out of bounds: that fails with
    /// `verb` ("reads", "stores to").
    std::int64_t offset(std::int32_t buffer, const std::vector<Code>& indices, const char* verb);
    void fail(std::string why);
    /// Says more of a failure than was known where it was seen.
    void rename(std::string why) { m_failure = std::move(why); }

    const LoopNest& m_nest;
    std::int64_t* m_frame = nullptr; ///< by slot

private:
    Scalar callIntrinsic(const Code& e);
    Scalar integerOperation(const Code& e, std::int64_t a, std::int64_t b);

    bool m_failed = false;
    std::string m_failure;
};

} // namespace lathe::ir
