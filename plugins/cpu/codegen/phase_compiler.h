#pragma once

#include "core/support/hash.h"
#include "plugins/cpu/codegen/compile.h"
#include "plugins/cpu/codegen/emit.h"

#include <memory>
#include <unordered_map>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace lathe::cpu {

/// The module of one phase after the short pass pipeline. `printed` as of emitPhase().
Result<std::unique_ptr<llvm::Module>> emitModule(llvm::LLVMContext& context, const CpuTarget& target,
                                                 const ir::LoopNest& nest, std::size_t phase, const std::string& symbol,
                                                 const ir::PrintedNest* printed = nullptr);

/// Instructions stay in the order in which they were emitted, and go through LLVM's scheduler where that spills fewer
/// vectors; cores that do not run out of order are served the other way round. Errors: those of emitPhase and generate.
Result<MachineCode> compilePhase(const CpuTarget& target, const ir::LoopNest& nest, std::size_t phase,
                                 const std::string& symbol, CodeFormat format,
                                 const ir::PrintedNest* printed = nullptr);

/// Objects of phases by what they do: candidates of one task often share all but one (winograd's transforms), and
/// different genomes often mean the same code. Symbols are made from the key, so that kernels share the code itself.
class PhaseCache
{
public:
    struct Entry
    {
        std::string symbol;
        MachineCode code;
    };

    /// The entry stays valid until the next call of shrink.
    Result<const Entry*> get(const CpuTarget& target, const ir::LoopNest& nest, std::size_t phase);
    /// Forgets everything once it holds more than it may.
    void shrink();

private:
    std::unordered_map<Hash128, Entry> m_entries;
    std::size_t m_bytes = 0;
};

} // namespace lathe::cpu
