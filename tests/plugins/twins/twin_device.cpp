#include "core/runtime/device_abi.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

/// A device half of kind "sim" that has three devices where the real one has one: "left" and "right" are equal, "odd"
/// has fewer cores. All of them run on the real simulator, whose device half LATHE_SIM_DEVICE names. With
/// LATHE_TWIN_LOCK=FILE in the environment they say that they share this machine's cores, and a run fails while another
/// one, in whatever process, goes on.

namespace {

#define TWIN(key, cores, more)                                                                                         \
    R"({"key":")" key R"(","name":"Simulated device",)" more R"("hardware":{"num_cores":{"value":)" cores              \
    R"(,"origin":"simulated"}}})"
#define TWINS(more) "[" TWIN("left", "8", more) "," TWIN("right", "8", more) "," TWIN("odd", "4", more) "]"

constexpr const char* kLock = "LATHE_TWIN_LOCK";

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
    if (simulator() == nullptr)
        return "[]";
    return std::getenv(kLock) != nullptr ? TWINS(R"("shares_cores":true,)") : TWINS("");
}

int runAlone(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations, uint64_t coldBytes,
             LatheTiming* timing, LatheDeviceError* error)
{
    const char* const name = std::getenv(kLock);
    if (name == nullptr)
        return simulator()->run(device, launches, count, iterations, coldBytes, timing, error);
    const int lock = ::open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) {
        ::close(lock);
        std::snprintf(error->text, sizeof error->text, "another twin is running");
        error->code = LATHE_ERRC_INTERNAL;
        return 1;
    }
    ::usleep(5000); // for others to come
    const int status = simulator()->run(device, launches, count, iterations, coldBytes, timing, error);
    ::close(lock);
    return status;
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
        twins.run = runAlone;
        return twins;
    }();
    return &api;
}
