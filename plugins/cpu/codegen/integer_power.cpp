#include "plugins/cpu/codegen/integer_power.h"

#include <cstdint>

namespace lathe::cpu {

llvm::Value* emitIntegerPower(llvm::IRBuilder<>& builder, llvm::Value* base, llvm::Value* exponent, bool isSigned)
{
    llvm::Type* type = base->getType();
    const auto number = [type](std::uint64_t v) { return llvm::ConstantInt::get(type, v); };
    llvm::Value *result = number(1), *square = base, *zero = number(0);
    // A step for each bit of the exponent. Bits beyond those of a constant fall away when it is folded.
    for (unsigned bit = 0; bit < type->getScalarSizeInBits(); ++bit) {
        llvm::Value* isSet = builder.CreateICmpNE(builder.CreateAnd(exponent, number(std::uint64_t{1} << bit)), zero);
        result = builder.CreateSelect(isSet, builder.CreateMul(result, square), result);
        square = builder.CreateMul(square, square);
    }
    if (!isSigned)
        return result;
    llvm::Value* isOdd = builder.CreateICmpNE(builder.CreateAnd(exponent, number(1)), zero);
    llvm::Value* minusOne = llvm::ConstantInt::getAllOnesValue(type);
    llvm::Value* below = builder.CreateSelect(builder.CreateICmpEQ(base, minusOne),
                                              builder.CreateSelect(isOdd, minusOne, number(1)), zero);
    below = builder.CreateSelect(builder.CreateICmpEQ(base, number(1)), number(1), below);
    return builder.CreateSelect(builder.CreateICmpSLT(exponent, zero), below, result);
}

} // namespace lathe::cpu
