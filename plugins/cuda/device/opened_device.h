#pragma once

#include "plugins/cuda/device/device_facts.h"
#include "plugins/cuda/device/errors.h"
#include "plugins/cuda/device/lead.h"
#include "plugins/cuda/device/management.h"
#include "plugins/cuda/device/module.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace lathe::cuda {

/// A device with its primary context and one stream, which works through all commands in order. One thread at a time.
/// Behind an error that lasts (isLasting()), or trouble of the hardware, all calls fail with DEVICE_LOST and say so:
/// the next trial needs another process.
class OpenedDevice
{
public:
    struct Buffer
    {
        Address address = 0;
        std::size_t bytes = 0;
    };

    OpenedDevice(const Driver& driver, DeviceFacts facts)
        : m_driver(driver)
        , m_facts(std::move(facts))
    {
    }
    ~OpenedDevice();
    OpenedDevice(const OpenedDevice&) = delete;
    OpenedDevice& operator=(const OpenedDevice&) = delete;

    int start(LatheDeviceError* error);
    /// Keeps the stream busy, untimed, for as long as the host needs to put `commands` into it. The driver's code.
    int keepBusy(std::size_t commands);
    /// Before all else that is asked of it: makes the context current. Fails if the device is not to be used any more.
    int enter(LatheDeviceError* error);
    /// Remembers an error that lasts.
    void note(int code, const std::string& doing);
    /// Like cuda::refused() and cuda::failedAt(), and remembers an error that lasts.
    int refused(LatheDeviceError* error, int code, const std::string& doing);
    int failedAt(LatheDeviceError* error, int code, const std::string& doing);

    /// Module::prepare(), and remembers an error that lasts.
    int prepare(Module& module, std::size_t kernel, LatheDeviceError* error);
    int allocate(std::size_t bytes, void** out, LatheDeviceError* error);
    void release(void* buffer);
    int copy(const void* buffer, std::size_t offset, void* host, std::size_t bytes, bool in, LatheDeviceError* error);
    /// Null: there is no such buffer.
    const Buffer* find(const void* buffer) const;
    /// Makes a buffer of the device half's own at least so large.
    int grow(Buffer& buffer, std::size_t bytes, LatheDeviceError* error);
    std::string health();

    const Driver& driver() const { return m_driver; }
    const DeviceFacts& facts() const { return m_facts; }
    Stream stream() const { return m_stream; }

    std::vector<Buffer> scratch; ///< of all kernels: they follow one another
    Buffer cold; ///< that no kernel uses: what is written to it takes the caches from these

private:
    int make(Buffer& buffer, std::size_t bytes, LatheDeviceError* error);

    const Driver& m_driver;
    DeviceFacts m_facts;
    Context m_context = nullptr;
    Stream m_stream = nullptr;
    std::unique_ptr<Lead> m_lead; ///< null: not asked for yet
    std::unique_ptr<Management> m_management; ///< null: nothing is told
    std::unordered_map<const void*, std::unique_ptr<Buffer>> m_buffers; ///< keyed by the pointer that was given out
    std::string m_ended; ///< why nothing can be done any more; empty: it can
};

} // namespace lathe::cuda
