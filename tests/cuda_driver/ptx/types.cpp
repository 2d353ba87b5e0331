#include "tests/cuda_driver/ptx/types.h"

#include <array>

namespace lathe::ptx {

namespace {

struct TypeRow
{
    std::string_view name;
    Type type;
    uint8_t size;
    bool isSigned, isFloat;
};

constexpr std::array<TypeRow, 20> kTypes = {{
    {"pred", Type::Pred, 1, false, false},   {"b8", Type::B8, 1, false, false},
    {"u8", Type::U8, 1, false, false},       {"s8", Type::S8, 1, true, false},
    {"b16", Type::B16, 2, false, false},     {"u16", Type::U16, 2, false, false},
    {"s16", Type::S16, 2, true, false},      {"f16", Type::F16, 2, true, true},
    {"bf16", Type::Bf16, 2, true, true},     {"b32", Type::B32, 4, false, false},
    {"u32", Type::U32, 4, false, false},     {"s32", Type::S32, 4, true, false},
    {"f32", Type::F32, 4, true, true},       {"f16x2", Type::F16x2, 4, true, true},
    {"bf16x2", Type::Bf16x2, 4, true, true}, {"tf32", Type::Tf32, 4, true, true},
    {"b64", Type::B64, 8, false, false},     {"u64", Type::U64, 8, false, false},
    {"s64", Type::S64, 8, true, false},      {"f64", Type::F64, 8, true, true},
}};

const TypeRow* rowOf(Type type)
{
    for (const TypeRow& row : kTypes)
        if (row.type == type)
            return &row;
    return nullptr;
}

} // namespace

std::optional<Type> typeNamed(std::string_view word)
{
    for (const TypeRow& row : kTypes)
        if (row.name == word)
            return row.type;
    return std::nullopt;
}

std::string_view nameOf(Type type)
{
    const TypeRow* const row = rowOf(type);
    return row ? row->name : std::string_view("none");
}

unsigned sizeOf(Type type)
{
    const TypeRow* const row = rowOf(type);
    return row ? row->size : 0;
}

bool isSigned(Type type)
{
    const TypeRow* const row = rowOf(type);
    return row && row->isSigned;
}

bool isFloat(Type type)
{
    const TypeRow* const row = rowOf(type);
    return row && row->isFloat;
}

} // namespace lathe::ptx
