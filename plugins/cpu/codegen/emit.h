#pragma once

#include "core/schedule/lower.h"
#include "core/support/result.h"
#include "plugins/cpu/codegen/cpu_target.h"

#include <string>

namespace llvm {
class Module;
}

namespace lathe::cpu {

struct EmitOptions
{
    /// Keeps equal broadcasts of different unrolled reduction steps apart, so that none stays in a register across steps.
    bool separateSteps = false;
    /// Upper limit of emitted statements; unrolling beyond it is refused.
    std::int64_t maxStatements = 20000;
};

std::string phaseSymbol(const ir::LoopNest& nest, std::size_t phase);

/// Emits one phase of `nest` as the function `symbol` of core/runtime/kernel_abi.h's LathePhase type.
/// Errors: Unsupported names what this back end refuses (loop kind, scope, intrinsic); BuildFailed: too much unrolling.
/// On error the module may hold half a phase and is to be thrown away.
Result<> emitPhase(llvm::Module& module, const ir::LoopNest& nest, std::size_t phase, const std::string& symbol,
                   const CpuTarget& target, const EmitOptions& options);

} // namespace lathe::cpu
