#pragma once

#include "tests/cuda_driver/ptx/block.h"
#include "tests/cuda_driver/ptx/syntax.h"

#include <map>

namespace lathe::ptx {

/// What is decoded of a module so far.
struct ModuleDecoder
{
    const Syntax& syntax;
    Program program;
    std::vector<uint64_t> sharedOffset; // of each variable; in shared or local memory
    std::vector<uint32_t> globalIndex; // of each variable, in Program::globals
    std::map<std::tuple<Constant::Kind, bool, uint32_t, uint64_t>, uint32_t> constantRows;
    std::vector<std::vector<uint32_t>> registerRow; // by function and register
    std::vector<uint32_t> returnRow; // by function
    std::vector<uint32_t> start; // by function: its first instruction
    struct Jump
    {
        uint32_t instruction;
        uint32_t function; // whose start is the target
    };
    std::vector<Jump> calls;

    explicit ModuleDecoder(const Syntax& of)
        : syntax(of)
    {
    }
    RowRef constant(Constant::Kind kind, bool wide, uint32_t index, uint64_t bits);
};

/// One instruction while it is decoded: its words are taken one after the other, and what is left over is refused by
/// name, so that no modifier is ever passed over in silence.
class Decoding
{
public:
    Decoding(ModuleDecoder& module, uint32_t function, const Statement& statement);

    const Statement& statement() const { return m_statement; }
    std::string_view name() const { return m_statement.opcode[0]; }
    std::string fullName() const;
    ModuleDecoder& module() { return m_module; }
    uint32_t function() const { return m_function; }
    Instruction& made() { return m_made; }

    [[noreturn]] void refuse(const std::string& text) const;
    [[noreturn]] void refuseInstruction() const; // "... has no such instruction"

    /// Takes a modifier if it is there.
    bool take(std::string_view modifier);
    /// Takes the next modifier that is a type; None if there is none.
    Type takeType();
    /// The rounding that stands there; Nearest if none does.
    Rounding takeRounding();
    /// Refuses modifiers that nobody took, and another number of operands.
    void finish(size_t operands);
    void finishModifiers() const;

    size_t operandCount() const { return m_statement.operands.size(); }
    const Operand& operand(size_t index) const;

    /// A value of this type, as a row.
    RowRef source(const Operand& operand, Type type);
    RowRef source(size_t index, Type type) { return source(operand(index), type); }
    /// The row of a register of this size (wider ones only if asked for, see isWide()); of a sink a row that nobody
    /// reads.
    RowRef destination(const Operand& operand, Type type, bool mayBeWider = false);
    RowRef destination(size_t index, Type type, bool mayBeWider = false)
    {
        return destination(operand(index), type, mayBeWider);
    }
    /// Whether the operand is a register of 64 bits.
    bool isWide(const Operand& operand) const;
    RowRef predicate(const Operand& operand);
    /// A predicate to read, which may be negated.
    RowRef predicate(const Operand& operand, bool& negated);
    RowRef predicateDestination(const Operand& operand);
    /// A number that the text gives.
    int64_t immediate(size_t index) const;
    /// Sets a (a row of addresses of 64 bits if `wide`, else of 32) and imm (an offset), and `space` for parameters of
    /// a .func, which lie in local memory.
    void address(size_t index, Space& space);

    bool isEntryParameter(uint32_t variable) const;

    /// The same handler for both ways to run a launch (quick.h), or one for each.
    void emit(Handler handler) { emit(handler, handler); }
    void emit(Handler handler, Handler quick);
    /// Gives the instruction numbers for what it accesses: Instruction::access.
    void number(uint32_t accesses);
    void emit(const Instruction& instruction);
    uint32_t labelled(const std::string& label) const; // a statement of the function
    std::vector<std::string> branchTargets(const std::string& name) const;
    const Function& functionSyntax() const { return m_module.syntax.functions[m_function]; }

private:
    ModuleDecoder& m_module;
    uint32_t m_function;
    const Statement& m_statement;
    std::vector<bool> m_taken;
    Instruction m_made;
};

// Families: each takes the instructions that it knows by their first word, and answers whether this was one.
bool decodeInteger(Decoding& decoding);
bool decodeBits(Decoding& decoding);
bool decodeFloat(Decoding& decoding);
bool decodeHalf(Decoding& decoding);
bool decodeCompare(Decoding& decoding);
bool decodeConvert(Decoding& decoding);
bool decodeMove(Decoding& decoding);
bool decodeMemory(Decoding& decoding);
bool decodeAtomic(Decoding& decoding);
bool decodeLanes(Decoding& decoding);
bool decodeControl(Decoding& decoding);
bool decodeAsyncCopy(Decoding& decoding);

} // namespace lathe::ptx
