/* Kernels with one fault each, as a code generator with a bug could have made them. All work on 1024 floats:
 * tensors[0] is the input, tensors[1] the output, which should be input + 1. */

#include "core/runtime/kernel_abi.h"

enum { kCount = 1024 };

#define PHASE __attribute__((visibility("default")))

PHASE int32_t good_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* in = args->tensors[0];
    float* out = args->tensors[1];
    for (uint32_t i = kCount * part / parts; i < kCount * (part + 1) / parts; ++i)
        out[i] = in[i] + 1;
    return 0;
}

/* Two phases through team scratch; the second reads what other parts wrote in the first. */
PHASE int32_t staged_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* in = args->tensors[0];
    float* staged = args->teamScratch;
    for (uint32_t i = kCount * part / parts; i < kCount * (part + 1) / parts; ++i)
        staged[kCount - 1 - i] = in[i];
    return 0;
}

PHASE int32_t staged_p1(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    float* own = scratch;
    const float* staged = args->teamScratch;
    float* out = args->tensors[1];
    for (uint32_t i = kCount * part / parts; i < kCount * (part + 1) / parts; ++i) {
        own[0] = staged[kCount - 1 - i];
        out[i] = own[0] + 1;
    }
    return 0;
}

PHASE int32_t wrong_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* in = args->tensors[0];
    float* out = args->tensors[1];
    for (uint32_t i = kCount * part / parts; i < kCount * (part + 1) / parts; ++i)
        out[i] = in[i] + (i == 999 ? 2.0f : 1.0f);
    return 0;
}

/* Right the first time only: it adds onto what is there if that is a number. */
PHASE int32_t again_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* in = args->tensors[0];
    float* out = args->tensors[1];
    for (uint32_t i = kCount * part / parts; i < kCount * (part + 1) / parts; ++i)
        out[i] = out[i] == out[i] ? out[i] + in[i] : in[i] + 1;
    return 0;
}

PHASE int32_t silent_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)args;
    (void)scratch;
    (void)part;
    (void)parts;
    return 0; /* writes nothing */
}

PHASE int32_t crash_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)args;
    (void)scratch;
    (void)part;
    (void)parts;
    *(volatile int*)16 = 1;
    return 0;
}

PHASE int32_t beyond_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    good_p0(args, scratch, part, parts);
    volatile float* out = args->tensors[1];
    out[kCount] = 1;
    return 0;
}

PHASE int32_t before_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    good_p0(args, scratch, part, parts);
    volatile float* out = args->tensors[1];
    out[-1] = 1;
    return 0;
}

/* For an output of 1000 floats: one element more, which lies in the margin before the guard. */
PHASE int32_t margin_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)scratch;
    const float* in = args->tensors[0];
    volatile float* out = args->tensors[1];
    for (uint32_t i = 0; part == 0 && i <= 1000; ++i)
        out[i] = in[i] + 1;
    (void)parts;
    return 0;
}

PHASE int32_t hang_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)args;
    (void)scratch;
    (void)parts;
    for (volatile uint32_t i = 0; part == 0; ++i) { }
    return 0;
}

PHASE int32_t code_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    (void)args;
    (void)scratch;
    (void)part;
    (void)parts;
    return 7;
}

/* One element behind the 64 bytes of a part's own scratch, and as good as good_p0 otherwise. */
PHASE int32_t part_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    good_p0(args, scratch, part, parts);
    volatile float* own = scratch;
    own[16] = 1;
    return 0;
}

/* One element before the team's scratch. */
PHASE int32_t team_p0(const LatheArgs* args, void* scratch, uint32_t part, uint32_t parts)
{
    good_p0(args, scratch, part, parts);
    volatile float* staged = args->teamScratch;
    if (part == 0)
        staged[-1] = 1;
    return 0;
}
