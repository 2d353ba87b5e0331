/* The kernels of hand_network.h, written by hand in the form in which the code generator makes them. */
#include "core/runtime/kernel_abi.h"

#include <math.h>
#include <stddef.h>

enum
{
    kChannels = 20,
    kBlocks = 2,
    kLanes = 16,
    kPixels = 16
};

/* x [20, 16] * w [20], written as [2, 16, 16c] with zeros in the padding; two phases. */
int32_t hand_clear(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    float* out = args->tensors[2];
    for (uint32_t i = kBlocks * kPixels * kLanes * part / parts; i < kBlocks * kPixels * kLanes * (part + 1) / parts; ++i)
        out[i] = 0;
    return 0;
}
int32_t hand_scale(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* x = args->tensors[0];
    const float* w = args->tensors[1];
    float* out = args->tensors[2];
    for (uint32_t c = kChannels * part / parts; c < kChannels * (part + 1) / parts; ++c)
        for (uint32_t p = 0; p < kPixels; ++p)
            out[(c / kLanes * kPixels + p) * kLanes + c % kLanes] = x[c * kPixels + p] * w[c];
    return 0;
}
/* In any layout; may write over its input. */
int32_t hand_relu(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* in = args->tensors[0];
    float* out = args->tensors[1];
    for (uint32_t i = kBlocks * kPixels * kLanes * part / parts; i < kBlocks * kPixels * kLanes * (part + 1) / parts; ++i)
        out[i] = in[i] > 0 ? in[i] : 0;
    return 0;
}
/* A kernel with a bug. */
int32_t hand_wrong_relu(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    const int32_t code = hand_relu(args, scratch, part, parts);
    float* out = args->tensors[1];
    if (part == 0)
        out[5] += 100;
    return code;
}
/* Kernels that take their process with them, or keep it. */
int32_t hand_crash_relu(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)args, (void)scratch, (void)part, (void)parts;
    volatile int* volatile nowhere = NULL;
    *nowhere = 1;
    return 0;
}
int32_t hand_hang_relu(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)args, (void)scratch, (void)part, (void)parts;
    for (volatile uint32_t i = 0;; ++i)
        ;
}
/* x [20, 16] + b [20, 16] */
int32_t hand_add(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    const float* x = args->tensors[0];
    const float* b = args->tensors[1];
    float* out = args->tensors[2];
    float* line = scratch;
    for (uint32_t c = kChannels * part / parts; c < kChannels * (part + 1) / parts; ++c) {
        for (uint32_t p = 0; p < kPixels; ++p)
            line[p] = x[c * kPixels + p] + b[c * kPixels + p];
        for (uint32_t p = 0; p < kPixels; ++p)
            out[c * kPixels + p] = line[p];
    }
    return 0;
}
