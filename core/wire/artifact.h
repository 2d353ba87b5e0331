#pragma once

#include "core/runtime/index_map.h"
#include "core/support/result.h"

#include <nlohmann/json_fwd.hpp>

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

/// One candidate inside an artifact.
struct KernelInfo
{
    std::string name; ///< prefix of its symbols
    std::vector<std::string> phases; ///< symbols, in order (CPU: LathePhase functions)
    std::int64_t teamScratchBytes = 0;
    std::int64_t partScratchBytes = 0;
    std::vector<ArgSpec> parameters; ///< order of LatheArgs::tensors
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
