#include "core/runtime/device_abi.h"
#include "plugins/cuda/device/limits.h"
#include "plugins/cuda/device/opened_device.h"
#include "plugins/cuda/device/run.h"

#include <memory>
#include <string>

/// The device half: the table of core/runtime/device_abi.h.

using lathe::fail;
using namespace lathe::cuda;

struct LatheDevice
{
    OpenedDevice device;
    std::string health, limits;
};

namespace {

const char* enumerate()
{
    static const std::string& text = *new std::string(devicesText()); // NOLINT(cppcoreguidelines-owning-memory)
    return text.c_str();
}

int openDevice(const char* key, const char*, LatheDevice** out, LatheDeviceError* error)
{
    std::string problem;
    const Driver* const driver = openDriver(problem);
    if (driver == nullptr)
        return fail(error, LATHE_ERRC_NOT_FOUND, problem);
    for (DeviceFacts& facts : listDevices(*driver, problem))
        if (facts.key == key) {
            auto device = std::unique_ptr<LatheDevice>(new LatheDevice{{*driver, std::move(facts)}, {}, {}});
            if (const int status = device->device.start(error))
                return status;
            *out = device.release();
            return 0;
        }
    return fail(error, LATHE_ERRC_NOT_FOUND,
                problem.empty() ? "no NVIDIA GPU has the key " + std::string(key) : problem);
}

void closeDevice(LatheDevice* device)
{
    delete device;
}

const char* health(LatheDevice* device)
{
    device->health = device->device.health();
    return device->health.c_str();
}

const char* limits(LatheDevice* device)
{
    device->limits = device->device.enter(nullptr) == 0 ? measureLimits(device->device) : "{}";
    return device->limits.c_str();
}

int allocate(LatheDevice* device, size_t bytes, void** out, LatheDeviceError* error)
{
    if (const int status = device->device.enter(error))
        return status;
    return device->device.allocate(bytes, out, error);
}

void release(LatheDevice* device, void* buffer)
{
    device->device.release(buffer);
}

int copyIn(LatheDevice* device, void* buffer, size_t offset, const void* host, size_t bytes, LatheDeviceError* error)
{
    if (const int status = device->device.enter(error))
        return status;
    return device->device.copy(buffer, offset, const_cast<void*>(host), bytes, true, error);
}

int copyOut(LatheDevice* device, void* host, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    if (const int status = device->device.enter(error))
        return status;
    return device->device.copy(buffer, offset, host, bytes, false, error);
}

int load(LatheDevice* device, const void* artifact, size_t bytes, const char* descriptor, LatheModule** module,
         LatheDeviceError* error)
{
    if (const int status = device->device.enter(error))
        return status;
    auto loaded = std::unique_ptr<LatheModule>(new LatheModule{{device->device.driver(), device->device.facts()}});
    if (const int status = loaded->module.load({static_cast<const char*>(artifact), bytes}, descriptor, error))
        return status;
    *module = loaded.release();
    return 0;
}

void unload(LatheDevice* device, LatheModule* module)
{
    device->device.enter(nullptr); // where that fails there is nothing left to unload, and the driver says so
    device->device.driver().streamSynchronize(device->device.stream());
    delete module;
}

/// The driver compiles PTX when it loads it.
int build(LatheDevice* device, LatheModule* module, uint32_t kernel, LatheDeviceError* error)
{
    if (const int status = device->device.enter(error))
        return status;
    if (kernel >= module->module.kernels().size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "the artifact has no kernel " + std::to_string(kernel));
    return device->device.prepare(module->module, kernel, error);
}

int runList(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations, uint64_t coldBytes,
            LatheTiming* timing, LatheDeviceError* error)
{
    if (const int status = device->device.enter(error))
        return status;
    return run(device->device, {launches, count}, iterations, coldBytes, timing, error);
}

constexpr LatheDeviceApi kApi = {LATHE_DEVICE_ABI_VERSION,
                                 sizeof(LatheDeviceApi),
                                 "cuda",
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
                                 build,
                                 runList};

} // namespace

extern "C" __attribute__((visibility("default"))) const LatheDeviceApi* lathe_device_api()
{
    return &kApi;
}
