#pragma once

/// Device half: the C ABI of a plugin that runs artifacts. One exported function,
///     const LatheDeviceApi* lathe_device_api(void);
/// Loaded by lathe-runner alone. Nothing but C types crosses; nothing throws. A function that fails returns non-zero
/// and fills `error` (if given) with a code of codes.h and a sentence. Threads: one thread drives one LatheDevice;
/// several devices may be driven at once.

#include "core/runtime/codes.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LATHE_DEVICE_ABI_VERSION 4u

typedef struct LatheDeviceError
{
    uint32_t code; /* enum LatheErrc */
    char text[1020];
} LatheDeviceError;

typedef struct LatheDevice LatheDevice; /* an opened device */
typedef struct LatheModule LatheModule; /* a loaded artifact */

/* One kernel call of a launch list: candidate `kernel` of `module` on buffers in the artifact's parameter order. A
 * kernel of launches (the descriptor's "form") runs all of them, in order, with scratch of the device half's own; one
 * that the device cannot make is refused by build() or run(), with LATHE_ERRC_UNSUPPORTED and the limit. */
typedef struct LatheLaunch
{
    LatheModule* module;
    uint32_t kernel;
    void* const* buffers; /* device pointers from allocate() */
    uint32_t bufferCount;
    uint32_t timed; /* 1: counts towards the reported time; 0: runs before or between untimed */
} LatheLaunch;

/* The time is of a model and the outputs were not computed (a simulator told not to interpret). */
#define LATHE_TIMING_NOT_COMPUTED 1u

typedef struct LatheTiming
{
    /* Of all timed launches of `iterations` passes over the list; without what others took of the processor meanwhile,
     * where the device can tell. */
    uint64_t nanoseconds;
    uint32_t clock; /* enum LatheClock */
    uint32_t flags; /* LATHE_TIMING_... */
} LatheTiming;

typedef struct LatheDeviceApi
{
    uint32_t abiVersion; /* LATHE_DEVICE_ABI_VERSION, compared for equality */
    uint32_t structSize;
    const char* kind; /* "cpu", "sim", ... */

    /* JSON array of devices that this machine has: [{"key","name","hardware":{name:{"value","origin"}}}], and
     * "shares_cores": true of one that is made of this machine's processor though its target may be one beside it,
     * "clock": "model" of one that computes its times, though others of its target measure them, "words": "-gpu=a100" of
     * one that is only for targets that say nothing else of these; static storage. Without a driver: an empty array, or
     * [{"name","error"}] with a sentence that says what is
     * missing. */
    const char* (*enumerate)(void);
    /* options: the target's words ("-threads=2 ..."). */
    int (*open)(const char* key, const char* options, LatheDevice** device, LatheDeviceError* error);
    void (*close)(LatheDevice* device);
    /* Optional: programs an FPGA, wakes a board. NULL if there is nothing to do. Nobody calls it yet: it is for the
     * accelerator (VTA), whose bitstream must be loaded before its first run, and for boards behind a broker. */
    int (*prepare)(LatheDevice* device, const void* blob, size_t bytes, LatheDeviceError* error);
    /* JSON of clocks, temperature, calibration ns now; valid until the next call. */
    const char* (*health)(LatheDevice* device);
    /* JSON of what the device can do, measured now: {"gflops", "levels": [{"name","bytes","gbytes_per_s"}]}, fastest
     * level first, bytes 0: no bound; {} if it means nothing here. Valid until the next call. */
    const char* (*limits)(LatheDevice* device);

    /* Errors: UNSUPPORTED where there is no room for so much, which is the trial's trouble, not the device's. */
    int (*allocate)(LatheDevice* device, size_t bytes, void** buffer, LatheDeviceError* error);
    void (*release)(LatheDevice* device, void* buffer);
    int (*copyIn)(LatheDevice* device, void* buffer, size_t offset, const void* host, size_t bytes,
                  LatheDeviceError* error);
    int (*copyOut)(LatheDevice* device, void* host, const void* buffer, size_t offset, size_t bytes,
                   LatheDeviceError* error);

    /* artifact: bytes made by the codegen half; descriptor: its JSON, checked by the runner: kernels with their "form",
     * for "phases" their symbols and scratch, for "launches" the list of them, each with "symbol", "buffers" (an index
     * below the number of parameters is one of these, those above are of "scratch", a list of bytes), "grid", "block",
     * "shared_bytes"; parameters (core/wire/artifact.h). */
    int (*load)(LatheDevice* device, const void* artifact, size_t bytes, const char* descriptor, LatheModule** module,
                LatheDeviceError* error);
    void (*unload)(LatheDevice* device, LatheModule* module);

    /* Optional: compiles what of the module's kernel of this number has not been compiled yet, so that no run() of it
     * has anything left to compile; done already, it is over at once. NULL: load() leaves nothing to compile. The
     * runner calls it behind load() and before the first run() of a kernel, and tells before; its time counts as build.
     * It may take long, hang, or end the process, as compilers do: whoever supervises the runner gives it the time-out
     * of a build, and charges what goes wrong to the build of this one kernel. A run() of a kernel that was not built
     * compiles it first. Errors: BUILD_FAILED with the compiler's words, again at each later call; UNSUPPORTED with the
     * limit of what the device could never start; INVALID_ARGUMENT, if the module has no such kernel. */
    int (*build)(LatheDevice* device, LatheModule* module, uint32_t kernel, LatheDeviceError* error);

    /* Runs the list `iterations` times and waits. coldBytes > 0: before each iteration that much unrelated memory is
     * read, untimed, so that weights are cold. timing may be NULL. */
    int (*run)(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations,
               uint64_t coldBytes, LatheTiming* timing, LatheDeviceError* error);
} LatheDeviceApi;

typedef const LatheDeviceApi* (*LatheDeviceApiFn)(void);

#ifdef __cplusplus
}
#endif
