#include "tests/cuda_driver/driver/device.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lathe::cuda_driver {

namespace {

/// Limits of the compute capabilities, as the programming guide's table has them.
struct CapabilityRow
{
    unsigned capability, lanes, threads, blocks, shared, sharedOptin;
};

constexpr CapabilityRow kCapabilities[] = {
    {70, 64, 2048, 32, 96 << 10, 96 << 10},     {75, 64, 1024, 16, 64 << 10, 64 << 10},
    {80, 64, 2048, 32, 164 << 10, 163 << 10},   {86, 128, 1536, 16, 100 << 10, 99 << 10},
    {87, 128, 1536, 16, 164 << 10, 163 << 10},  {89, 128, 1536, 24, 100 << 10, 99 << 10},
    {90, 128, 2048, 32, 228 << 10, 227 << 10},  {100, 128, 2048, 32, 228 << 10, 227 << 10},
    {103, 128, 2048, 32, 228 << 10, 227 << 10}, {120, 128, 1536, 24, 100 << 10, 99 << 10},
    {121, 128, 1536, 24, 100 << 10, 99 << 10},
};

std::string text(const char* name, const char* otherwise = "")
{
    const char* const value = std::getenv(name);
    return value != nullptr ? value : otherwise;
}

double number(const char* name, double otherwise)
{
    const std::string value = text(name);
    char* rest = nullptr;
    const double read = std::strtod(value.c_str(), &rest);
    return value.empty() || *rest != '\0' ? otherwise : read;
}

uint64_t count(const char* name, uint64_t otherwise)
{
    return static_cast<uint64_t>(std::max(0.0, number(name, static_cast<double>(otherwise))));
}

bool flag(const char* name, bool otherwise)
{
    const std::string value = text(name);
    return value.empty() ? otherwise : value != "0";
}

std::vector<std::string> splitAtCommas(const std::string& list)
{
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        parts.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// "8.0" or "80" or "sm_80" -> 80
unsigned capabilityOf(std::string word)
{
    if (word.starts_with("sm_"))
        word = word.substr(3);
    unsigned major = 0, minor = 0;
    if (std::sscanf(word.c_str(), "%2u.%1u", &major, &minor) == 2)
        return 10 * major + minor;
    return static_cast<unsigned>(std::strtoul(word.c_str(), nullptr, 10));
}

std::vector<Device> allDevices()
{
    const std::vector<std::string> capabilities = splitAtCommas(text("LATHE_CUDA_DRIVER_CAPABILITY", "8.0"));
    const uint64_t devices = count("LATHE_CUDA_DRIVER_DEVICES", capabilities.size());
    std::vector<Device> made;
    for (uint64_t i = 0; i < devices && i < 64; ++i) {
        Device device;
        device.physical = static_cast<int>(i);
        device.capability = capabilityOf(capabilities[std::min<size_t>(i, capabilities.size() - 1)]);
        const CapabilityRow* row = &kCapabilities[0];
        for (const CapabilityRow& candidate : kCapabilities)
            if (candidate.capability <= device.capability)
                row = &candidate;
        device.lanes = row->lanes;
        device.threadsPerMultiprocessor = row->threads;
        device.blocksPerMultiprocessor = row->blocks;
        device.sharedPerMultiprocessor = row->shared;
        device.sharedPerBlockOptin = row->sharedOptin;
        device.memoryBytes = count("LATHE_CUDA_DRIVER_MEMORY", uint64_t(4) << 30);
        device.multiprocessors = std::max(1U, static_cast<unsigned>(count("LATHE_CUDA_DRIVER_PROCESSORS", 8)));
        device.clockHz = number("LATHE_CUDA_DRIVER_CLOCK_GHZ", 1.0) * 1e9;
        device.bandwidth = number("LATHE_CUDA_DRIVER_BANDWIDTH_GBS", 128) * 1e9;
        device.l2Bytes = 4 << 20;
        made.push_back(device);
    }
    return made;
}

std::string uuidText(const Device& device)
{
    const Uuid uuid = device.uuid();
    std::string made = "GPU-";
    for (int i = 0; i < 16; ++i) {
        char digits[4];
        std::snprintf(digits, sizeof(digits), "%02x", uuid.bytes[i]);
        made += std::string(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + digits;
    }
    return made;
}

/// By number or by a beginning of the UUID; the first word that names none ends the list, as with a real driver.
std::vector<Device> visible(const std::vector<Device>& all)
{
    const char* const list = std::getenv("CUDA_VISIBLE_DEVICES");
    if (list == nullptr)
        return all;
    std::vector<Device> made;
    for (const std::string& word : splitAtCommas(list)) {
        const Device* found = nullptr;
        for (const Device& device : all)
            if (word == std::to_string(device.physical)
                || (word.starts_with("GPU-") && uuidText(device).starts_with(word)))
                found = &device;
        const bool twice = found && std::any_of(made.begin(), made.end(), [&](const Device& d) {
                               return d.physical == found->physical;
                           });
        if (!found || twice)
            break;
        made.push_back(*found);
    }
    return made;
}

} // namespace

std::string Device::name() const
{
    return "Lathe driver on the CPU (sm_" + std::to_string(capability) + ", modelled times)";
}

Uuid Device::uuid() const
{
    Uuid made{};
    std::memcpy(made.bytes, "Lathe CPU dev ", 14);
    made.bytes[14] = static_cast<unsigned char>(capability);
    made.bytes[15] = static_cast<unsigned char>(physical);
    return made;
}

std::string Device::pciBusId() const
{
    char made[32];
    std::snprintf(made, sizeof(made), "0000:%02x:00.0", static_cast<unsigned>(physical) + 1);
    return made;
}

std::optional<int> Device::attribute(int which) const
{
    // A bus of 256 bits that moves data twice a clock gives the bandwidth.
    constexpr int kBusBits = 256;
    switch (which) {
    case kMaxThreadsPerBlock: return kMaxThreads;
    case kMaxBlockX:
    case kMaxBlockY: return kMaxThreads;
    case kMaxBlockZ: return 64;
    case kMaxGridX: return INT_MAX;
    case kMaxGridY:
    case kMaxGridZ: return 65535;
    case kMaxSharedPerBlock: return kDefaultShared;
    case kTotalConstantMemory: return 64 << 10;
    case kWarpSize: return 32;
    case kMaxRegistersPerBlock:
    case kMaxRegistersPerMultiprocessor: return kRegistersPerMultiprocessor;
    case kClockKhz: return static_cast<int>(clockHz / 1e3);
    case kMultiprocessors: return static_cast<int>(multiprocessors);
    case kConcurrentKernels:
    case kAsyncEngines:
    case kUnifiedAddressing: return 1;
    case kKernelTimeout:
    case kIntegrated:
    case kCanMapHostMemory:
    case kComputeMode:
    case kEccEnabled:
    case kPciDeviceId:
    case kPciDomainId:
    case kManagedMemory: return 0;
    case kPciBusId: return physical + 1;
    case kMemoryClockKhz: return static_cast<int>(bandwidth / (2.0 * kBusBits / 8) / 1e3);
    case kMemoryBusBits: return kBusBits;
    case kL2Bytes: return static_cast<int>(l2Bytes);
    case kMaxThreadsPerMultiprocessor: return static_cast<int>(threadsPerMultiprocessor);
    case kCapabilityMajor: return static_cast<int>(capability / 10);
    case kCapabilityMinor: return static_cast<int>(capability % 10);
    case kMaxSharedPerMultiprocessor: return static_cast<int>(sharedPerMultiprocessor);
    case kMaxSharedPerBlockOptin: return static_cast<int>(sharedPerBlockOptin);
    case kMaxBlocksPerMultiprocessor: return static_cast<int>(blocksPerMultiprocessor);
    case kReservedSharedPerBlock: return capability >= 80 ? 1 << 10 : 0;
    default:
        // Abilities that this device has not; numbers that no driver knows are refused.
        return which > 0 && which < 150 ? std::optional(0) : std::nullopt;
    }
}

Settings readSettings()
{
    Settings made;
    made.version = static_cast<int>(count("LATHE_CUDA_DRIVER_VERSION", 13050));
    made.logFile = text("LATHE_CUDA_DRIVER_LOG");
    made.strict = flag("LATHE_CUDA_DRIVER_STRICT", false);
    made.counters = flag("LATHE_CUDA_DRIVER_COUNTERS", false);
    made.checked = flag("LATHE_CUDA_DRIVER_CHECKS", true);
    made.reuse = flag("LATHE_CUDA_DRIVER_REUSE", true);
    const std::string copies = text("LATHE_CUDA_DRIVER_COPIES", "eager");
    made.copies = copies == "both"   ? Settings::Copies::Both
                  : copies == "lazy" ? Settings::Copies::Lazy
                                     : Settings::Copies::Eager;
    made.hangAt = count("LATHE_CUDA_DRIVER_HANG_AT", 0);
    made.lostAt = count("LATHE_CUDA_DRIVER_LOST_AT", 0);
    made.eccAt = count("LATHE_CUDA_DRIVER_ECC_AT", 0);
    made.mostWarpInstructions = count("LATHE_CUDA_DRIVER_LIMIT", uint64_t(1) << 36);
    made.devices = visible(allDevices());
    for (size_t i = 0; i < made.devices.size(); ++i)
        made.devices[i].ordinal = static_cast<int>(i);
    return made;
}

} // namespace lathe::cuda_driver
