#pragma once

#include "core/runtime/dtype.h"

#include <cstdint>

/// The artifact of the simulator, format "sim-nest": loop nests as flat arrays of fixed-size records, which the device
/// interprets. Written by codegen.cpp, read by device.cpp; little endian, in this order: Header, Kernel x kernels,
/// Buffer x buffers, Node x nodes, int32 x children.

namespace lathe::sim {

inline constexpr std::uint32_t kMagic = 0x314d4953; // "SIM1"
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
    If
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
    std::uint32_t reserved = 0;
};

struct Kernel
{
    double modelNs = 0;
    double slowdown = 1;
    std::uint32_t fault = 0; ///< a Fault
    std::uint32_t interpret = 1;
    std::uint32_t firstBuffer = 0, bufferCount = 0;
    std::int32_t root = -1; ///< a Block of the phases
    std::uint32_t variables = 0; ///< slots
};

struct Buffer
{
    std::int32_t parameter = -1; ///< position in the launch, -1: scratch of the kernel
    DType dtype = DType::F32;
    std::uint8_t dims = 0;
    std::uint8_t reserved[2] = {};
    std::int64_t elements = 0;
    std::int64_t shape[kMaxDims] = {};
    std::int64_t strides[kMaxDims] = {};
};

/// Children stand before their parents, so a program has no cycles. For: min, extent, body. Store: indices, value.
struct Node
{
    NodeKind kind = NodeKind::IntImm;
    DType dtype = DType::I32;
    std::uint8_t function = 0;
    std::uint8_t reserved = 0;
    std::int32_t index = 0; ///< Var, For: slot; Load, Store: buffer of the kernel
    std::uint32_t firstChild = 0, childCount = 0;
    std::int64_t intValue = 0;
    double floatValue = 0;
};

} // namespace lathe::sim
