#pragma once

#include "core/backend/codegen.h"
#include "plugins/cpu/codegen/cpu_target.h"
#include "plugins/cpu/codegen/phase_compiler.h"

namespace lathe::cpu {

/// Codegen half of the CPU back end: loop nests through LLVM IR and LLD to shared objects. One instance per thread.
class CpuCodegen final : public backend::Codegen
{
public:
    static Result<std::unique_ptr<backend::Codegen>> create(const Target& target);

    Result<backend::Artifact> build(std::span<const schedule::LoweredKernel> kernels) override;
    Result<backend::Listing> listing(const schedule::LoweredKernel& kernel, std::string_view name) override;
    Result<std::vector<std::byte>> compileObject(std::span<const schedule::LoweredKernel> kernels,
                                                 std::span<KernelInfo> infos) override;
    Result<> linkLibrary(const backend::LibraryRequest& request) override;
    std::vector<std::string> features() const override { return m_target.checkedFeatures; }

private:
    CpuCodegen(CpuTarget target, std::string text)
        : m_target(std::move(target))
        , m_targetText(std::move(text))
    {
    }

    Result<std::vector<const PhaseCache::Entry*>> compilePhases(const ir::LoopNest& nest);

    CpuTarget m_target;
    std::string m_targetText;
    PhaseCache m_cache;
};

} // namespace lathe::cpu
