#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lathe::ptx {

/// The scalar types of PTX, as they stand at the end of an instruction's name.
enum class Type : uint8_t
{
    None,
    Pred,
    B8,
    U8,
    S8,
    B16,
    U16,
    S16,
    F16,
    Bf16,
    B32,
    U32,
    S32,
    F32,
    F16x2,
    Bf16x2,
    Tf32,
    B64,
    U64,
    S64,
    F64,
};

/// "f32" -> Type::F32; nothing for another word.
std::optional<Type> typeNamed(std::string_view word);
std::string_view nameOf(Type type);

/// In bytes; 0 for None, 1 for Pred.
unsigned sizeOf(Type type);
bool isSigned(Type type);
bool isFloat(Type type);

/// State spaces. Generic addresses say by their range which space they mean (see windows below).
enum class Space : uint8_t
{
    Generic,
    Global,
    Shared,
    Local,
    Const,
    Param,
};

/// Where the spaces of a thread lie within generic addresses. Global and constant memory lie at their own addresses,
/// outside.
constexpr uint64_t kWindowSize = uint64_t(1) << 32;
constexpr uint64_t kSharedWindow = uint64_t(0x61) << 40;
constexpr uint64_t kLocalWindow = uint64_t(0x62) << 40;
constexpr uint64_t kParamWindow = uint64_t(0x63) << 40;

} // namespace lathe::ptx
