#include "core/runtime/device_abi.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string_view>

/// A device half of kind "sim" that has three devices where the real one has one: "left" and "right" are equal, "odd"
/// has fewer cores. All of them run on the real simulator, whose device half LATHE_SIM_DEVICE names.

namespace {

#define TWIN(key, cores)                                                                                               \
    R"({"key":")" key R"(","name":"Simulated device","hardware":{"num_cores":{"value":)" cores                         \
    R"(,"origin":"simulated"}}})"

const LatheDeviceApi* simulator()
{
    static const LatheDeviceApi* const api = []() -> const LatheDeviceApi* {
        void* library = ::dlopen(LATHE_SIM_DEVICE, RTLD_NOW | RTLD_LOCAL);
        const auto entry = library != nullptr
                               ? reinterpret_cast<const LatheDeviceApi* (*)()>(::dlsym(library, "lathe_device_api"))
                               : nullptr;
        return entry != nullptr ? entry() : nullptr;
    }();
    return api;
}

const char* enumerate()
{
    return simulator() == nullptr ? "[]" : "[" TWIN("left", "8") "," TWIN("right", "8") "," TWIN("odd", "4") "]";
}

int openTwin(const char* key, const char* options, LatheDevice** device, LatheDeviceError* error)
{
    for (const std::string_view known : {"left", "right", "odd"})
        if (known == key)
            return simulator()->open("sim", options, device, error);
    if (error != nullptr)
        std::snprintf(error->text, sizeof error->text, "there is no twin of the name %s", key);
    return 1;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const LatheDeviceApi* lathe_device_api()
{
    static const LatheDeviceApi api = [] {
        LatheDeviceApi twins = simulator() != nullptr ? *simulator() : LatheDeviceApi{};
        twins.abiVersion = LATHE_DEVICE_ABI_VERSION;
        twins.structSize = sizeof(LatheDeviceApi);
        twins.kind = "sim";
        twins.enumerate = enumerate;
        twins.open = openTwin;
        return twins;
    }();
    return &api;
}
