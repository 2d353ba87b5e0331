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
        /// Bits of reasons why the clock is lower than it could be, but for that nothing is running; 0: it is not.
        std::optional<std::uint64_t> slowedBy;
    };
    State state() const;
    /// A sentence on what is wrong with the hardware, so that its results are not to be trusted: memory that cannot be
    /// replaced, and since this was opened errors of memory that could not be corrected and messages of the driver
    /// (Xid) that are not a kernel's own fault. Errors of before are nobody's any more: the driver has set aside the
    /// pages that had them ("NVIDIA GPU Memory Error Management"). Empty: nothing that is known of.
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
