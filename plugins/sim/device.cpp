#include "core/runtime/device_error.h"
#include "plugins/sim/fault.h"
#include "plugins/sim/interpreter.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using lathe::fail;
using namespace lathe::sim;

/// The device half: memory is the process's own, time is the artifact's model, faults are real.

struct LatheModule
{
    Program program;
    std::size_t identity = 0; ///< hash of the artifact: it may be loaded again
    std::vector<bool> isBuilt; ///< by number of the kernel
};

/// What the device that is pretended runs at once; of a processor: nothing is counted.
struct Limits
{
    std::int64_t threads = 0; ///< of a block; 0: no launches
    std::int64_t sharedBytes = 0; ///< likewise
};

struct LatheDevice
{
    Limits limits;
    struct Block
    {
        void* region = nullptr;
        std::size_t regionBytes = 0;
        char* data = nullptr;
        std::size_t bytes = 0;
    };
    std::vector<Block> blocks;
    bool changed = true; ///< buffers were written since the last interpretation
    std::uint64_t jobs = 0; ///< that are over: each ends with health()
    bool leaves = false; ///< when the job has ended
    bool lost = false;
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t>
        firstJobs; ///< of lucky kernels, by artifact and number: `jobs` then

    Block* find(const void* data)
    {
        for (Block& block : blocks)
            if (block.data == data)
                return &block;
        return nullptr;
    }
};

namespace {

const char* enumerate()
{
    return R"([{"key":"sim","name":"Simulated device","hardware":{)"
           R"("num_cores":{"value":8,"origin":"simulated"},"vector_unit_bytes":{"value":64,"origin":"simulated"},)"
           R"("cache_line_bytes":{"value":64,"origin":"simulated"},"l1d_bytes":{"value":32768,"origin":"simulated"},)"
           R"("l2_bytes":{"value":1048576,"origin":"simulated"},"l3_bytes":{"value":16777216,"origin":"simulated"}}}])";
}

/// Of the word -like=...; as core/target's presets have them.
Limits limitsOf(std::string_view options)
{
    const auto isLike = [options](std::string_view word) {
        const std::size_t at = options.find(word);
        return at != std::string_view::npos && (at + word.size() == options.size() || options[at + word.size()] == ' ');
    };
    if (isLike("-like=cuda"))
        return {1024, 49152};
    if (isLike("-like=mali") || isLike("-like=opencl"))
        return {256, 32768};
    return {};
}

int openDevice(const char* key, const char* options, LatheDevice** device, LatheDeviceError* error)
{
    if (std::string_view(key) != "sim")
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "the only simulated device has the key sim");
    *device = new LatheDevice;
    (*device)->limits = limitsOf(options != nullptr ? options : "");
    return 0;
}

void release(LatheDevice* device, void* buffer)
{
    if (LatheDevice::Block* block = device->find(buffer)) {
        ::munmap(block->region, block->regionBytes);
        *block = device->blocks.back();
        device->blocks.pop_back();
    }
}

void closeDevice(LatheDevice* device)
{
    while (!device->blocks.empty())
        release(device, device->blocks.back().data);
    delete device;
}

const char* health(LatheDevice* device)
{
    ++device->jobs;
    device->lost = device->lost || device->leaves;
    return R"({"clock":"model","calibration_ns":1000})";
}

/// Model time has its own limits, which no kernel of this machine could be held against.
const char* limits(LatheDevice*)
{
    return "{}";
}

int allocate(LatheDevice* device, size_t bytes, void** buffer, LatheDeviceError* error)
{
    if (device->lost)
        return fail(error, LATHE_ERRC_DEVICE_LOST, "the simulated device is gone, as the fault script wants it");
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t used = (bytes + 63) / 64 * 64;
    const std::size_t pages = (used + page - 1) / page * page + page;
    void* region = ::mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED)
        return fail(error, LATHE_ERRC_UNSUPPORTED,
                    "there is no memory for a buffer of " + std::to_string(bytes) + " bytes");
    char* const guard = static_cast<char*>(region) + pages - page;
    ::mprotect(guard, page, PROT_NONE);
    device->blocks.push_back({region, pages, guard - used, bytes});
    device->changed = true;
    *buffer = guard - used;
    return 0;
}

int checkCopy(LatheDevice* device, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    const LatheDevice::Block* block = device->find(buffer);
    if (!block || offset > block->bytes || bytes > block->bytes - offset)
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a copy reaches outside its buffer");
    return 0;
}

int copyIn(LatheDevice* device, void* buffer, size_t offset, const void* host, size_t bytes, LatheDeviceError* error)
{
    if (const int status = checkCopy(device, buffer, offset, bytes, error))
        return status;
    std::memcpy(static_cast<char*>(buffer) + offset, host, bytes);
    device->changed = true;
    return 0;
}

int copyOut(LatheDevice* device, void* host, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    if (const int status = checkCopy(device, buffer, offset, bytes, error))
        return status;
    std::memcpy(host, static_cast<const char*>(buffer) + offset, bytes);
    return 0;
}

int load(LatheDevice* device, const void* artifact, size_t bytes, const char* descriptor, LatheModule** module,
         LatheDeviceError* error)
{
    if (device->lost)
        return fail(error, LATHE_ERRC_DEVICE_LOST, "the simulated device is gone, as the fault script wants it");
    if (!std::strstr(descriptor, "sim-nest"))
        return fail(error, LATHE_ERRC_BAD_FILE, "the simulator runs artifacts of format sim-nest");
    auto loaded = std::make_unique<LatheModule>();
    if (const std::string problem = loaded->program.read(artifact, bytes); !problem.empty())
        return fail(error, LATHE_ERRC_BAD_FILE, problem);
    loaded->identity = std::hash<std::string_view>()({static_cast<const char*>(artifact), bytes});
    loaded->isBuilt.resize(loaded->program.kernels().size());
    device->changed = true;
    *module = loaded.release();
    return 0;
}

void unload(LatheDevice*, LatheModule* module)
{
    delete module;
}

/// A device whose compiler has nothing to do, unless the script gives it something.
int build(LatheDevice*, LatheModule* module, uint32_t number, LatheDeviceError* error)
{
    if (number >= module->program.kernels().size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "the module has no kernel of this number");
    if (module->isBuilt[number])
        return 0;
    const Kernel& kernel = module->program.kernels()[number];
    switch (static_cast<Fault>(kernel.fault)) {
    case Fault::DeviceBuildSlow:
        if (std::isfinite(kernel.deviceBuildSeconds))
            std::this_thread::sleep_for(std::chrono::duration<double>(kernel.deviceBuildSeconds));
        break;
    case Fault::DeviceBuildFailed:
        return fail(error, LATHE_ERRC_BUILD_FAILED, "the fault script makes the device's compiler refuse this kernel");
    case Fault::DeviceBuildCrash: std::raise(SIGSEGV); break;
    case Fault::DeviceBuildHang:
        while (true)
            ::pause();
    default: break;
    }
    module->isBuilt[number] = true;
    return 0;
}

int checkLimits(const Limits& limits, const Program& program, const Kernel& kernel, std::uint32_t number,
                LatheDeviceError* error)
{
    const Launch& launch = program.launches(kernel)[number];
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    const std::string name = program.text(launch.name);
    if (limits.threads == 0)
        return fail(error, LATHE_ERRC_UNSUPPORTED, name + ": the simulated processor runs no launches");
    if (threads > limits.threads)
        return fail(error, LATHE_ERRC_UNSUPPORTED,
                    name + " has blocks of " + std::to_string(threads) + " threads, the device runs "
                        + std::to_string(limits.threads));
    if (launch.sharedBytes > limits.sharedBytes)
        return fail(error, LATHE_ERRC_UNSUPPORTED,
                    name + " takes " + std::to_string(launch.sharedBytes)
                        + " bytes of shared memory for a block, the device has " + std::to_string(limits.sharedBytes));
    return 0;
}

int checkLaunch(LatheDevice* device, const LatheLaunch& launch, LatheDeviceError* error)
{
    const auto& kernels = launch.module->program.kernels();
    if (launch.kernel >= kernels.size() || launch.bufferCount == 0)
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                    "a launch names a kernel that its module does not have, or no buffers");
    const Kernel& kernel = kernels[launch.kernel];
    const Buffer* buffers = launch.module->program.buffers(kernel);
    for (std::uint32_t b = 0; b < kernel.bufferCount; ++b)
        if (buffers[b].parameter >= static_cast<std::int32_t>(launch.bufferCount))
            return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a launch has too few buffers");
    for (std::uint32_t l = 0; l < kernel.launchCount; ++l)
        if (const int status = checkLimits(device->limits, launch.module->program, kernel, l, error))
            return status;
    if (const int status = build(device, launch.module, launch.kernel, error))
        return status;
    for (std::uint32_t i = 0; i < launch.bufferCount; ++i) {
        const LatheDevice::Block* block = device->find(launch.buffers[i]);
        if (!block || block->bytes < launch.module->program.parameterBytes(kernel, i))
            return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a buffer of a launch is too small");
    }
    return 0;
}

/// Before the kernel: what ends the process, or keeps it. A sanitizer would end it in its own way.
__attribute__((no_sanitize("undefined"))) void actFault(LatheDevice* device, const Kernel& kernel,
                                                        const LatheLaunch& launch)
{
    switch (static_cast<Fault>(kernel.fault)) {
    case Fault::Crash: {
        volatile int* volatile nowhere = nullptr; // volatile twice: neither place nor store may be seen through
        *nowhere = 1;
        break;
    }
    case Fault::Hang:
        while (true)
            ::pause();
    case Fault::OutOfBounds: {
        LatheDevice::Block* last = device->find(launch.buffers[launch.bufferCount - 1]);
        static_cast<volatile char*>(last->data)[(last->bytes + 63) / 64 * 64] = 1;
        break;
    }
    case Fault::Lost: device->leaves = true; break;
    default: break; // Wrong and Lucky are of what is computed, the others of builds
    }
}

/// A lucky kernel is so in its first job alone.
double slowdownNow(LatheDevice* device, const LatheLaunch& launch)
{
    const Kernel& kernel = launch.module->program.kernels()[launch.kernel];
    if (static_cast<Fault>(kernel.fault) != Fault::Lucky)
        return kernel.slowdown;
    return device->firstJobs.try_emplace({launch.module->identity, launch.kernel}, device->jobs).first->second
                   == device->jobs
               ? kernel.slowdown
               : 1;
}

int run(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations, uint64_t,
        LatheTiming* timing, LatheDeviceError* error)
{
    double total = 0;
    bool computed = true;
    for (uint32_t l = 0; l < count; ++l)
        if (const int status = checkLaunch(device, launches[l], error))
            return status;
    for (uint32_t l = 0; l < count; ++l) {
        const LatheLaunch& launch = launches[l];
        const Kernel& kernel = launch.module->program.kernels()[launch.kernel];
        actFault(device, kernel, launch);
        if (launch.timed)
            total += kernel.modelNs * slowdownNow(device, launch);
        computed = computed && kernel.interpret;
        // Model time does not depend on the data, so values are worked out once for each set of inputs.
        if (kernel.interpret && device->changed)
            if (const std::string problem = launch.module->program.run(kernel, launch.buffers); !problem.empty())
                return fail(error, kernel.launchCount > 0 ? LATHE_ERRC_WRONG_ANSWER : LATHE_ERRC_DEVICE_LOST, problem);
        if (static_cast<Fault>(kernel.fault) == Fault::Wrong) {
            const LatheDevice::Block* last = device->find(launch.buffers[launch.bufferCount - 1]);
            for (std::size_t i = 0; i < last->bytes; ++i)
                last->data[i] = static_cast<char>(last->data[i] ^ 0x55);
        }
    }
    device->changed = false;
    if (timing)
        *timing = {static_cast<uint64_t>(total * iterations), LATHE_CLOCK_MODEL,
                   computed ? 0 : LATHE_TIMING_NOT_COMPUTED};
    return 0;
}

constexpr LatheDeviceApi kApi = {LATHE_DEVICE_ABI_VERSION,
                                 sizeof(LatheDeviceApi),
                                 "sim",
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
                                 run};

} // namespace

extern "C" __attribute__((visibility("default"))) const LatheDeviceApi* lathe_device_api()
{
    return &kApi;
}
