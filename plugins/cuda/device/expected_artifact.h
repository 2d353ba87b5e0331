#pragma once

namespace lathe::cuda {

/// What the two halves agree on. An artifact of this format is one JSON object, {"kernels": [{"ns", "launches"}]}, a
/// kernel for each in the descriptor: what one call of it should take, gaps between its launches included, and of how
/// many launches.
inline constexpr const char* kExpectedFormat = "expected-times";

/// By which the device is called, and its name.
inline constexpr const char* kExpectedDevice = "expected";
inline constexpr const char* kExpectedDeviceName = "expected times of NVIDIA GPUs (no GPU is asked; times are of a "
                                                   "model)";

} // namespace lathe::cuda
