#pragma once

#include <llvm/IR/IRBuilder.h>

namespace lathe::cpu {

/// base^exponent of integers of one type, which wraps around; of a negative exponent 0, but of 1 and -1.
llvm::Value* emitIntegerPower(llvm::IRBuilder<>& builder, llvm::Value* base, llvm::Value* exponent, bool isSigned);

} // namespace lathe::cpu
