#pragma once

namespace lathe::cuda {

using ManagedDevice = struct OpaqueManagedDevice*;
using ManagedEvents = struct OpaqueManagedEvents*;

/// In the library's layout (nvmlEventData_t).
struct ManagedEvent
{
    ManagedDevice device;
    unsigned long long type;
    unsigned long long number; ///< of an Xid message
    unsigned gpuInstance, computeInstance;
};

// The library's own numbers, as its manual lists them.
inline constexpr int kClockOfProcessors = 1, kClockOfMemory = 2, kTemperatureOfGpu = 0;
inline constexpr int kUncorrected = 1, kSinceStart = 0; ///< kinds of memory errors, and of their counters
inline constexpr unsigned long long kXidEvent = 8;
inline constexpr unsigned long long kIdle = 1; ///< a reason for a low clock

/// Those of the management library's functions that are used, in declarations of our own. All return 0 if they succeed.
struct ManagementFunctions
{
    int (*init)() = nullptr;
    int (*deviceByUuid)(const char* uuid, ManagedDevice* device) = nullptr;
    // Optional.
    int (*clock)(ManagedDevice device, int which, unsigned* mhz) = nullptr;
    int (*temperature)(ManagedDevice device, int where, unsigned* degrees) = nullptr;
    int (*power)(ManagedDevice device, unsigned* milliwatts) = nullptr;
    int (*slowedBy)(ManagedDevice device, unsigned long long* reasons) = nullptr;
    int (*memoryErrors)(ManagedDevice device, int kind, int counter, unsigned long long* count) = nullptr;
    int (*remappedRows)(ManagedDevice device, unsigned* corrected, unsigned* uncorrected, unsigned* isPending,
                        unsigned* hasFailed) = nullptr;
    int (*eventSetCreate)(ManagedEvents* set) = nullptr;
    int (*eventSetFree)(ManagedEvents set) = nullptr;
    int (*registerEvents)(ManagedDevice device, unsigned long long types, ManagedEvents set) = nullptr;
    int (*eventSetWait)(ManagedEvents set, ManagedEvent* event, unsigned milliseconds) = nullptr;
};

} // namespace lathe::cuda
