#include "plugins/cpu/codegen/cpu_codegen.h"
#include "core/ir/scratch.h"
#include "plugins/cpu/codegen/compile.h"
#include "plugins/cpu/codegen/emit.h"
#include "plugins/cpu/codegen/link.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <chrono>
#include <unordered_set>

namespace lathe::cpu {

namespace {

std::unique_ptr<llvm::Module> makeModule(llvm::LLVMContext& context, const CpuTarget& target)
{
    auto module = std::make_unique<llvm::Module>("lathe", context);
    module->setTargetTriple(target.triple);
    module->setDataLayout(target.machine->createDataLayout());
    module->setPICLevel(llvm::PICLevel::BigPIC);
    return module;
}

Result<std::unique_ptr<llvm::Module>> emitModule(llvm::LLVMContext& context, const CpuTarget& target,
                                                 const schedule::LoweredKernel& kernel, const EmitOptions& options)
{
    std::unique_ptr<llvm::Module> module = makeModule(context, target);
    LATHE_TRY(emitNest(*module, kernel.nest, target, options));
    LATHE_TRY(optimize(*module, target));
    return module;
}

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

/// Ways to emit one kernel, tried in order until its vectors stay in registers.
struct Variant
{
    bool schedules = false;
    bool separatesSteps = false;
};

struct Compiled
{
    MachineCode code;
    Variant variant;
};

std::vector<Variant> variantsFor(const CpuTarget& target)
{
    // Steps kept apart, in the order in which they were emitted, spill least on nearly all tiles. Cores that do not run out
    // of order need LLVM's scheduler all the same.
    const bool schedules = !target.outOfOrder;
    return {{schedules, true}, {!schedules, true}, {schedules, false}};
}

EmitOptions emitOptions(const Variant& variant)
{
    EmitOptions options;
    options.separateSteps = variant.separatesSteps;
    return options;
}

/// Each kernel is made in the first way that spills no more than a few vectors, else in the way that spills least.
Result<Compiled> compileKernel(const CpuTarget& target, const schedule::LoweredKernel& kernel, CodeFormat format)
{
    std::optional<Compiled> best;
    for (const Variant& variant : variantsFor(target)) {
        llvm::LLVMContext context;
        LATHE_TRY_ASSIGN(const std::unique_ptr<llvm::Module> module,
                         emitModule(context, target, kernel, emitOptions(variant)));
        LATHE_TRY_ASSIGN(MachineCode code, generate(*module, target, format, variant.schedules));
        if (!best || spills(code) < spills(best->code))
            best = Compiled{std::move(code), variant};
        if (!isWorthAnotherTry(best->code))
            break;
    }
    return *std::move(best);
}

KernelInfo describe(const schedule::LoweredKernel& kernel)
{
    KernelInfo info;
    info.name = kernel.nest.name;
    for (std::size_t phase = 0; phase < kernel.nest.phases.size(); ++phase)
        info.phases.push_back(phaseSymbol(kernel.nest, phase));
    const ir::ScratchLayout scratch = ir::scratchLayout(kernel.nest);
    info.teamScratchBytes = std::max(kernel.teamScratchBytes, scratch.teamBytes);
    info.partScratchBytes = std::max(kernel.partScratchBytes, scratch.partBytes);
    info.parameters = kernel.parameters;
    return info;
}

} // namespace

Result<std::unique_ptr<backend::Codegen>> CpuCodegen::create(const Target& target)
{
    LATHE_TRY_ASSIGN(CpuTarget cpu, CpuTarget::create(target));
    return std::unique_ptr<backend::Codegen>(new CpuCodegen(std::move(cpu), target.text()));
}

Result<backend::Artifact> CpuCodegen::build(std::span<const schedule::LoweredKernel> kernels)
{
    backend::Artifact artifact;
    artifact.descriptor.format = "cpu-so";
    artifact.descriptor.target = m_targetText;
    std::vector<Bytes> objects;
    std::vector<std::string> symbols;
    std::unordered_set<std::string> names;
    for (const schedule::LoweredKernel& kernel : kernels) {
        const auto start = std::chrono::steady_clock::now();
        backend::BuiltKernel built;
        if (!names.insert(kernel.nest.name).second) {
            built.status = makeError(Errc::InvalidArgument, fmt::format("two kernels are named '{}'", kernel.nest.name));
        } else if (Result<Compiled> compiled = compileKernel(m_target, kernel, CodeFormat::Object); !compiled) {
            built.status = std::move(compiled).error();
        } else {
            for (const auto& [name, facts] : compiled->code.functions) {
                built.info.vectorSpills += facts.vectorSpills;
                built.info.codeBytes += facts.codeBytes;
            }
            objects.push_back(std::move(compiled->code.bytes));
            artifact.descriptor.kernels.push_back(describe(kernel));
            const std::vector<std::string>& phases = artifact.descriptor.kernels.back().phases;
            symbols.insert(symbols.end(), phases.begin(), phases.end());
        }
        built.info.emitMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        artifact.kernels.push_back(std::move(built));
    }
    if (objects.empty()) {
        if (artifact.kernels.size() == 1)
            return artifact.kernels[0].status.error();
        return makeError(Errc::BuildFailed, fmt::format("none of {} kernels could be built", kernels.size()));
    }
    LATHE_TRY_ASSIGN(artifact.bytes, linkArtifact(objects, symbols));
    return artifact;
}

Result<std::string> CpuCodegen::listing(const schedule::LoweredKernel& kernel, backend::Listing kind)
{
    if (kind == backend::Listing::Source)
        return makeError(Errc::Unsupported, "the CPU back end goes through no source text; ask for LLVM IR or assembly");
    if (kind == backend::Listing::Assembly) {
        LATHE_TRY_ASSIGN(const Compiled compiled, compileKernel(m_target, kernel, CodeFormat::Assembly));
        return std::string(reinterpret_cast<const char*>(compiled.code.bytes.data()), compiled.code.bytes.size());
    }
    LATHE_TRY_ASSIGN(const Compiled compiled, compileKernel(m_target, kernel, CodeFormat::Object));
    llvm::LLVMContext context;
    LATHE_TRY_ASSIGN(const std::unique_ptr<llvm::Module> module,
                     emitModule(context, m_target, kernel, emitOptions(compiled.variant)));
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return stream.str();
}

Result<std::vector<std::byte>> CpuCodegen::compileObject(std::span<const schedule::LoweredKernel> kernels)
{
    std::vector<Bytes> objects;
    for (const schedule::LoweredKernel& kernel : kernels) {
        LATHE_TRY_ASSIGN(Compiled compiled, compileKernel(m_target, kernel, CodeFormat::Object));
        objects.push_back(std::move(compiled.code.bytes));
    }
    if (objects.size() == 1)
        return std::move(objects.front());
    return linkRelocatable(objects);
}

Result<> CpuCodegen::linkLibrary(const backend::LibraryRequest& request)
{
    return linkDeployLibrary(request, m_target.triple);
}

} // namespace lathe::cpu
