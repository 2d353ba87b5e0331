#pragma once

#include "core/ir/print.h"
#include "core/schedule/lower.h"
#include "core/support/result.h"
#include "plugins/cpu/codegen/cpu_target.h"

#include <string>

namespace llvm {
class Module;
}

namespace lathe::cpu {

std::string phaseSymbol(const ir::LoopNest& nest, std::size_t phase);

/// Emits one phase of `nest` as the function `symbol` of core/runtime/kernel_abi.h's LathePhase type. Equal broadcasts
/// of different unrolled reduction steps are kept apart, so that none stays in a register across steps. Errors:
/// Unsupported names what this back end refuses (loop kind, scope, intrinsic); BuildFailed: too much unrolling. On
/// error the module may hold half a phase and is to be thrown away.
///
/// @param printed  for listings: instructions get debug locations, line N + 1 for a statement at line N of the printed
///                 nest; what LLVM makes of them stays the same. Null in all that is measured or delivered.
Result<> emitPhase(llvm::Module& module, const ir::LoopNest& nest, std::size_t phase, const std::string& symbol,
                   const CpuTarget& target, const ir::PrintedNest* printed = nullptr);

} // namespace lathe::cpu
