#include "core/runtime/device_abi.h"
#include "plugins/opencl/device/device_list.h"
#include "plugins/opencl/device/errors.h"
#include "plugins/opencl/device/limits.h"
#include "plugins/opencl/device/module.h"
#include "plugins/opencl/device/stopwatch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

/// The device half: one queue of a device, which works through its launches in order.

using lathe::fail;
using namespace lathe::opencl;

struct LatheModule
{
    Module module;
};

struct LatheDevice
{
    struct Buffer
    {
        cl_mem memory = nullptr;
        std::size_t bytes = 0;
    };

    const Driver& driver;
    DeviceFacts facts;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    bool hasEvents = false; ///< whose times are real
    std::unordered_map<const void*, std::unique_ptr<Buffer>> buffers; ///< keyed by the pointer that allocate() returned
    std::vector<Buffer> scratch; ///< of all kernels: they follow one another
    Buffer cold;
    std::string health, limits;

    LatheDevice(const Driver& opened, DeviceFacts of)
        : driver(opened)
        , facts(std::move(of))
    {
    }
    ~LatheDevice()
    {
        if (queue != nullptr)
            driver.finish(queue);
        for (const auto& [pointer, buffer] : buffers)
            driver.releaseMemObject(buffer->memory);
        scratch.push_back(cold);
        for (const Buffer& buffer : scratch)
            if (buffer.memory != nullptr)
                driver.releaseMemObject(buffer.memory);
        if (queue != nullptr)
            driver.releaseCommandQueue(queue);
        if (context != nullptr)
            driver.releaseContext(context);
    }
    LatheDevice(const LatheDevice&) = delete;
    LatheDevice& operator=(const LatheDevice&) = delete;

    const Buffer* find(const void* pointer) const
    {
        const auto found = buffers.find(pointer);
        return found == buffers.end() ? nullptr : found->second.get();
    }

    int start(LatheDeviceError* error)
    {
        cl_int code = CL_SUCCESS;
        const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                    reinterpret_cast<cl_context_properties>(facts.platform), 0};
        context = driver.createContext(properties, 1, &facts.id, nullptr, nullptr, &code);
        if (context == nullptr)
            return refused(error, code, std::string("a context on ") + facts.name);
        queue = driver.createCommandQueue(context, facts.id, CL_QUEUE_PROFILING_ENABLE, &code);
        if (queue == nullptr)
            return refused(error, code, std::string("a queue on ") + facts.name);
        return tryEvents(error);
    }

    /// There are drivers whose events are always at time 0.
    int tryEvents(LatheDeviceError* error)
    {
        if (const int status = grow(cold, 4096, error))
            return status;
        cl_event event = nullptr;
        if (const cl_int code = fill(4096, &event))
            return refused(error, code, "to fill a buffer");
        cl_int code = driver.finish(queue);
        cl_ulong ended = 0;
        if (code == CL_SUCCESS)
            code = driver.getEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr);
        driver.releaseEvent(event);
        hasEvents = code == CL_SUCCESS && ended != 0;
        return 0;
    }

    int make(Buffer& buffer, std::size_t bytes, LatheDeviceError* error)
    {
        if (bytes > facts.largestBuffer)
            return fail(error, LATHE_ERRC_UNSUPPORTED,
                        "a buffer of " + std::to_string(bytes) + " bytes is larger than the largest that " + facts.name
                            + " has, " + std::to_string(facts.largestBuffer));
        cl_int code = CL_SUCCESS;
        const cl_mem_flags flags = CL_MEM_READ_WRITE | (facts.sharesMemory ? CL_MEM_ALLOC_HOST_PTR : 0);
        buffer.memory = driver.createBuffer(context, flags, std::max<std::size_t>(bytes, 4), nullptr, &code);
        buffer.bytes = bytes;
        if (buffer.memory == nullptr)
            return refused(error, code, "a buffer of " + std::to_string(bytes) + " bytes");
        return 0;
    }

    /// Of at least this size.
    int grow(Buffer& buffer, std::size_t bytes, LatheDeviceError* error)
    {
        if (buffer.memory != nullptr && buffer.bytes >= bytes)
            return 0;
        if (buffer.memory != nullptr)
            driver.releaseMemObject(buffer.memory); // the driver keeps it while a launch uses it
        buffer = {};
        return make(buffer, bytes, error);
    }

    /// Writes to memory that no kernel uses, which takes the place of what these have in the caches.
    cl_int fill(std::size_t bytes, cl_event* event)
    {
        const cl_uint pattern = 1;
        return driver.enqueueFillBuffer(queue, cold.memory, &pattern, sizeof pattern, 0, bytes, 0, nullptr, event);
    }

    cl_int launch(const ModuleKernel& kernel, const ModuleLaunch& one, void* const* arguments, cl_event* event)
    {
        for (std::size_t i = 0; i < one.buffers.size(); ++i) {
            const std::size_t number = one.buffers[i];
            const Buffer& buffer = number < kernel.parameters.size() ? *find(arguments[number])
                                                                     : scratch[number - kernel.parameters.size()];
            if (const cl_int code = driver.setKernelArg(one.kernel, static_cast<cl_uint>(i), sizeof buffer.memory,
                                                        &buffer.memory))
                return code;
        }
        return driver.enqueueNdRangeKernel(queue, one.kernel, 3, nullptr, one.shape.threads, one.shape.block, 0,
                                           nullptr, event);
    }
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
    const Driver* const driver = findDriver(problem);
    if (driver == nullptr)
        return fail(error, LATHE_ERRC_NOT_FOUND, problem);
    for (DeviceFacts& facts : listDevices(*driver, problem))
        if (std::strcmp(facts.key, key) == 0) {
            auto device = std::make_unique<LatheDevice>(*driver, std::move(facts));
            if (const int status = device->start(error))
                return status;
            *out = device.release();
            return 0;
        }
    return fail(error, LATHE_ERRC_NOT_FOUND,
                problem.empty() ? "no OpenCL device has the key " + std::string(key) : problem);
}

void closeDevice(LatheDevice* device)
{
    delete device;
}

const char* health(LatheDevice* device)
{
    device->health = std::string(R"({"clock":")") + (device->hasEvents ? "device" : "wall") + "\"}";
    return device->health.c_str();
}

/// Of a processor those of the target cpu tell more: what its OpenCL compiler makes of one kernel is no limit.
const char* limits(LatheDevice* device)
{
    if (device->facts.isProcessor)
        return "{}";
    device->limits = measureLimits(device->driver, device->context, device->queue, device->facts, device->hasEvents);
    return device->limits.c_str();
}

int allocate(LatheDevice* device, size_t bytes, void** out, LatheDeviceError* error)
{
    auto buffer = std::make_unique<LatheDevice::Buffer>();
    if (const int status = device->make(*buffer, bytes, error))
        return status;
    *out = buffer.get();
    device->buffers.emplace(*out, std::move(buffer));
    return 0;
}

void release(LatheDevice* device, void* buffer)
{
    const auto found = device->buffers.find(buffer);
    if (found == device->buffers.end())
        return;
    device->driver.releaseMemObject(found->second->memory);
    device->buffers.erase(found);
}

/// Between host and device: on devices that share the host's memory by mapping it.
int copy(LatheDevice* device, const void* buffer, size_t offset, void* host, size_t bytes, bool in,
         LatheDeviceError* error)
{
    const LatheDevice::Buffer* known = device->find(buffer);
    if (!known || offset > known->bytes || bytes > known->bytes - offset)
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a copy reaches outside its buffer");
    if (bytes == 0)
        return 0;
    const Driver& driver = device->driver;
    cl_int code = CL_SUCCESS;
    if (device->facts.sharesMemory) {
        void* const mapped = driver.enqueueMapBuffer(device->queue, known->memory, CL_TRUE,
                                                     in ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ, offset, bytes,
                                                     0, nullptr, nullptr, &code);
        if (mapped != nullptr) {
            std::memcpy(in ? mapped : host, in ? host : mapped, bytes);
            code = driver.enqueueUnmapMemObject(device->queue, known->memory, mapped, 0, nullptr, nullptr);
        }
    } else if (in) {
        code = driver.enqueueWriteBuffer(device->queue, known->memory, CL_TRUE, offset, bytes, host, 0, nullptr,
                                         nullptr);
    } else {
        code = driver.enqueueReadBuffer(device->queue, known->memory, CL_TRUE, offset, bytes, host, 0, nullptr,
                                        nullptr);
    }
    return code == CL_SUCCESS ? 0 : failedAt(error, code, "a copy of " + std::to_string(bytes) + " bytes");
}

int copyIn(LatheDevice* device, void* buffer, size_t offset, const void* host, size_t bytes, LatheDeviceError* error)
{
    return copy(device, buffer, offset, const_cast<void*>(host), bytes, true, error);
}

int copyOut(LatheDevice* device, void* host, const void* buffer, size_t offset, size_t bytes, LatheDeviceError* error)
{
    return copy(device, buffer, offset, host, bytes, false, error);
}

int load(LatheDevice* device, const void* artifact, size_t bytes, const char* descriptor, LatheModule** module,
         LatheDeviceError* error)
{
    auto loaded = std::unique_ptr<LatheModule>(new LatheModule{{device->driver, device->context, device->facts}});
    if (const int status = loaded->module.load({static_cast<const char*>(artifact), bytes}, descriptor, error))
        return status;
    *module = loaded.release();
    return 0;
}

void unload(LatheDevice* device, LatheModule* module)
{
    device->driver.finish(device->queue);
    delete module;
}

int build(LatheDevice*, LatheModule* module, uint32_t kernel, LatheDeviceError* error)
{
    if (kernel >= module->module.kernels().size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "the module has no kernel of this number");
    return module->module.build(kernel, error);
}

/// Everything that can be known before the first launch.
int prepare(LatheDevice* device, const LatheLaunch& launch, LatheDeviceError* error)
{
    const auto& kernels = launch.module->module.kernels();
    if (launch.kernel >= kernels.size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a launch names a kernel that its module does not have");
    const ModuleKernel& kernel = kernels[launch.kernel];
    if (launch.bufferCount != kernel.parameters.size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                    "a launch of " + kernel.name + " has the wrong number of buffers");
    for (std::uint32_t i = 0; i < launch.bufferCount; ++i) {
        const LatheDevice::Buffer* buffer = device->find(launch.buffers[i]);
        if (!buffer || buffer->bytes < kernel.parameterBytes[i])
            return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                        "the buffer for \"" + kernel.parameters[i] + "\" of " + kernel.name + " is too small");
    }
    if (const int status = launch.module->module.build(launch.kernel, error))
        return status;
    device->scratch.resize(std::max(device->scratch.size(), kernel.scratchBytes.size()));
    for (std::size_t i = 0; i < kernel.scratchBytes.size(); ++i)
        if (const int status = device->grow(device->scratch[i], kernel.scratchBytes[i], error))
            return status;
    return 0;
}

/// CL_SUCCESS, or what went wrong: while commands were put into the queue, or while they were waited for.
struct Outcome
{
    cl_int code = CL_SUCCESS;
    bool isOfWait = false;
};

/// Launches in the queue before it is waited for: drivers keep what they need for each of them.
constexpr std::size_t kMostQueued = 512;

/// Launches of a run, one after the other. With `isWhole` they are timed in stretches with whatever lies between two
/// launches, as a network has it, too; else each call by itself.
class Run
{
public:
    Run(LatheDevice& device, bool isWhole)
        : m_device(device)
        , m_watch(device.driver, device.queue, device.hasEvents)
        , m_isWhole(isWhole)
    {
    }

    Outcome call(const LatheLaunch& call, bool isLastOfRun)
    {
        const ModuleKernel& kernel = call.module->module.kernels()[call.kernel];
        const std::size_t count = kernel.launches.size();
        const bool isFirst = !m_isWhole || m_queued == 0;
        const bool isLast = !m_isWhole || isLastOfRun || m_queued + count >= kMostQueued;
        for (std::size_t l = 0; l < count; ++l) {
            const bool begins = isFirst && l == 0, ends = isLast && l + 1 == count;
            cl_event* const event = call.timed != 0 ? m_watch.next(begins, ends) : nullptr;
            if (const cl_int code = m_device.launch(kernel, kernel.launches[l], call.buffers, event))
                return {code, false};
        }
        m_queued += count;
        if (call.timed != 0 && isLast)
            if (const cl_int code = m_watch.close())
                return {code, true};
        return m_queued >= kMostQueued || isLastOfRun ? Outcome{wait(), true} : Outcome{};
    }

    std::uint64_t nanoseconds() const { return m_watch.nanoseconds(); }

private:
    cl_int wait()
    {
        m_queued = 0;
        return m_watch.finish();
    }

    LatheDevice& m_device;
    Stopwatch m_watch;
    bool m_isWhole;
    std::size_t m_queued = 0;
};

int run(LatheDevice* device, const LatheLaunch* launches, uint32_t count, uint32_t iterations, uint64_t coldBytes,
        LatheTiming* timing, LatheDeviceError* error)
{
    const std::span<const LatheLaunch> list(launches, count);
    for (const LatheLaunch& launch : list)
        if (const int status = prepare(device, launch, error))
            return status;
    if (coldBytes > 0)
        if (const int status = device->grow(device->cold, coldBytes / 4 * 4 + 4, error))
            return status;
    const bool isWhole = coldBytes == 0
                         && std::all_of(list.begin(), list.end(), [](const LatheLaunch& l) { return l.timed != 0; });
    Run run(*device, isWhole);
    for (uint32_t i = 0; i < iterations; ++i) {
        if (coldBytes > 0)
            if (const cl_int code = device->fill(coldBytes / 4 * 4 + 4, nullptr))
                return refused(error, code, "to make the caches cold");
        for (const LatheLaunch& launch : list)
            if (const Outcome end = run.call(launch, i + 1 == iterations && &launch == &list.back());
                end.code != CL_SUCCESS) {
                device->driver.finish(device->queue);
                const std::string what = "kernel " + launch.module->module.kernels()[launch.kernel].name;
                return (end.isOfWait ? failedAt : refused)(error, end.code, what);
            }
    }
    if (timing)
        *timing = {run.nanoseconds(),
                   static_cast<std::uint32_t>(device->hasEvents ? LATHE_CLOCK_DEVICE : LATHE_CLOCK_WALL), 0};
    return 0;
}

constexpr LatheDeviceApi kApi = {LATHE_DEVICE_ABI_VERSION,
                                 sizeof(LatheDeviceApi),
                                 "opencl",
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
