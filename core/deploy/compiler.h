#pragma once

#include "core/backend/codegen.h"
#include "core/compute/dag.h"
#include "core/support/deadline.h"
#include "core/wire/artifact.h"

#include <chrono>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace lathe::deploy {

/// A kernel to compile: what it computes and by which schedule.
struct KernelSource
{
    std::string name; ///< prefix of its symbols, unique in the library
    compute::DagPtr dag;
    std::string steps; ///< JSON text of schedule::Step lists
    std::vector<bool> constantInputs; ///< by position in Dag::inputs
};

struct CompiledKernels
{
    std::vector<std::vector<std::byte>> objects; ///< relocatable, together all kernels
    std::vector<KernelInfo> kernels; ///< one per source
    std::vector<std::string> features; ///< ArtifactDescriptor::features
};

/// Where code is generated: lathe-builder in programs, in-process in tests.
class Compiler
{
public:
    virtual ~Compiler() = default;
    /// Errors: IllegalSchedule, Unsupported, BuildFailed, BuildTimeout ..., naming the kernel.
    virtual Result<CompiledKernels> compile(std::span<const KernelSource> kernels) = 0;
    virtual Result<> link(const backend::LibraryRequest& request) = 0;
};

/// Over so many lathe-builders, which share the kernels among them; the first one links, or one for the target that
/// BackendTraits::linker names (JobBuilder::link()). `timeout` is for each of the
/// two calls, a stop ends them with Cancelled. Errors: those of BuilderClient::start().
/// @param device  DeviceIdentity::fingerprint of the device that the kernels are to run on; empty: none in particular
Result<std::unique_ptr<Compiler>> makeBuilderCompiler(const std::string& target, std::size_t builders,
                                                      std::chrono::nanoseconds timeout, std::stop_token stop = {},
                                                      const std::string& device = {});

} // namespace lathe::deploy
