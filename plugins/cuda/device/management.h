#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace lathe::cuda {

/// What the driver's management library (libnvidia-ml.so.1, or the file that LATHE_CUDA_MANAGEMENT names) tells of one
/// device: clocks, temperature, power, and trouble with its hardware. Optional: without the library nothing is told.
class Management
{
public:
    /// Null: there is no such library, or it does not know the device.
    /// @param uuid  DeviceFacts::uuid
    static std::unique_ptr<Management> open(const std::string& uuid);
    ~Management();
    Management(const Management&) = delete;
    Management& operator=(const Management&) = delete;

    /// By which the library knows the device: "GPU-..." or, of a MIG instance, "MIG-...".
    const std::string& uuid() const;
    /// What is not told has no value: of a MIG instance mostly nothing is.
    struct State
    {
        std::optional<std::uint64_t> clockMhz, memoryClockMhz; ///< now
        std::optional<std::uint64_t> temperature; ///< degrees Celsius
        std::optional<double> watts;
        std::optional<std::uint64_t>
            slowedBy; ///< bits of reasons why the clock is lower than it could be; 0: it is not
    };
    State state() const;
    /// A sentence on what is wrong with the hardware, so that its results are not to be trusted: errors of memory that
    /// were not corrected since the driver was started, memory that cannot be replaced, and messages of the driver
    /// (Xid) since this was opened that are not a kernel's own fault. Empty: nothing that is known of.
    std::string trouble();

private:
    struct Library;
    Management() = default;

    std::unique_ptr<Library> m_library;
};

/// Whether a message of the driver by this number means that the hardware is at fault. Source: NVIDIA's list "Xid
/// Errors".
bool isOfHardware(std::uint64_t xid);

} // namespace lathe::cuda
