#pragma once

#include "core/support/result.h"
#include "plugins/cuda/model/kernel_facts.h"

#include <span>
#include <string>
#include <string_view>

namespace lathe::cuda::ladder {

/// A product of two matrices of 4096 x 4096 in float32 on an RTX A6000, step by step from 1.3 to 93.7 % of what cuBLAS
/// reaches there. The speeds are those that S. Boehm published ("How to Optimize a CUDA Matmul Kernel for cuBLAS-like
/// Performance", 2022; github.com/siboehm/SGEMM_CUDA, README.md), as are the tile sizes; the kernels are our own
/// (sgemm.cu).
struct Step
{
    std::string_view kernel; ///< in sgemm.cu
    std::string_view title;
    SassLaunch launch;
    double publishedGflops = 0;
    /// What readKernel() made of NVRTC 13.5's code for sm_86, on an RTX A6000: for machines without NVRTC.
    KernelFacts stored;
};

inline constexpr double kCublasGflops = 23249.6; ///< likewise, on that card
inline constexpr double kFlop = 2.0 * 4096 * 4096 * 4096;

std::span<const Step> steps();
/// Of cuBLAS's speed.
inline double percentOf(double seconds)
{
    return kFlop / seconds / 1e9 / kCublasGflops * 100;
}

/// What NVRTC and nvdisasm make of sgemm.cu for "sm_86" and its like. NVRTC is the file, or lies in the folder, that
/// LATHE_NVRTC names; else the loader finds it. Errors: NotFound if one of both is not here; BuildFailed.
Result<std::string> disassembly(std::string_view architecture);

} // namespace lathe::cuda::ladder
