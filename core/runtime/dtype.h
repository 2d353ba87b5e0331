#pragma once

#include <cstdint>

namespace lathe {

/// Element types of tensors, buffers and expressions. Values travel in messages, artifacts and files: append only.
enum class DType : std::uint8_t
{
    Bool = 0, ///< one byte, 0 or 1
    I8 = 1,
    U8 = 2,
    I16 = 3,
    U16 = 4,
    I32 = 5,
    U32 = 6,
    I64 = 7,
    U64 = 8,
    F16 = 9,
    BF16 = 10,
    F32 = 11,
    F64 = 12
};

constexpr std::int64_t sizeOf(DType t)
{
    switch (t) {
    case DType::Bool:
    case DType::I8:
    case DType::U8: return 1;
    case DType::I16:
    case DType::U16:
    case DType::F16:
    case DType::BF16: return 2;
    case DType::I32:
    case DType::U32:
    case DType::F32: return 4;
    case DType::I64:
    case DType::U64:
    case DType::F64: return 8;
    }
    return 0;
}

constexpr bool isFloat(DType t)
{
    return t >= DType::F16;
}
constexpr bool isInteger(DType t)
{
    return t < DType::F16 && t != DType::Bool;
}
constexpr bool isSigned(DType t)
{
    return t == DType::I8 || t == DType::I16 || t == DType::I32 || t == DType::I64 || isFloat(t);
}

/// "float32", "int8", "bool": the field's spelling, in keys, JSON and texts.
constexpr const char* toString(DType t)
{
    constexpr const char* kNames[] = {"bool",  "int8",   "uint8",   "int16",    "uint16",  "int32",  "uint32",
                                      "int64", "uint64", "float16", "bfloat16", "float32", "float64"};
    return kNames[static_cast<int>(t)];
}

} // namespace lathe
