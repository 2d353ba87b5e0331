#pragma once

#include "core/runtime/index_map.h"
#include "core/runtime/kernel_form.h"
#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lathe {

enum class ArgRole : std::uint8_t
{
    Input,
    Constant, ///< a weight: packed ahead of time
    Output
};

/// One parameter of a kernel: the logical tensor and how it lies in memory.
struct ArgSpec
{
    std::string name;
    ArgRole role = ArgRole::Input;
    DType dtype = DType::F32;
    IndexMap map;
};

/// What a device starts at once: a grid of blocks of threads, all of which run one function.
struct LaunchInfo
{
    std::string symbol; ///< of the function; never empty
    /// What its parameters point to, in order: i < parameters.size() is the kernel's parameter i, what lies above is
    /// its scratch i - parameters.size().
    std::vector<std::int32_t> buffers;
    std::array<std::int64_t, 3> grid = {1, 1, 1}; ///< blocks along x, y, z
    std::array<std::int64_t, 3> block = {1, 1, 1}; ///< threads of a block along x, y, z
    std::int64_t sharedBytes = 0; ///< of a block, declared by the function itself

    bool operator==(const LaunchInfo&) const = default;
};

/// One candidate inside an artifact.
struct KernelInfo
{
    std::string name; ///< prefix of its symbols
    std::vector<std::string> phases; ///< symbols, in order (CPU: LathePhase functions)
    std::int64_t teamScratchBytes = 0; ///< of phases
    std::int64_t partScratchBytes = 0; ///< likewise
    std::vector<ArgSpec> parameters; ///< order of LatheArgs::tensors, and of LatheLaunch::buffers
    KernelForm form = KernelForm::Phases; ///< which of the two lists counts; the other one is empty
    std::vector<LaunchInfo> launches = {}; ///< in the order in which they run: each sees all that those before it wrote
    /// Bytes of each buffer that the launches of one call hand over to each other, in the device's memory: nothing is
    /// in them when a call begins, and nobody reads them behind it. Whoever runs the kernel has them.
    std::vector<std::int64_t> scratch = {};
};

/// What travels beside an artifact's bytes, as JSON.
struct ArtifactDescriptor
{
    std::string format; ///< "cpu-so", "sim-nest", "cubin", "opencl-c" ...
    std::string target; ///< Target::text()
    std::vector<KernelInfo> kernels;
    std::vector<std::string> features = {}; ///< what a processor must have to run them (core/runtime/cpu_features.h)
};

nlohmann::json toJson(const ArgSpec& spec);
Result<ArgSpec> argSpecFromJson(const nlohmann::json& json);
nlohmann::json toJson(const ArtifactDescriptor& descriptor);
Result<ArtifactDescriptor> artifactDescriptorFromJson(const nlohmann::json& json);

} // namespace lathe
