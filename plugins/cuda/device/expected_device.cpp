#include "core/runtime/device_error.h"
#include "plugins/cuda/device/expected_artifact.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using lathe::fail;
using namespace lathe::cuda;

/// The device half: no device at all. Memory is the process's own, and what a kernel takes stands in its artifact.
/// Nothing is computed, and each run says so (LATHE_TIMING_NOT_COMPUTED).

struct LatheModule
{
    std::vector<double> nanoseconds; ///< of a call of each kernel
};

struct LatheDevice
{
    std::unordered_map<const void*, std::vector<char>> buffers;
};

namespace {

constexpr double kMostNanoseconds = 1e18; ///< thirty years

std::string keyOf(const ExpectedDevice& device)
{
    return std::string("expected-") + device.gpu;
}

const char* enumerate()
{
    static const std::string& text = *new std::string([] { // NOLINT(cppcoreguidelines-owning-memory)
        nlohmann::json list = nlohmann::json::array();
        for (const ExpectedDevice& device : kExpectedDevices)
            list.push_back(
                {{"key", keyOf(device)},
                 {"name", std::string("expected ") + device.name + " (no GPU is asked; times are of a model)"},
                 {"words", std::string("-gpu=") + device.gpu},
                 {"clock", "model"},
                 {"hardware", nlohmann::json::object()}});
        return list.dump();
    }());
    return text.c_str();
}

int openDevice(const char* key, const char*, LatheDevice** device, LatheDeviceError* error)
{
    for (const ExpectedDevice& known : kExpectedDevices)
        if (keyOf(known) == key) {
            *device = new LatheDevice;
            return 0;
        }
    return fail(error, LATHE_ERRC_INVALID_ARGUMENT, std::string("no device of expected times has the key ") + key);
}

void closeDevice(LatheDevice* device)
{
    delete device;
}

const char* health(LatheDevice*)
{
    return R"({"clock":"model"})";
}

/// Nothing is measured.
const char* limits(LatheDevice*)
{
    return "{}";
}

int allocate(LatheDevice* device, size_t bytes, void** buffer, LatheDeviceError* error)
{
    std::vector<char> memory;
    try {
        memory.resize(bytes > 0 ? bytes : 1);
    } catch (const std::exception&) { // more than there is, or than can be
        return fail(error, LATHE_ERRC_UNSUPPORTED,
                    "there is no memory for a buffer of " + std::to_string(bytes) + " bytes");
    }
    *buffer = memory.data();
    device->buffers.emplace(*buffer, std::move(memory));
    return 0;
}

void release(LatheDevice* device, void* buffer)
{
    device->buffers.erase(buffer);
}

/// Null, and `error` is filled: the bytes are not all in a buffer.
char* bytesAt(LatheDevice* device, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    const auto found = device->buffers.find(buffer);
    if (found != device->buffers.end() && offset <= found->second.size() && bytes <= found->second.size() - offset)
        return found->second.data() + offset;
    fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a copy reaches outside its buffer");
    return nullptr;
}

int copyIn(LatheDevice* device, void* buffer, size_t offset, const void* host, size_t bytes, LatheDeviceError* error)
{
    char* const to = bytesAt(device, buffer, offset, bytes, error);
    if (to == nullptr)
        return 1;
    std::memcpy(to, host, bytes);
    return 0;
}

int copyOut(LatheDevice* device, void* host, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    const char* const from = bytesAt(device, buffer, offset, bytes, error);
    if (from == nullptr)
        return 1;
    std::memcpy(host, from, bytes);
    return 0;
}

int load(LatheDevice*, const void* artifact, size_t bytes, const char* descriptor, LatheModule** module,
         LatheDeviceError* error)
{
    if (std::strstr(descriptor, kExpectedFormat) == nullptr)
        return fail(error, LATHE_ERRC_BAD_FILE, "expected times are read of artifacts of format expected-times");
    const auto* const text = static_cast<const char*>(artifact);
    const nlohmann::json read = nlohmann::json::parse(text, text + bytes, nullptr, false);
    auto loaded = std::make_unique<LatheModule>();
    if (!read.is_object() || !read.contains("kernels") || !read["kernels"].is_array())
        return fail(error, LATHE_ERRC_BAD_FILE, "the artifact holds no expected times");
    for (const nlohmann::json& kernel : read["kernels"]) {
        const bool isKnown = kernel.is_object() && kernel.contains("ns") && kernel["ns"].is_number();
        const double ns = isKnown ? kernel["ns"].get<double>() : 0;
        if (!(ns > 0) || !std::isfinite(ns))
            return fail(error, LATHE_ERRC_BAD_FILE, "the artifact holds a time that is none");
        loaded->nanoseconds.push_back(ns);
    }
    *module = loaded.release();
    return 0;
}

void unload(LatheDevice*, LatheModule* module)
{
    delete module;
}

int run(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations, uint64_t,
        LatheTiming* timing, LatheDeviceError* error)
{
    double total = 0;
    for (uint32_t l = 0; l < count; ++l) {
        const LatheLaunch& launch = launches[l];
        if (launch.kernel >= launch.module->nanoseconds.size())
            return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a launch names a kernel that its module does not have");
        for (uint32_t b = 0; b < launch.bufferCount; ++b)
            if (!device->buffers.contains(launch.buffers[b]))
                return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a launch names a buffer that is none");
        if (launch.timed != 0)
            total += launch.module->nanoseconds[launch.kernel];
    }
    if (timing != nullptr)
        *timing = {static_cast<uint64_t>(std::llround(std::min(total * iterations, kMostNanoseconds))),
                   LATHE_CLOCK_MODEL, LATHE_TIMING_NOT_COMPUTED};
    return 0;
}

constexpr LatheDeviceApi kApi = {LATHE_DEVICE_ABI_VERSION,
                                 sizeof(LatheDeviceApi),
                                 "expected",
                                 enumerate,
                                 openDevice,
                                 closeDevice,
                                 nullptr,
                                 health,
                                 limits,
                                 allocate,
                                 release,
                                 copyIn,
                                 copyOut,
                                 load,
                                 unload,
                                 nullptr,
                                 run};

} // namespace

extern "C" __attribute__((visibility("default"))) const LatheDeviceApi* lathe_device_api()
{
    return &kApi;
}
