#include "core/runtime/clock.h"
#include "core/runtime/device_error.h"
#include "core/runtime/memory.h"
#include "core/runtime/pool.h"
#include "core/runtime/processors.h"
#include "plugins/cpu/device/limits.h"
#include "plugins/cpu/device/machine.h"
#include "plugins/cpu/device/memory.h"
#include "plugins/cpu/device/module.h"
#include "plugins/cpu/device/timed_blocks.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>

using lathe::fail;
using namespace lathe::cpu;
namespace runtime = lathe::runtime;

struct LatheModule
{
    Module module;
};

struct LatheDevice
{
    static constexpr std::size_t kPartGap = 192;
    static constexpr unsigned char kGapByte = 0x5c;
    bool guarded = true;
    std::uint32_t threads = 0;
    bool pin = true;
    std::unique_ptr<runtime::Pool, runtime::PoolDeleter> pool;
    Buffer* teamScratch = nullptr;
    Buffer* partScratch = nullptr; ///< slots of partStride, each ending in a gap that nobody may touch
    std::size_t partStride = 0, partBytes = 0;
    runtime::Pages cold;
    std::string health;

    ~LatheDevice()
    {
        Buffer::destroy(teamScratch);
        Buffer::destroy(partScratch);
    }

    int setOptions(std::string_view options, LatheDeviceError* error)
    {
        while (!options.empty()) {
            const std::size_t end = std::min(options.find(' '), options.size());
            const std::string_view word = options.substr(0, end);
            options.remove_prefix(std::min(end + 1, options.size()));
            if (word.empty())
                continue;
            const std::size_t equals = word.find('=');
            if (word[0] != '-' || equals == std::string_view::npos)
                return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                            "an option of the cpu device is -key=value, not \"" + std::string(word) + "\"");
            const std::string_view key = word.substr(1, equals - 1);
            const std::string_view value = word.substr(equals + 1);
            if (key == "threads") {
                const auto parsed = std::from_chars(value.data(), value.data() + value.size(), threads);
                if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size() || threads < 1
                    || threads > 1024)
                    return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "-threads takes a number from 1 to 1024");
            } else if (key == "guard" || key == "pin") {
                if (value != "on" && value != "off")
                    return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "-" + std::string(key) + " takes on or off");
                (key == "guard" ? guarded : pin) = value == "on";
            } // other words of the target concern code generation
        }
        return 0;
    }

    /// Scratch for kernels that need this much. Of just this size, so that its end is the guard's beginning.
    bool reserve(std::size_t teamBytes, std::size_t bytesPerPart)
    {
        teamBytes = std::max<std::size_t>(teamBytes, 64);
        if (!teamScratch || teamScratch->bytes() != teamBytes) {
            Buffer::destroy(teamScratch);
            teamScratch = Buffer::create(teamBytes, guarded);
            if (!teamScratch)
                return false;
        }
        // Not a multiple of a page: the scratch of two parts does not fall onto the same cache sets.
        partBytes = bytesPerPart;
        const std::size_t stride = (bytesPerPart + 4095) / 4096 * 4096 + kPartGap;
        if (!partScratch || stride != partStride) {
            Buffer::destroy(partScratch);
            partScratch = Buffer::create(stride * pool->parts(), guarded);
            if (!partScratch)
                return false;
            partStride = stride;
        }
        for (std::uint32_t part = 0; part < pool->parts(); ++part)
            std::memset(gap(part).data(), kGapByte, gap(part).size());
        return true;
    }

    /// What lies between the scratch of a part and that of the next: at least kPartGap bytes.
    std::span<unsigned char> gap(std::uint32_t part) const
    {
        auto* const slot = static_cast<unsigned char*>(partScratch->data()) + part * partStride;
        return {slot + partBytes, slot + partStride};
    }

    bool scratchIntact()
    {
        bool intact = teamScratch->marginsIntact();
        intact = partScratch->marginsIntact() && intact;
        for (std::uint32_t part = 0; part < pool->parts() && intact; ++part)
            intact = std::ranges::all_of(gap(part), [](unsigned char byte) { return byte == kGapByte; });
        return intact;
    }

    /// Every core reads its share of memory that no kernel uses.
    bool chill(std::uint64_t bytes)
    {
        if (cold.bytes() < bytes) {
            if (!cold.allocate(bytes, false))
                return false;
            std::memset(cold.data(), 1, cold.bytes()); // else all of it would be one shared page of zeros
        }
        const std::span<const std::byte> all(cold.data(), bytes);
        pool->run(
            [](void* context, std::uint32_t part, std::uint32_t parts) {
                const auto memory = *static_cast<const std::span<const std::byte>*>(context);
                const std::size_t begin = memory.size() * part / parts;
                const std::size_t end = memory.size() * (part + 1) / parts;
                unsigned sum = 0;
                for (std::size_t i = begin; i < end; i += 64)
                    sum += static_cast<unsigned>(memory[i]);
                asm volatile("" : : "r"(sum));
            },
            const_cast<std::span<const std::byte>*>(&all));
        return true;
    }
};

namespace {

int openDevice(const char* key, const char* options, LatheDevice** out, LatheDeviceError* error)
{
    if (std::string_view(key) != "cpu")
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "this machine's only cpu device has the key cpu");
    auto device = std::make_unique<LatheDevice>();
    if (const int status = device->setOptions(options ? options : "", error))
        return status;
    runtime::PoolOptions poolOptions;
    poolOptions.threads = device->threads;
    const std::uint32_t processors = runtime::processorCount();
    poolOptions.pin = device->pin && (device->threads ? device->threads : processors) <= processors;
    device->pool.reset(runtime::Pool::create(poolOptions));
    if (!device->pool)
        return fail(error, LATHE_ERRC_DEVICE_LOST, "the system refuses threads or memory for the cpu device");
    if (poolOptions.pin)
        runtime::pinThisThread(0);
    installCrashReport();
    *out = device.release();
    return 0;
}

void closeDevice(LatheDevice* device)
{
    delete device;
}

const char* health(LatheDevice* device)
{
    device->health = machineHealth(device->pool->parts());
    return device->health.c_str();
}

const char* limits(LatheDevice* device)
{
    device->health = machineLimits(*device->pool);
    return device->health.c_str();
}

int allocate(LatheDevice* device, size_t bytes, void** buffer, LatheDeviceError* error)
{
    Buffer* created = Buffer::create(bytes, device->guarded);
    if (!created)
        return fail(error, LATHE_ERRC_UNSUPPORTED,
                    "there is no memory for a buffer of " + std::to_string(bytes) + " bytes");
    *buffer = created->data();
    return 0;
}

void release(LatheDevice*, void* buffer)
{
    Buffer::destroy(Buffer::find(buffer));
}

int copy(const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    const Buffer* known = Buffer::find(buffer);
    if (!known || offset > known->bytes() || bytes > known->bytes() - offset)
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a copy reaches outside its buffer");
    return 0;
}

int copyIn(LatheDevice*, void* buffer, size_t offset, const void* host, size_t bytes, LatheDeviceError* error)
{
    if (const int status = copy(buffer, offset, bytes, error))
        return status;
    std::memcpy(static_cast<char*>(buffer) + offset, host, bytes);
    return 0;
}

int copyOut(LatheDevice*, void* host, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    if (const int status = copy(buffer, offset, bytes, error))
        return status;
    std::memcpy(host, static_cast<const char*>(buffer) + offset, bytes);
    return 0;
}

int load(LatheDevice*, const void* artifact, size_t bytes, const char* descriptor, LatheModule** module,
         LatheDeviceError* error)
{
    auto loaded = std::make_unique<LatheModule>();
    if (const int status = loaded->module.load(artifact, bytes, descriptor, error))
        return status;
    *module = loaded.release();
    return 0;
}

void unload(LatheDevice*, LatheModule* module)
{
    delete module;
}

int checkLaunch(const LatheLaunch& launch, LatheDeviceError* error)
{
    const auto& kernels = launch.module->module.kernels();
    if (launch.kernel >= kernels.size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a launch names a kernel that its module does not have");
    const Kernel& kernel = kernels[launch.kernel];
    if (launch.bufferCount != kernel.parameters.size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                    "a launch of " + kernel.name + " has the wrong number of buffers");
    for (std::uint32_t i = 0; i < launch.bufferCount; ++i) {
        const Buffer* buffer = Buffer::find(launch.buffers[i]);
        if (!buffer || buffer->bytes() < kernel.parameterBytes[i])
            return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                        "the buffer for \"" + kernel.parameters[i] + "\" of " + kernel.name + " is too small");
    }
    return 0;
}

int reserveScratch(LatheDevice* device, std::span<const LatheLaunch> launches, LatheDeviceError* error)
{
    std::size_t team = 0, part = 0;
    for (const LatheLaunch& launch : launches) {
        const Kernel& kernel = launch.module->module.kernels()[launch.kernel];
        team = std::max<std::size_t>(team, kernel.teamScratchBytes);
        part = std::max<std::size_t>(part, kernel.partScratchBytes);
    }
    if (!device->reserve(team, part))
        return fail(error, LATHE_ERRC_UNSUPPORTED, "there is no memory for the kernels' scratch");
    return 0;
}

/// Runs one launch; the kernel's code.
std::int32_t launchKernel(LatheDevice* device, const LatheLaunch& launch)
{
    const Kernel& kernel = launch.module->module.kernels()[launch.kernel];
    const LatheArgs args = {launch.buffers, device->teamScratch->data()};
    runtime::KernelCall call;
    call.phases = kernel.phases.data();
    call.phaseCount = static_cast<std::uint32_t>(kernel.phases.size());
    call.args = &args;
    call.partScratch = static_cast<std::byte*>(device->partScratch->data());
    call.partScratchStride = device->partStride;
    setRunningKernel({kernel.name.c_str(), kernel.parameterNames.data(), launch.buffers, launch.bufferCount});
    return device->pool->run(call);
}

int checkMargins(const LatheLaunch& launch, LatheDeviceError* error)
{
    const Kernel& kernel = launch.module->module.kernels()[launch.kernel];
    for (std::uint32_t i = 0; i < launch.bufferCount; ++i)
        if (!Buffer::find(launch.buffers[i])->marginsIntact())
            return fail(error, LATHE_ERRC_WRONG_ANSWER,
                        "kernel " + kernel.name + " wrote outside of \"" + kernel.parameters[i]
                            + "\", right beside it");
    return 0;
}

int run(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations, uint64_t coldBytes,
        LatheTiming* timing, LatheDeviceError* error)
{
    const std::span<const LatheLaunch> list(launches, count);
    for (const LatheLaunch& launch : list)
        if (const int status = checkLaunch(launch, error))
            return status;
    if (const int status = reserveScratch(device, list, error))
        return status;
    // Where everything is timed the clock is read now and then, not twice a launch.
    const bool whole = coldBytes == 0
                       && std::all_of(list.begin(), list.end(), [](const LatheLaunch& l) { return l.timed != 0; });
    // All of them together are what is repeated: some may have constants that are still in a cache, and the quicker
    // half would be these. In a single pass over launches of one kernel each is one repetition.
    const bool alike = iterations == 1 && std::all_of(list.begin(), list.end(), [&list](const LatheLaunch& l) {
                           return l.module == list.front().module && l.kernel == list.front().kernel;
                       });
    std::uint64_t total = 0;
    TimedBlocks blocks((alike ? std::uint64_t{count} : 1) * iterations, runtime::nowNanoseconds());
    for (std::uint32_t i = 0; i < iterations; ++i) {
        if (coldBytes > 0 && !device->chill(coldBytes))
            return fail(error, LATHE_ERRC_DEVICE_LOST, "there is no memory to make the caches cold with");
        for (const LatheLaunch& launch : list) {
            const std::uint64_t start = whole ? 0 : runtime::nowNanoseconds();
            if (const std::int32_t code = launchKernel(device, launch))
                return fail(error, LATHE_ERRC_DEVICE_LOST,
                            "kernel " + launch.module->module.kernels()[launch.kernel].name + " ended with code "
                                + std::to_string(code));
            if (!whole && launch.timed)
                total += runtime::nowNanoseconds() - start;
            if (whole && (alike || &launch == &list.back()) && blocks.isDue())
                blocks.add(runtime::nowNanoseconds());
        }
    }
    if (whole)
        total = static_cast<std::uint64_t>(std::llround(blocks.total()));
    for (const LatheLaunch& launch : list)
        if (const int status = checkMargins(launch, error))
            return status;
    if (device->guarded && !device->scratchIntact())
        return fail(error, LATHE_ERRC_WRONG_ANSWER,
                    "kernel " + list.front().module->module.kernels()[list.front().kernel].name
                        + (list.size() > 1 ? " or one launched with it" : "") + " wrote outside of its scratch");
    if (timing)
        *timing = {total, 0, 0};
    return 0;
}

constexpr LatheDeviceApi kApi = {LATHE_DEVICE_ABI_VERSION,
                                 sizeof(LatheDeviceApi),
                                 "cpu",
                                 describeMachine,
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
