#pragma once

/// The part of a network that devices beside the processor run: what a model's instances share of it, and what is each
/// one's own. Numbers of devices are the description's, from 1; those of tensors and instructions too.

#include "core/runtime/device_driver.h"
#include "core/runtime/image.h"
#include "core/runtime/stretches.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

struct ModelSource;

/// Of those that a library has, the driver of a target's kind; null: there is none.
const DeviceDriver* findDriver(const ModelSource& source, const char* target);

/// Opened devices with a model's code and weights.
class ModelDevices
{
public:
    ModelDevices() = default;
    ~ModelDevices();
    ModelDevices(const ModelDevices&) = delete;
    ModelDevices& operator=(const ModelDevices&) = delete;

    /// Those that `image` names, with drivers, code and weights of `source`. Status::Damaged: there is no driver of
    /// that kind.
    Status open(const Image& image, const ModelSource& source, ErrorText& error);

    std::uint32_t count() const { return m_count; }
    const DeviceDriver& driver(std::uint32_t device) const { return *m_devices[device - 1].driver; }
    DeviceContext* context(std::uint32_t device) const { return m_devices[device - 1].context; }
    /// Of a tensor of weights that is on a device; else null.
    DeviceMemory* weights(std::uint32_t tensor) const { return m_weights[tensor]; }

private:
    struct Opened
    {
        const DeviceDriver* driver = nullptr;
        DeviceContext* context = nullptr;
    };
    Status openDevice(const Image& image, const ModelSource& source, std::uint32_t device, ErrorText& error);
    Status fill(const Image& image, const ModelSource& source, ErrorText& error);

    const Image* m_image = nullptr;
    Opened* m_devices = nullptr;
    std::uint32_t m_count = 0;
    DeviceMemory** m_weights = nullptr; ///< by tensor; equal ones are one
};

/// Queues, activations and prepared launches of one instance. One caller at a time.
class InstanceDevices
{
public:
    InstanceDevices() = default;
    ~InstanceDevices();
    InstanceDevices(const InstanceDevices&) = delete;
    InstanceDevices& operator=(const InstanceDevices&) = delete;

    /// @param queue  of device 1: the caller's own; null: a new one. `image` and `devices` outlive this object.
    Status prepare(const Image& image, const ModelDevices& devices, void* queue, ErrorText& error);
    bool any() const { return m_devices != nullptr && m_devices->count() > 0; }

    /// Of a tensor on a device. Null: it has no bytes.
    DeviceMemory* memory(std::uint32_t tensor) const { return m_memory[tensor]; }
    /// The caller's memory on device 1.
    Status adopt(void* handle, std::size_t bytes, DeviceMemory** memory, ErrorText& error) const;
    bool fits(const DeviceMemory* memory, bool isInput) const;
    bool overlap(const DeviceMemory* one, const DeviceMemory* other) const;
    void release(DeviceMemory* memory) const;
    /// DeviceDriver::share() on device 1, map() and unmap() in its queue.
    Status share(void* host, std::size_t bytes, bool isInput, DeviceMemory** memory, ErrorText& error) const;
    Status map(DeviceMemory* memory, void** host, ErrorText& error) const;
    Status unmap(DeviceMemory* memory, ErrorText& error) const;
    /// Whether a tensor on device 1 may lie in place of this input or output.
    bool mayPlace(Storage storage, std::uint64_t port) const;
    /// From the next launch on all those are in this memory; null: in the instance's own again.
    Status place(Storage storage, std::uint64_t port, DeviceMemory* memory, ErrorText& error);

    /// All launches of a kernel; they run when those before them have.
    Status run(std::uint32_t instruction, ErrorText& error) const;
    Status copy(std::uint32_t device, DeviceMemory* from, DeviceMemory* to, std::size_t bytes, ErrorText& error) const;
    Status write(std::uint32_t device, DeviceMemory* to, const void* from, std::size_t bytes, bool wait,
                 ErrorText& error) const;
    Status read(std::uint32_t device, void* to, DeviceMemory* from, std::size_t bytes, bool wait,
                ErrorText& error) const;
    Status finish(ErrorText& error) const;
    /// DeviceDriver::beginRun() and endRun() of all devices that have them.
    Status beginRun(ErrorText& error) const;
    Status endRun(ErrorText& error) const;

private:
    struct Own
    {
        DeviceQueue* queue = nullptr;
        Stretches arena, scratch;
    };
    Status allocate(ErrorText& error);
    bool isInPlaceOf(const ImageTensor& tensor, Storage storage, std::uint64_t port) const;
    Status prepareLaunches(std::uint32_t instruction, ErrorText& error);

    const Image* m_image = nullptr;
    const ModelDevices* m_devices = nullptr;
    Own* m_own = nullptr; ///< by device - 1
    DeviceMemory** m_memory = nullptr; ///< by tensor: of the model's weights, or of Own::arena
    std::uint32_t* m_firstLaunches = nullptr; ///< by instruction: in m_launches
    DeviceLaunch** m_launches = nullptr;
    std::uint32_t m_launchCount = 0;
};

} // namespace lathe::runtime
