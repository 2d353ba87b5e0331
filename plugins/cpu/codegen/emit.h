#pragma once

#include "core/schedule/lower.h"
#include "core/support/result.h"
#include "plugins/cpu/codegen/cpu_target.h"

#include <vector>

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

/// Emits every phase of `nest` as one function `phaseSymbol(nest, i)` of core/runtime/kernel_abi.h's LathePhase type.
/// Errors: Unsupported names what this back end refuses (loop kind, scope, intrinsic); BuildFailed: too much unrolling.
/// On error the module may hold half a kernel and is to be thrown away.
Result<> emitNest(llvm::Module& module, const ir::LoopNest& nest, const CpuTarget& target, const EmitOptions& options);

} // namespace lathe::cpu
