#pragma once

#include "core/runtime/device_abi.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace lathe::test {

/// A device with the key "one" that has memory and nothing else: it keeps nothing that is copied, loads every module as
/// none, and runs are over at once. A test puts its own functions in the places that it is about.
inline LatheDeviceApi memoryDevice(const char* kind)
{
    LatheDeviceApi api = {};
    api.abiVersion = LATHE_DEVICE_ABI_VERSION;
    api.structSize = sizeof(LatheDeviceApi);
    api.kind = kind;
    api.enumerate = [] { return R"([{"key": "one", "name": "one", "hardware": {}}])"; };
    api.open = [](const char*, const char*, LatheDevice** device, LatheDeviceError*) {
        *device = nullptr;
        return 0;
    };
    api.close = [](LatheDevice*) {};
    api.health = [](LatheDevice*) { return "{}"; };
    api.limits = [](LatheDevice*) { return "{}"; };
    api.allocate = [](LatheDevice*, std::size_t bytes, void** buffer, LatheDeviceError*) {
        *buffer = std::malloc(bytes);
        return 0;
    };
    api.release = [](LatheDevice*, void* buffer) { std::free(buffer); };
    api.copyIn = [](LatheDevice*, void*, std::size_t, const void*, std::size_t, LatheDeviceError*) { return 0; };
    api.copyOut = [](LatheDevice*, void*, const void*, std::size_t, std::size_t, LatheDeviceError*) { return 0; };
    api.load = [](LatheDevice*, const void*, std::size_t, const char*, LatheModule** module, LatheDeviceError*) {
        *module = nullptr;
        return 0;
    };
    api.unload = [](LatheDevice*, LatheModule*) {};
    api.run = [](LatheDevice*, const LatheLaunch*, std::uint32_t, std::uint32_t, std::uint64_t, LatheTiming* timing,
                 LatheDeviceError*) {
        if (timing != nullptr)
            *timing = {};
        return 0;
    };
    return api;
}

} // namespace lathe::test
