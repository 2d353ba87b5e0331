#pragma once

#include "tests/cuda_driver/ptx/types.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lathe::ptx {

struct Warp;
struct Instruction;

using LaneMask = uint32_t; // bit l: lane l
constexpr LaneMask kAllLanes = 0xffffffff;
constexpr unsigned kLanes = 32;

/// A row of 32 values in the registers of a warp (bank 0) or in the constants of a block (bank 1): 2 * row + bank.
/// Rows are of 32 x 4 bytes; values of 64 bits lie in two. The row of a predicate is one mask.
using RowRef = uint32_t;
constexpr RowRef kNoRow = 0xffffffff;

/// Does what an instruction says for these lanes.
using Handler = void (*)(Warp& warp, const Instruction& instruction, LaneMask lanes);

/// How a number is rounded; the numbers are those of <cfenv> by way of roundingOf().
enum class Rounding : uint8_t
{
    Nearest,
    Zero,
    Down,
    Up,
    NearestAway,
};

/// An instruction, ready to run. What the fields mean beyond their names is said by the handlers.
struct Instruction
{
    Handler run = nullptr;
    Handler quick = nullptr; // of launches that are run the quick way (quick.h); null: they cannot be
    Handler inner = nullptr; // of a handler that wraps another one
    RowRef d = kNoRow, d2 = kNoRow;
    RowRef a = kNoRow, b = kNoRow, c = kNoRow, e = kNoRow;
    RowRef guard = kNoRow;
    bool guardNegated = false;
    bool negatedC = false; // the predicate c is !c
    uint8_t flops = 0; // per lane
    uint8_t size = 0; // of an element, in bytes
    uint8_t elements = 1;
    Space space = Space::Generic;
    Type type = Type::None, from = Type::None;
    Rounding rounding = Rounding::Nearest;
    bool flush = false, saturate = false, wide = false, strong = false, aligned = false;
    uint8_t mode = 0;
    uint16_t used = 0; // of a load that leaves some of its bytes unused: bit k, its byte k is used; 0: all are
    uint32_t line = 0;
    uint32_t target = 0; // index of an instruction
    uint32_t list = 0; // first of Program::lists
    uint32_t access = 0; // of what accesses memory: a number of its own, below Program::accesses
    int64_t imm = 0;
};

/// What a row of bank 1 is filled with before a launch or a block.
struct Constant
{
    enum class Kind : uint8_t
    {
        Value, // `bits`
        GlobalAddress, // of Program::globals[index], plus bits
        DynamicShared, // where dynamic shared memory begins, plus bits
        BlockIndex, // %ctaid; index: 0 to 2
        GridSize, // %nctaid
        BlockSize, // %ntid
        Multiprocessor, // %smid
        Multiprocessors, // %nsmid
        DynamicSharedSize,
        TotalSharedSize,
        WarpCount,
        GridId,
    };
    Kind kind = Kind::Value;
    bool wide = false; // 64 bits
    uint32_t index = 0;
    uint64_t bits = 0;
    uint32_t row = 0;
};

struct KernelParameter
{
    std::string name;
    uint32_t offset = 0, size = 0, align = 1;
};

struct GlobalVariable
{
    std::string name;
    bool isConst = false;
    uint64_t size = 0, align = 1;
    std::vector<std::byte> initial;
};

struct Kernel
{
    std::string name;
    uint32_t entry = 0; // its first instruction
    std::vector<KernelParameter> parameters;
    uint32_t parameterBytes = 0;
    uint32_t staticShared = 0; // bytes; dynamic shared memory begins behind them
    uint32_t dynamicAlign = 1;
    uint32_t localBytes = 0; // per thread
    uint32_t registers = 0; // estimated, per thread
    std::array<uint32_t, 3> maxThreads = {0, 0, 0};
    std::array<uint32_t, 3> requiredThreads = {0, 0, 0};
    bool copiesAsynchronously = false; // has cp.async
    bool isQuick = false; // all that it may run has a quick handler
    /// How its launches began to be run: quickly, with traces of reads, exactly. What had a doubt once is not tried
    /// again.
    std::shared_ptr<std::atomic<uint8_t>> way = std::make_shared<std::atomic<uint8_t>>(uint8_t(0));
};

/// Rows of bank 0 that every warp has.
enum class WarpRow : uint32_t
{
    ThreadX,
    ThreadY,
    ThreadZ,
    Lane,
    WarpIndex,
    MaskEqual, // %lanemask_eq
    MaskLess,
    MaskLessEqual,
    MaskGreater,
    MaskGreaterEqual,
    Count,
};

/// A module, ready to run. Never changes; any thread may read it.
struct Program
{
    unsigned versionMajor = 0, versionMinor = 0, target = 0;
    std::vector<Instruction> code;
    std::vector<RowRef> lists; // operands of vectors
    uint32_t accesses = 0; // see Instruction::access
    std::vector<Constant> constants;
    uint32_t constantRows = 0;
    uint32_t warpRows = 0;
    std::vector<GlobalVariable> globals;
    std::vector<Kernel> kernels;
    unsigned asyncCopyLine = 0;

    const Kernel* find(std::string_view name) const;
};

struct LoadError
{
    unsigned line = 0;
    std::string text; // one sentence
};

/// Reads PTX: all of it is checked and decoded here, so that no instruction fails as unknown when it runs.
std::variant<std::shared_ptr<const Program>, LoadError> load(std::string_view source);

} // namespace lathe::ptx
