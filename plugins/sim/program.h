#pragma once

#include "core/runtime/dtype.h"

#include <cstdint>

/// The artifact of the simulator, format "sim-nest": loop nests as flat arrays of fixed-size records, which the device
/// interprets. Written by program_writer.cpp, read by interpreter.cpp; little endian, in this order: Header,
/// Kernel x kernels, Launch x launches, Buffer x buffers, Node x nodes, int32 x children, char x texts.

namespace lathe::sim {

inline constexpr std::uint32_t kMagic = 0x344d4953; // "SIM4"
inline constexpr int kMaxDims = 24;

enum class NodeKind : std::uint8_t
{
    IntImm,
    FloatImm,
    Var,
    Add,
    Sub,
    Mul,
    Div,
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
    Select,
    Cast,
    Call,
    Load,
    For,
    Store,
    Block,
    If,
    Barrier,
    Copy, ///< asynchronous, of one element
    Commit,
    Wait,
    Shuffle
};

/// Who shares a buffer.
enum class Place : std::uint8_t
{
    Device, ///< parameters, and scratch that launches hand over
    Group, ///< the threads of a block
    Thread
};

enum class Function : std::uint8_t
{
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Tanh,
    Erf,
    Sigmoid,
    Pow,
    Floor,
    Ceil,
    Round,
    Trunc,
    Abs,
    Fma,
    Sin,
    Cos,
    Expm1,
    Log1p
};

struct Header
{
    std::uint32_t magic = kMagic;
    std::uint32_t kernels = 0, buffers = 0, nodes = 0, children = 0;
    std::uint32_t launches = 0;
    std::uint32_t texts = 0, reserved = 0; ///< bytes; the last one is zero
};

struct Kernel
{
    double modelNs = 0;
    double slowdown = 1;
    double deviceBuildSeconds = 0; ///< that the device takes to compile it
    std::uint32_t fault = 0; ///< a Fault
    std::uint32_t interpret = 1;
    std::uint32_t firstBuffer = 0, bufferCount = 0;
    std::int32_t root = -1; ///< a Block of the phases, or of the launches' bodies
    std::uint32_t firstLaunch = 0, launchCount = 0; ///< none: phases
    std::uint32_t variables = 0; ///< slots
};

struct Launch
{
    std::int32_t body = -1;
    std::uint32_t name = 0; ///< text: the launch's and its kernel's
    std::int64_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
    std::int64_t sharedBytes = 0;
    std::int32_t blockSlots[3] = {}, threadSlots[3] = {}; ///< variables
};

struct Buffer
{
    std::int32_t parameter = -1; ///< position in the launch, -1: scratch of the kernel
    DType dtype = DType::F32;
    std::uint8_t dims = 0;
    Place place = Place::Device;
    std::uint8_t readOnly = 0;
    std::uint32_t name = 0; ///< text
    std::uint32_t reserved = 0;
    std::int64_t elements = 0;
    std::int64_t shape[kMaxDims] = {};
    std::int64_t strides[kMaxDims] = {};
};

/// Children stand before their parents, so a program has no cycles. For: min, extent, body. Store, Copy, Shuffle:
/// indices, value. Shuffle: `function` and `reserved` are binary logarithms of the distance and of the warp's lanes.
/// intValue of statements: their first line, in the texts.
struct Node
{
    NodeKind kind = NodeKind::IntImm;
    DType dtype = DType::I32;
    std::uint8_t function = 0;
    std::uint8_t reserved = 0;
    /// Var, For: slot; Load, Store, Copy: buffer of the kernel; Wait: groups of copies that may still be on their way
    std::int32_t index = 0;
    std::uint32_t firstChild = 0, childCount = 0;
    std::int64_t intValue = 0;
    double floatValue = 0;
};

} // namespace lathe::sim
