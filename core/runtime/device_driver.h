#pragma once

/// What the executor asks of a device beside the processor: memory on it, launches prepared once, one queue in which
/// all of them run in order. A back end whose kernels are launches has one DeviceDriver in an archive of its own,
/// liblathe_KIND.a beside that of the runtime, under the symbol `lathe_driver_KIND`; libraries with kernels for that
/// kind are linked with it. It is made as the runtime is: no exceptions, no C++ library; what belongs to the device's
/// maker is opened at run time.
///
/// Threads: a context may be used by several threads at once, a queue and what was made of it by one at a time.
/// A function that fails returns something else than Status::Ok (KernelFailed, if the device refused or failed;
/// NoMemory; InvalidArgument, if what was asked for is not there) and a sentence.

#include "core/runtime/image.h"
#include "core/runtime/status.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

struct DeviceContext; ///< a device, the code for it, and the memory that a model's instances share
struct DeviceMemory; ///< a buffer of a device's memory; null stands for one of no bytes
struct DeviceQueue; ///< of one instance
struct DeviceLaunch; ///< ready to be started as often as one likes

struct ContextRequest
{
    const char* target = ""; ///< that the code was made for
    const char* key = nullptr; ///< of the device as `lathe-cli devices` lists it; null: the driver chooses
    const std::byte* code = nullptr; ///< all that compileObject() of the back end made for this kind, 8-byte aligned
    std::size_t codeBytes = 0;
    void* context = nullptr; ///< the caller's own of the device's maker (cl_context, CUcontext), kept by him; null: a
                             ///< new one
};

struct LaunchRequest
{
    const char* symbol = nullptr;
    std::uint32_t grid[3] = {1, 1, 1}; ///< blocks
    std::uint32_t block[3] = {1, 1, 1}; ///< threads
    std::uint64_t sharedBytes = 0;
    DeviceMemory* const* buffers = nullptr; ///< what its parameters point to, in order
    std::uint32_t bufferCount = 0;
};

struct DeviceDriver
{
    const char* kind; ///< first word of the targets that it is for

    /// Whether a device for this target is here; else what is missing.
    bool (*isHere)(const char* target, ErrorText& missing);

    Status (*open)(const ContextRequest& request, DeviceContext** context, ErrorText& error);
    void (*close)(DeviceContext* context);
    /// For people: the device's name.
    const char* (*name)(const DeviceContext* context);

    /// With what `host` holds, if it is given.
    Status (*allocate)(DeviceContext* context, std::size_t bytes, const void* host, DeviceMemory** memory,
                       ErrorText& error);
    /// The caller's own memory on the device (cl_mem, the address as CUDA has it), kept by him. InvalidArgument: it is
    /// none of so many bytes.
    Status (*adopt)(DeviceContext* context, void* handle, std::size_t bytes, DeviceMemory** memory, ErrorText& error);
    /// Whether launches may have such memory for their own, as an input that they only read or as an output: it is
    /// aligned as what allocate() gives, and the caller allows them to read it, and of an output to write it.
    bool (*fits)(const DeviceMemory* memory, bool isInput);
    /// Whether two of adopt() have bytes in common, as far as one can tell.
    bool (*overlaps)(const DeviceMemory* one, const DeviceMemory* other);
    /// Memory that the host and the device use in turns, without a copy: the host's own at `host`, which must outlive
    /// it and lie in no other such memory, or new memory if that is null. It is the device's until map(). Status::Ok
    /// and null: the device has memory of its own, or cannot use these bytes where they are.
    /// @param isInput  the device only reads it
    Status (*share)(DeviceContext* context, void* host, std::size_t bytes, bool isInput, DeviceMemory** memory,
                    ErrorText& error);
    /// Of none that is mapped.
    void (*release)(DeviceMemory* memory);

    /// @param handle  the caller's own (cl_command_queue, CUstream), in order, kept by him; null: a new one
    Status (*start)(DeviceContext* context, void* handle, DeviceQueue** queue, ErrorText& error);
    /// Waits for all that was enqueued.
    void (*end)(DeviceQueue* queue);
    /// Builds its function if that has not been done. It holds the memory of its buffers.
    Status (*prepare)(DeviceQueue* queue, const LaunchRequest& request, DeviceLaunch** launch, ErrorText& error);
    /// The launch has this memory as its `buffer`-th from its next start on, and no longer holds the one before.
    Status (*point)(DeviceLaunch* launch, std::uint32_t buffer, DeviceMemory* memory, ErrorText& error);
    void (*forget)(DeviceLaunch* launch);

    // What follows enqueues and returns at once, behind all that was enqueued before.
    Status (*launch)(DeviceQueue* queue, DeviceLaunch* launch, ErrorText& error);
    Status (*copy)(DeviceQueue* queue, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error);
    /// `wait`: returns when it is done; else the host's memory is in use until the queue was waited for.
    Status (*write)(DeviceQueue* queue, DeviceMemory* to, const void* from, std::size_t bytes, bool wait,
                    ErrorText& error);
    Status (*read)(DeviceQueue* queue, void* to, DeviceMemory* from, std::size_t bytes, bool wait, ErrorText& error);
    /// Of what share() gave, and not twice before unmap(). When the queue was waited for, the memory is the host's, at
    /// `host`, with what the device left in it; no launch or copy may use it then.
    Status (*map)(DeviceQueue* queue, DeviceMemory* memory, void** host, ErrorText& error);
    /// The memory is the device's again, with what the host left in it, and nothing of the host may touch it.
    Status (*unmap)(DeviceQueue* queue, DeviceMemory* memory, ErrorText& error);
    /// Waits for all that was enqueued.
    Status (*finish)(DeviceQueue* queue, ErrorText& error);

    // A driver to which runs that are alike are cheaper than one by one has both of these; else both are null.
    /// What is enqueued up to endRun() is one run of the network, mostly as the last one was. Until then, finish(), or
    /// a read() that waits, the driver may hold commands back; what is wrong with these is then told there. No launch
    /// is made, pointed elsewhere or forgotten and no memory released in between.
    Status (*beginRun)(DeviceQueue* queue, ErrorText& error) = nullptr;
    Status (*endRun)(DeviceQueue* queue, ErrorText& error) = nullptr;
};

} // namespace lathe::runtime
