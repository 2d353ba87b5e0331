#pragma once

#include "core/backend/codegen.h"
#include "core/wire/blob_store.h"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace lathe::wire {
class BuildCandidate;
class BuildJob;
class BuildResult;
class BuiltCandidate;
class LinkJob;
} // namespace lathe::wire

namespace lathe::backend {

/// Sees every kernel between lowering and generation, and may change it. An error is that of the kernel's candidate.
using AfterLowering = std::function<Result<>(schedule::LoweredKernel&)>;

/// Carries out build jobs: DAG and steps to State, loop nest, artifact. Every failure is of its candidate alone.
class JobBuilder
{
public:
    /// `afterLowering` may be empty: BuilderOptions::afterLowering.
    JobBuilder(std::filesystem::path pluginDir, AfterLowering afterLowering);
    ~JobBuilder();

    static std::vector<Hash128> missing(const wire::BuildJob& job, wire::BlobStore& blobs);
    static std::vector<Hash128> missing(const wire::LinkJob& job, wire::BlobStore& blobs);
    using Progress = std::function<void(std::uint32_t stage, const std::string& what)>;
    /// The product is put into `product`, its hash is set.
    wire::BuildResult build(const wire::BuildJob& job, wire::BlobStore& blobs, const Progress& progress,
                            std::string& product);
    /// By the codegen half of the job's target where that is installed, else by a linker of this machine's
    /// (linker_program.h): what is linked was made for a device, and needs none of that half's compiler.
    Result<> link(const wire::LinkJob& job, wire::BlobStore& blobs);

private:
    struct Lowered;
    Result<Codegen*> codegen(const std::string& target);
    Result<compute::DagPtr> dag(const Hash128& hash, wire::BlobStore& blobs);
    Result<schedule::LoweredKernel> lowerOne(const wire::BuildCandidate& candidate, KernelForm form,
                                             wire::BlobStore& blobs);
    Result<> generate(const wire::BuildJob& job, Codegen& generator, Lowered& lowered, wire::BuildResult& result,
                      std::string& product);
    Result<> generateArtifact(Codegen& generator, Lowered& lowered, wire::BuildResult& result, std::string& product);

    std::filesystem::path m_pluginDir;
    AfterLowering m_afterLowering;
    std::map<std::string, std::unique_ptr<Codegen>> m_codegens; ///< by target
    std::list<std::pair<Hash128, compute::DagPtr>> m_dags; ///< most recently used first
};

} // namespace lathe::backend
