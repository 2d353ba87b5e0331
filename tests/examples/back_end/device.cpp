#include "core/runtime/device_abi.h"
#include "tests/examples/back_end/beside.h"

#include <cstring>

namespace {

const LatheDeviceApi* processor()
{
    static const LatheDeviceApi* const api = [] {
        auto* const entry = reinterpret_cast<LatheDeviceApiFn>(
            entryBeside(reinterpret_cast<const void*>(&processor), "cpu_device.so", "lathe_device_api"));
        return entry != nullptr ? entry() : nullptr;
    }();
    return api;
}

/// What it tells of its hardware replaces the presets of rules.cpp.
const char* enumerate()
{
    if (processor() == nullptr)
        return "[]";
    return R"([{"key":"jacquard","name":"Jacquard loom","hardware":{"l2_bytes":{"value":98304,"origin":"of the loom"},)"
           R"("shuttles":{"value":2,"origin":"of the loom"}}}])";
}

int openLoom(const char* key, const char* options, LatheDevice** device, LatheDeviceError* error)
{
    if (std::strcmp(key, "jacquard") == 0)
        return processor()->open("cpu", options, device, error);
    if (error != nullptr)
        std::strcpy(error->text, "the only loom has the key jacquard");
    return 1;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const LatheDeviceApi* lathe_device_api()
{
    static const LatheDeviceApi api = [] {
        LatheDeviceApi loom = processor() != nullptr ? *processor() : LatheDeviceApi{};
        loom.abiVersion = LATHE_DEVICE_ABI_VERSION;
        loom.structSize = sizeof(LatheDeviceApi);
        loom.kind = "loom";
        loom.enumerate = enumerate;
        loom.open = openLoom;
        return loom;
    }();
    return &api;
}
