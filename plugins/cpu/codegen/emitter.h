#pragma once

#include "core/ir/scratch.h"
#include "plugins/cpu/codegen/emit.h"
#include "plugins/cpu/codegen/index_form.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace lathe::cpu {

inline constexpr std::int64_t kLine = 64; ///< bytes; every buffer starts on one
inline std::int64_t bufferBytes(const ir::Buffer& buffer)
{
    return ir::elementCount(buffer) * sizeOf(buffer.dtype);
}

/// Emits one phase of a nest as one function.
///
/// Integers that come from loop variables and constants alone are kept as IndexForm until an address or a value is
/// needed. Everything else becomes an llvm::Value at once: a scalar where all lanes agree, else a vector of m_lanes. A
/// scalar is spread to lanes only where it meets a vector, so broadcasts stand next to their use.
///
/// Loop variables and address bases are computed at "levels": level 0 is the function's entry, each loop that is a loop
/// in the emitted code opens the next. What depends on outer levels only is placed at their entry, once.
///
/// F16 and BF16 values are held as float, rounded after each operation.
class PhaseEmitter
{
public:
    PhaseEmitter(llvm::Module& module, const ir::LoopNest& nest, const CpuTarget& target,
                 const ir::PrintedNest* printed);
    Result<> emit(std::size_t phase, const std::string& symbol);

private:
    struct Atom
    {
        llvm::Value* value = nullptr;
        int level = 0; ///< kInPlace: only where it was made
        IndexRange range;
        bool vector = false; ///< one i64 per lane
    };
    struct Level
    {
        llvm::Instruction* hoistPoint = nullptr;
        std::map<std::vector<std::int64_t>, llvm::Value*> sums; ///< addresses and integers by their terms
        std::map<std::vector<std::int64_t>, std::int32_t> quotients; ///< atoms by operation and operands
    };
    /// What must hold for a load or store to happen; null: no condition.
    struct Guard
    {
        llvm::Value* scalar = nullptr;
        llvm::Value* lanes = nullptr;
    };
    struct Access
    {
        llvm::Value* pointer = nullptr; ///< of lane 0
        llvm::Align alignment{1};
    };
    static constexpr int kInPlace = 1 << 20;

    // emit.cpp, emit_stmt.cpp: statements
    void emitPhaseBody(const ir::Stmt& stmt);
    void emitStmt(const ir::Stmt& stmt);
    void emitUnlocated(const ir::Stmt& stmt);
    void describeSource();
    void locate(const ir::Stmt& stmt);
    void emitFor(const ir::StmtNode& node);
    void emitCountedLoop(const ir::StmtNode& node, llvm::Value* begin, llvm::Value* end, const IndexForm& min,
                         IndexRange range, std::int64_t knownTrips);
    void emitSerial(const ir::StmtNode& node);
    void emitParallel(const ir::StmtNode& node);
    void emitUnrolled(const ir::StmtNode& node);
    void emitVectorized(const ir::StmtNode& node);
    void emitIf(const ir::StmtNode& node);
    void emitStore(const ir::StmtNode& node);
    void emitPrefetch(const ir::StmtNode& node);
    bool canVectorize(const ir::StmtNode& loop) const;
    int lanesFor(const ir::StmtNode& loop) const;
    void separate();

    // emit_index.cpp
    bool isIndex(const ir::Expr& e);
    IndexForm index(const ir::Expr& e);
    IndexForm floorDivForm(const IndexForm& a, std::int64_t divisor);
    IndexForm opaque(llvm::Value* value, int level, IndexRange range);
    IndexRange rangeOf(const IndexForm& form) const;
    bool isUniform(const IndexForm& form) const;
    int levelOf(const IndexForm& form) const;
    llvm::Value* scalarSum(const IndexForm& form); ///< i64 of the uniform part, constant included
    llvm::Value* materialize(const IndexForm& form, llvm::Type* elementType);
    llvm::Value* foldComparison(ir::ExprKind kind, const IndexForm& a, const IndexForm& b);
    /// base + byte offset of the terms (constant excluded), placed as far out as its terms allow.
    llvm::Value* termSum(std::int64_t baseKey, llvm::Value* base, const IndexForm& form, std::int64_t unit);

    // emit_expr.cpp
    llvm::Value* value(const ir::Expr& e);
    llvm::Value* compare(const ir::Node& n);
    llvm::Value* arithmetic(const ir::Node& n);
    llvm::Value* integerDivision(ir::ExprKind kind, llvm::Value* a, llvm::Value* b, bool isSigned);
    llvm::Value* conditional(const ir::Node& n);
    llvm::Value* convert(llvm::Value* v, DType from, DType to);
    llvm::Value* roundTo(llvm::Value* v, DType dtype); ///< of F16, BF16; others pass
    llvm::Value* callIntrinsic(const ir::Node& n);
    llvm::Type* valueType(DType dtype) const; ///< of one lane
    llvm::Value* toLanes(llvm::Value* v);
    void unify(llvm::Value*& a, llvm::Value*& b);

    // emit_memory.cpp
    IndexForm offsetOf(std::int32_t buffer, const std::vector<ir::Expr>& indices);
    Access access(std::int32_t buffer, const IndexForm& offset, std::int64_t firstLane);
    llvm::Value* load(std::int32_t buffer, const IndexForm& offset);
    void store(std::int32_t buffer, const IndexForm& offset, llvm::Value* v);
    llvm::Value* loadStrided(std::int32_t buffer, const IndexForm& offset, std::int64_t stride);
    /// Of a register buffer, at constant offsets some of which lie outside (in lanes that are not wanted; zeros there).
    llvm::Value* loadPartly(std::int32_t buffer, const IndexForm& offset);
    void storeByLane(std::int32_t buffer, const IndexForm& offset, llvm::Value* v, llvm::Value* mask);
    llvm::Value* lanePointers(std::int32_t buffer, const IndexForm& offset);
    llvm::Value* loadRaw(std::int32_t buffer, llvm::Type* type, const Access& at);
    llvm::Value* fromMemory(llvm::Value* raw, DType dtype);
    llvm::Value* toMemory(llvm::Value* v, DType dtype);
    llvm::Type* memoryType(DType dtype) const;
    void tag(llvm::Instruction* instruction, std::int32_t buffer) const;

    llvm::Type* lanesOf(llvm::Type* scalar) const;
    llvm::Value* fail(Errc code, std::string message);
    bool failed() const { return m_error.has_value(); }
    void prepareBuffers(const ir::Stmt& body);

    llvm::Module& m_module;
    const ir::LoopNest& m_nest;
    const CpuTarget& m_target;
    const ir::PrintedNest* m_printed; ///< null: instructions get no locations
    ir::ScratchLayout m_scratch;
    llvm::LLVMContext& m_context;
    llvm::IRBuilder<> m_builder;
    llvm::Function* m_function = nullptr;
    std::optional<Error> m_error;

    std::vector<llvm::Value*> m_bases; ///< per buffer; null if the phase does not use it
    std::vector<llvm::MDNode*> m_scopes;
    std::vector<llvm::MDNode*> m_others;
    std::vector<Atom> m_atoms;
    std::vector<Level> m_levels;
    std::unordered_map<const ir::Node*, IndexForm> m_variables;
    std::unordered_map<const ir::Node*, bool> m_isIndex;
    std::unordered_set<std::int32_t> m_written; ///< buffers that some phase stores to
    int m_lanes = 1;
    Guard m_guard;
    bool m_parallelAllowed = false;
    std::int64_t m_statements = 0;
};

} // namespace lathe::cpu
