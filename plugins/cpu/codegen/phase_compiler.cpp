#include "plugins/cpu/codegen/phase_compiler.h"

#include "core/ir/scratch.h"
#include "plugins/cpu/codegen/phase_key.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace lathe::cpu {

namespace {

constexpr std::size_t kMaxCacheBytes = 64 << 20;

std::int64_t spills(const MachineCode& code)
{
    std::int64_t sum = 0;
    for (const auto& [name, facts] : code.functions)
        sum += facts.vectorSpills;
    return sum;
}

/// Whether another order of instructions may help: some vectors spill, but not because far too many are alive.
bool isWorthAnotherTry(const MachineCode& code)
{
    constexpr std::int64_t kTolerated = 12;
    constexpr std::int64_t kHopelessShare = 3;
    std::int64_t accesses = 0;
    for (const auto& [name, facts] : code.functions)
        accesses += facts.vectorAccesses;
    return spills(code) > kTolerated && spills(code) * kHopelessShare < accesses;
}

} // namespace

Result<std::unique_ptr<llvm::Module>> emitModule(llvm::LLVMContext& context, const CpuTarget& target,
                                                 const ir::LoopNest& nest, std::size_t phase, const std::string& symbol,
                                                 const ir::PrintedNest* printed)
{
    auto module = std::make_unique<llvm::Module>("lathe", context);
    module->setTargetTriple(target.triple);
    module->setDataLayout(target.machine->createDataLayout());
    module->setPICLevel(llvm::PICLevel::BigPIC);
    LATHE_TRY(emitPhase(*module, nest, phase, symbol, target, printed));
    LATHE_TRY(optimize(*module, target));
    return module;
}

Result<MachineCode> compilePhase(const CpuTarget& target, const ir::LoopNest& nest, std::size_t phase,
                                 const std::string& symbol, CodeFormat format, const ir::PrintedNest* printed)
{
    const auto compile = [&](bool schedules) -> Result<MachineCode> {
        llvm::LLVMContext context;
        LATHE_TRY_ASSIGN(const std::unique_ptr<llvm::Module> module,
                         emitModule(context, target, nest, phase, symbol, printed));
        return generate(*module, target, format, schedules);
    };
    // Cores that do not run out of order need LLVM's scheduler.
    const bool schedules = !target.outOfOrder;
    LATHE_TRY_ASSIGN(MachineCode first, compile(schedules));
    if (!isWorthAnotherTry(first))
        return first;
    LATHE_TRY_ASSIGN(MachineCode second, compile(!schedules));
    return spills(second) < spills(first) ? std::move(second) : std::move(first);
}

Result<const PhaseCache::Entry*> PhaseCache::get(const CpuTarget& target, const ir::LoopNest& nest, std::size_t phase)
{
    const Hash128 key = phaseKey(nest, ir::scratchLayout(nest), phase);
    if (const auto known = m_entries.find(key); known != m_entries.end())
        return &known->second;
    Entry entry{"phase_" + key.hex(), {}};
    LATHE_TRY_ASSIGN(entry.code, compilePhase(target, nest, phase, entry.symbol, CodeFormat::Object));
    m_bytes += entry.code.bytes.size();
    return &m_entries.emplace(key, std::move(entry)).first->second;
}

void PhaseCache::shrink()
{
    if (m_bytes <= kMaxCacheBytes)
        return;
    m_entries.clear();
    m_bytes = 0;
}

} // namespace lathe::cpu
