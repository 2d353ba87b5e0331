#pragma once

#include "core/backend/codegen.h"
#include "core/graph/operator.h"
#include "core/measure/types.h"
#include "core/support/deadline.h"
#include "core/support/result.h"

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::measure {

/// A kernel to build: the DAG, its schedule, its name.
struct KernelJob
{
    std::string name; ///< prefix of its symbols
    std::string dagJson;
    std::string steps; ///< JSON; "[]": none
    std::vector<bool> constantInputs;
};

struct KernelStatus
{
    TrialStage stage = TrialStage::Done; ///< or where it failed
    Errc code = Errc::Ok;
    std::string text;
    About about = {}; ///< the text
    std::int32_t kernel = -1; ///< index in the descriptor
    backend::EmitInfo info;
    double lowerMs = 0;
};

struct BuiltProduct
{
    std::string bytes; ///< artifact or relocatable object; empty if no kernel was built
    std::vector<backend::Listing> listings = {}; ///< of the kernels that were built, in order
    ArtifactDescriptor descriptor; ///< of the kernels that were built, in order; also for objects
    std::vector<KernelStatus> kernels; ///< one per job
};

enum class Product : std::uint8_t
{
    Artifact,
    Object, ///< phases as symbols "<name>_p<i>", for LibraryRequest
    Listing
};

/// One lathe-builder, used step by step: what deploy, listings and tests need. Code generators run in that process
/// alone.
class BuilderClient
{
public:
    /// A stop ends the process in the middle of its work: calls give Cancelled.
    /// @param device  DeviceIdentity::fingerprint of the device that the code is to run on; empty: none in particular
    static Result<std::unique_ptr<BuilderClient>> start(std::string target, const WorkerPrograms& programs = {},
                                                        std::stop_token stop = {}, std::string device = {});
    ~BuilderClient();
    BuilderClient(const BuilderClient&) = delete;
    BuilderClient& operator=(const BuilderClient&) = delete;

    /// Errors of single kernels are in the product; of the call: BuildTimeout, WorkerCrashed, Incompatible, NotFound.
    /// After an error the process is started afresh at the next call. One that is killed from outside is replaced at
    /// once, and asked again once: then it is WorkerCrashed.
    /// @param listing  which one (TargetKind::listings), where that is the product.
    Result<BuiltProduct> build(std::span<const KernelJob> kernels, Product product, Deadline deadline,
                               const std::string& listing = {});
    Result<> link(const backend::LibraryRequest& request, Deadline deadline);
    /// What a network must give on these inputs, by the operators' plain evaluation in that process; no target is
    /// needed. The network's constants go there in a file. Errors: RunTimeout, Cancelled, WorkerCrashed, StoreFailed,
    /// those of graph::interpret.
    Result<std::vector<graph::HostTensor>> evaluate(const graph::Graph& network,
                                                    const std::vector<graph::HostTensor>& inputs, Deadline deadline);

private:
    struct Impl;
    explicit BuilderClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> m_impl;
};

} // namespace lathe::measure
