#pragma once

namespace lathe::cuda {

/// What the two halves agree on. An artifact of this format is one JSON object, {"kernels": [{"ns", "launches"}]}, a
/// kernel for each in the descriptor: what one call of it should take, gaps between its launches included, and of how
/// many launches.
inline constexpr const char* kExpectedFormat = "expected-times";

/// The devices, one for each GPU that the model knows (model/gpu_facts.h), since times of two do not compare: by its
/// key there, and its name. Where a target names none, the first one is meant.
struct ExpectedDevice
{
    const char* gpu;
    const char* name;
};
inline constexpr ExpectedDevice kExpectedDevices[] = {
    {"a6000", "RTX A6000"}, {"a100", "A100"}, {"h100", "H100"}, {"h200", "H200"}, {"rtx4090", "RTX 4090"}};

} // namespace lathe::cuda
