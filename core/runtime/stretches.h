#pragma once

/// Memory on a device for the stretches of a planned arena. The plan lets stretches overlap that are never in use at
/// the same time. Here each gets the beginning of a buffer, and a buffer serves stretches that all overlap one another:
/// so kernels are given whole buffers and no parts of one, which drivers are slow with. With 45 launches a run,
/// NVIDIA's OpenCL needed 0.4 ms longer for parts of one buffer (resnet-18 on an H100, driver 580.159).

#include "core/runtime/device_driver.h"

#include <cstddef>
#include <cstdint>

namespace lathe::runtime {

class Stretches
{
public:
    Stretches() = default;
    ~Stretches();
    Stretches(const Stretches&) = delete;
    Stretches& operator=(const Stretches&) = delete;

    /// For up to `most` calls of add().
    Status reserve(std::size_t most, ErrorText& error);
    /// A stretch of at least one byte. Those that begin at one place are in one buffer.
    void add(std::uint64_t offset, std::uint64_t bytes);
    /// Behind the last add(). Both outlive this object.
    Status allocate(const DeviceDriver& driver, DeviceContext* context, ErrorText& error);
    /// Of the stretches that begin there; null: none does.
    DeviceMemory* at(std::uint64_t offset) const;

private:
    struct Place
    {
        std::uint64_t offset = 0;
        std::uint64_t least = 0, most = 0; ///< bytes of the stretches that begin there
        std::uint32_t buffer = 0;
    };
    struct Buffer
    {
        std::uint64_t begin = 0, end = 0; ///< what all its stretches have in common
        std::uint64_t bytes = 0;
        DeviceMemory* memory = nullptr;
    };
    const Place* find(std::uint64_t offset) const;
    void share();

    const DeviceDriver* m_driver = nullptr;
    Place* m_places = nullptr; ///< by offset
    Buffer* m_buffers = nullptr;
    std::size_t m_room = 0, m_count = 0, m_bufferCount = 0;
};

} // namespace lathe::runtime
