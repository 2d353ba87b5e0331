#pragma once

#include "tests/cuda_driver/ptx/lexer.h"
#include "tests/cuda_driver/ptx/types.h"

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace lathe::ptx {

/// What stands behind the name of an instruction. Names of registers and variables are resolved already; labels are
/// not.
struct Operand
{
    enum class Kind : uint8_t
    {
        Register, // `index` in Function::registers
        Special, // %tid.x and the like: `name`
        Integer, // `bits`
        Float32, // `bits`, as written 0f...
        Float64, // `bits`, as written 0d... or 1.5
        Variable, // the address of Syntax::variables[index], plus `offset`
        Address, // [elements[0] + offset]
        Vector, // {elements...}
        List, // (elements...) of a call
        Name, // a label or a function
        Sink, // _
    };
    Kind kind = Kind::Sink;
    bool negated = false; // !%p1
    uint32_t index = 0;
    uint64_t bits = 0;
    int64_t offset = 0;
    std::string name;
    std::vector<Operand> elements;
    std::shared_ptr<Operand> second; // of a pair, %p1|%p2
};

struct Statement
{
    unsigned line = 0;
    unsigned scope = 0; // index of Function::scopes, where labels are looked up
    int32_t guard = -1; // a register, @%p1
    bool guardNegated = false; // @!%p1
    uint32_t usedBytes = UINT32_MAX; // of a load: .pragma "used_bytes_mask 0xfff" in front of it; bit k: its byte k
    std::vector<std::string_view> opcode; // "ld", "global", "f32"
    std::vector<Operand> operands;
};

/// Memory that has a name: of the module, of a function, or a parameter.
struct Variable
{
    std::string name;
    Space space = Space::Global;
    uint64_t size = 0; // in bytes; 0 for an array without a size, which is dynamic shared memory
    uint64_t align = 1;
    bool isExtern = false;
    std::vector<std::byte> initial; // empty: zeros (global, const) or nothing (shared, local)
    int32_t owner = -1; // the function that it stands in, -1 for the module
};

/// A pair of braces: names and labels within it hide those outside.
struct Scope
{
    int32_t parent = -1;
    std::unordered_map<std::string, uint32_t> registers;
    std::unordered_map<std::string, uint32_t> variables;
    std::unordered_map<std::string, uint32_t> labels; // statement in front of which it stands
    std::unordered_map<std::string, std::vector<std::string>> targets; // of .branchtargets
};

struct Function
{
    std::string name;
    unsigned line = 0;
    bool isEntry = false;
    bool isDeclared = false; // without a body (yet)
    std::vector<uint32_t> parameters; // variables of space Param
    std::vector<uint32_t> results; // likewise, of a .func
    std::vector<Type> registers;
    std::vector<Scope> scopes;
    std::vector<Statement> statements;
    std::array<uint32_t, 3> maxThreads = {0, 0, 0}; // .maxntid; 0: not said
    std::array<uint32_t, 3> requiredThreads = {0, 0, 0}; // .reqntid
    uint32_t maxRegisters = 0; // .maxnreg
};

/// A text of PTX, taken apart.
struct Syntax
{
    std::string source; // what the string_views below point into
    unsigned versionMajor = 0, versionMinor = 0;
    unsigned target = 0; // 80 of sm_80
    std::vector<Variable> variables;
    std::vector<Function> functions;
};

/// Takes PTX apart. Throws Refusal: for what is no PTX, and for what this interpreter has not, by name and line.
std::unique_ptr<Syntax> parse(std::string_view source);

} // namespace lathe::ptx
