#pragma once

/// The C ABI between generated CPU kernels and whoever runs them (runner, deploy library). Included by C.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// tensors[i] points at the buffer of parameter i in the artifact's ArgSpec order, 64-byte aligned.
/// teamScratch: the candidate's team scratch (shared by all parts, kept between phases), 64-byte aligned.
typedef struct LatheArgs
{
    void* const* tensors;
    void* teamScratch;
} LatheArgs;

/// One phase of a kernel. Right for any parts >= 1 and part < parts; parts of one phase may run at once, a barrier
/// stands between phases. partScratch: this part's own scratch, contents undefined at entry, 64-byte aligned.
/// Returns 0, or a code that ends the kernel.
typedef int32_t (*LathePhase)(const LatheArgs* args, void* partScratch, uint32_t part, uint32_t parts);

#ifdef __cplusplus
}
#endif
