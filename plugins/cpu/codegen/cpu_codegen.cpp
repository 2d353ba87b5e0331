#include "plugins/cpu/codegen/cpu_codegen.h"

#include "core/backend/library_link.h"
#include "core/ir/scratch.h"
#include "core/support/processor_time.h"
#include "plugins/cpu/codegen/emit.h"
#include "plugins/cpu/codegen/link.h"
#include "plugins/cpu/codegen/linker.h"
#include "plugins/cpu/codegen/listing.h"

#include <fmt/format.h>

#include <chrono>
#include <unordered_set>

namespace lathe::cpu {

namespace {

KernelInfo describe(const schedule::LoweredKernel& kernel, std::vector<std::string> phases)
{
    KernelInfo info;
    info.name = kernel.nest.name;
    info.phases = std::move(phases);
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

Result<std::vector<const PhaseCache::Entry*>> CpuCodegen::compilePhases(const ir::LoopNest& nest)
{
    std::vector<const PhaseCache::Entry*> phases;
    for (std::size_t phase = 0; phase < nest.phases.size(); ++phase) {
        LATHE_TRY_ASSIGN(const PhaseCache::Entry* entry, m_cache.get(m_target, nest, phase));
        phases.push_back(entry);
    }
    return phases;
}

Result<backend::Artifact> CpuCodegen::build(std::span<const schedule::LoweredKernel> kernels)
{
    backend::Artifact artifact;
    artifact.descriptor.format = "cpu-so";
    artifact.descriptor.target = m_targetText;
    artifact.descriptor.features = features();
    std::vector<Bytes> objects;
    std::vector<std::string> symbols;
    std::unordered_set<std::string> names;
    std::unordered_set<const PhaseCache::Entry*> linked;
    m_cache.shrink();
    for (const schedule::LoweredKernel& kernel : kernels) {
        const auto start = std::chrono::steady_clock::now();
        backend::BuiltKernel built;
        if (!names.insert(kernel.nest.name).second) {
            built.status = makeError(Errc::InvalidArgument,
                                     fmt::format("two kernels are named '{}'", kernel.nest.name));
        } else if (Result<std::vector<const PhaseCache::Entry*>> phases = compilePhases(kernel.nest); !phases) {
            built.status = std::move(phases).error();
        } else {
            std::vector<std::string> phaseSymbols;
            for (const PhaseCache::Entry* entry : *phases) {
                for (const auto& [name, facts] : entry->code.functions) {
                    built.info.vectorSpills += facts.vectorSpills;
                    built.info.codeBytes += facts.codeBytes;
                }
                phaseSymbols.push_back(entry->symbol);
                if (!linked.insert(entry).second)
                    continue;
                objects.push_back(entry->code.bytes);
                symbols.push_back(entry->symbol);
            }
            artifact.descriptor.kernels.push_back(describe(kernel, std::move(phaseSymbols)));
        }
        built.info.emitMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        artifact.kernels.push_back(std::move(built));
    }
    if (objects.empty()) {
        if (artifact.kernels.size() == 1)
            return artifact.kernels[0].status.error();
        return makeError(Errc::BuildFailed, fmt::format("none of {} kernels could be built", kernels.size()));
    }
    const double linking = processorSeconds();
    LATHE_TRY_ASSIGN(artifact.bytes, linkArtifact(objects, symbols));
    artifact.linkProcessorSeconds = processorSeconds() - linking;
    return artifact;
}

Result<backend::Listing> CpuCodegen::listing(const schedule::LoweredKernel& kernel, std::string_view name)
{
    return makeListing(m_target, kernel.nest, name);
}

Result<std::vector<std::byte>> CpuCodegen::compileObject(std::span<const schedule::LoweredKernel> kernels,
                                                         std::span<KernelInfo> /*infos*/)
{
    std::vector<Bytes> objects;
    for (const schedule::LoweredKernel& kernel : kernels)
        for (std::size_t phase = 0; phase < kernel.nest.phases.size(); ++phase) {
            LATHE_TRY_ASSIGN(MachineCode code, compilePhase(m_target, kernel.nest, phase,
                                                            phaseSymbol(kernel.nest, phase), CodeFormat::Object));
            objects.push_back(std::move(code.bytes));
        }
    if (objects.size() == 1)
        return std::move(objects.front());
    return linkRelocatable(objects);
}

Result<> CpuCodegen::linkLibrary(const backend::LibraryRequest& request)
{
    LldLinker linker;
    return backend::linkLibrary(request, m_target.triple.substr(0, m_target.triple.find('-')), linker);
}

} // namespace lathe::cpu
