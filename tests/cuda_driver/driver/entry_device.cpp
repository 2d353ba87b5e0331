#include "tests/cuda_driver/driver/state.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

// Entry points: the driver itself, devices, contexts.

using namespace lathe::cuda_driver;

namespace {

Device* deviceOf(State& state, int device)
{
    return device >= 0 && static_cast<size_t>(device) < state.settings.devices.size()
               ? &state.settings.devices[static_cast<size_t>(device)]
               : nullptr;
}

template<typename F>
int withDevice(int number, F&& body)
{
    return enter([&](State& state) -> int {
        Device* const device = deviceOf(state, number);
        return device ? body(state, *device) : kInvalidDevice;
    });
}

} // namespace

/// Callers tell by it that this driver runs kernels on the processor: its times are of a model.
extern "C" __attribute__((visibility("default"))) int latheCudaDriverOnCpu()
{
    return 1;
}

LATHE_CUDA_ENTRY cuInit(unsigned flags)
{
    State& state = State::get();
    const std::scoped_lock lock(state.mutex);
    if (flags != 0)
        return kInvalidValue;
    if (!state.initialized) {
        state.settings = readSettings();
        for (Device& device : state.settings.devices) {
            state.contexts.push_back(std::make_unique<Context>());
            state.contexts.back()->device = &device;
        }
    }
    if (state.settings.devices.empty())
        return kNoDevice;
    state.initialized = true;
    return kSuccess;
}

LATHE_CUDA_ENTRY cuDriverGetVersion(int* version)
{
    if (!version)
        return kInvalidValue;
    State& state = State::get();
    const std::scoped_lock lock(state.mutex);
    *version = state.initialized ? state.settings.version : readSettings().version;
    return kSuccess;
}

LATHE_CUDA_ENTRY cuGetErrorName(int code, const char** name)
{
    if (!name)
        return kInvalidValue;
    *name = nameOf(code);
    return *name ? kSuccess : kInvalidValue;
}

LATHE_CUDA_ENTRY cuGetErrorString(int code, const char** text)
{
    if (!text)
        return kInvalidValue;
    *text = descriptionOf(code);
    return *text ? kSuccess : kInvalidValue;
}

LATHE_CUDA_ENTRY cuDeviceGetCount(int* count)
{
    return enter([&](State& state) -> int {
        if (!count)
            return kInvalidValue;
        *count = static_cast<int>(state.settings.devices.size());
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDeviceGet(int* device, int ordinal)
{
    return withDevice(ordinal, [&](State&, Device&) -> int {
        if (!device)
            return kInvalidValue;
        *device = ordinal;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDeviceGetName(char* name, int bytes, int number)
{
    return withDevice(number, [&](State&, Device& device) -> int {
        if (!name || bytes <= 0)
            return kInvalidValue;
        std::snprintf(name, static_cast<size_t>(bytes), "%s", device.name().c_str());
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDeviceGetUuid(Uuid* uuid, int number)
{
    return withDevice(number, [&](State&, Device& device) -> int {
        if (!uuid)
            return kInvalidValue;
        *uuid = device.uuid();
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDeviceGetUuid_v2(Uuid* uuid, int number)
{
    return cuDeviceGetUuid(uuid, number);
}

LATHE_CUDA_ENTRY cuDeviceGetPCIBusId(char* id, int bytes, int number)
{
    return withDevice(number, [&](State&, Device& device) -> int {
        if (!id || bytes < 13)
            return kInvalidValue;
        std::snprintf(id, static_cast<size_t>(bytes), "%s", device.pciBusId().c_str());
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDeviceTotalMem_v2(size_t* bytes, int number)
{
    return withDevice(number, [&](State&, Device& device) -> int {
        if (!bytes)
            return kInvalidValue;
        *bytes = device.memoryBytes;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDeviceGetAttribute(int* value, int attribute, int number)
{
    return withDevice(number, [&](State&, Device& device) -> int {
        const std::optional<int> known = device.attribute(attribute);
        if (!value || !known)
            return kInvalidValue;
        *value = *known;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDevicePrimaryCtxRetain(void** context, int number)
{
    return withDevice(number, [&](State& state, Device& device) -> int {
        if (!context)
            return kInvalidValue;
        if (device.lost)
            return kDeviceUnavailable;
        Context& primary = *state.contexts[static_cast<size_t>(number)];
        if (primary.retained++ == 0) {
            primary.memory = std::make_unique<lathe::ptx::DeviceMemory>(device.memoryBytes);
            primary.defaultStream.context = &primary;
        }
        *context = &primary;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDevicePrimaryCtxRelease_v2(int number)
{
    return withDevice(number, [&](State& state, Device&) -> int {
        Context& primary = *state.contexts[static_cast<size_t>(number)];
        if (primary.retained == 0)
            return kInvalidContext;
        if (--primary.retained == 0)
            state.destroy(primary);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDevicePrimaryCtxReset_v2(int number)
{
    return withDevice(number, [&](State& state, Device&) -> int {
        state.destroy(*state.contexts[static_cast<size_t>(number)]);
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuDevicePrimaryCtxGetState(int number, unsigned* flags, int* active)
{
    return withDevice(number, [&](State& state, Device&) -> int {
        if (!flags || !active)
            return kInvalidValue;
        *flags = 0;
        *active = state.contexts[static_cast<size_t>(number)]->retained > 0 ? 1 : 0;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuCtxSetCurrent(void* context)
{
    return enter([&](State& state) -> int {
        if (!context) {
            setCurrentContext(nullptr);
            return kSuccess;
        }
        const auto found = std::find_if(state.contexts.begin(), state.contexts.end(), [&](const auto& known) {
            return known.get() == context && known->retained > 0;
        });
        if (found == state.contexts.end())
            return kInvalidContext;
        setCurrentContext(found->get());
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuCtxGetCurrent(void** context)
{
    return enter([&](State&) -> int {
        if (!context)
            return kInvalidValue;
        *context = currentContext();
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuCtxGetDevice(int* device)
{
    return enter([&](State&) -> int {
        if (!device)
            return kInvalidValue;
        const Context* const context = currentContext();
        if (!context)
            return kInvalidContext;
        *device = context->device->ordinal;
        return kSuccess;
    });
}

LATHE_CUDA_ENTRY cuCtxSynchronize()
{
    Context* waited = nullptr;
    const int code = enterContext([&](State& state, Context& context) -> int {
        waited = &context;
        return refusedByCapture(state);
    });
    if (code == kSuccess)
        waitIfHung(waited);
    return code;
}

/// NVRTC opens libcuda.so.1 where there is one and asks for tables of tools, which are not there.
LATHE_CUDA_ENTRY cuGetExportTable(const void** table, const Uuid*)
{
    if (table)
        *table = nullptr;
    return kNotFound;
}
