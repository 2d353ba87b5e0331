#include "plugins/cuda/device/run.h"

#include "plugins/cuda/device/stopwatch.h"

#include <algorithm>
#include <string>
#include <vector>

namespace lathe::cuda {
namespace {

/// Launches in the stream before it is waited for: drivers keep what they need for each of them.
constexpr std::size_t kMostQueued = 512;
/// Of a graph: making one costs some microseconds for each.
constexpr std::size_t kMostInGraph = 256;
/// Fewer are started one by one: a graph would cost more than it spares.
constexpr std::size_t kLeastForGraph = 32;
/// Ahead of what is timed the stream is kept busy for as long as the host needs for so many commands at most, so that
/// these are in it before the device comes to them: else a first short kernel is timed with the host's work of starting
/// it. In longer stretches that hardly shows.
constexpr std::size_t kMostLed = 64;
/// To start a graph of many launches takes a host as long as so many single ones.
constexpr std::size_t kCommandsOfGraph = 8;

/// A code of the driver, kSuccess if all is well, and whether it came of what had been accepted before.
struct Outcome
{
    int code = kSuccess;
    bool isOfWait = false;
};

/// Passes that were recorded, to be started at once.
class RecordedPasses
{
public:
    explicit RecordedPasses(const Driver& driver)
        : m_driver(driver)
    {
    }
    ~RecordedPasses()
    {
        if (m_exec != nullptr)
            m_driver.graphExecDestroy(m_exec);
    }
    RecordedPasses(const RecordedPasses&) = delete;
    RecordedPasses& operator=(const RecordedPasses&) = delete;

    /// What `commands` puts into the stream. False: there will be no graph, and nothing was started.
    template<typename Commands>
    bool record(Stream stream, Commands commands)
    {
        if (m_driver.beginCapture(stream, kCaptureOfThread) != kSuccess)
            return false;
        const bool isWhole = commands() == kSuccess;
        Graph graph = nullptr;
        const bool isMade = m_driver.endCapture(stream, &graph) == kSuccess && graph != nullptr;
        const bool isGood = isWhole && isMade && m_driver.graphInstantiate(&m_exec, graph, 0) == kSuccess;
        if (isMade)
            m_driver.graphDestroy(graph);
        if (!isGood)
            m_exec = nullptr;
        // Its first start would bring it to the device, and be timed with that. Where that fails, starting it will
        // tell.
        if (isGood && m_driver.graphUpload != nullptr)
            m_driver.graphUpload(m_exec, stream);
        return isGood;
    }
    int start(Stream stream) const { return m_driver.graphLaunch(m_exec, stream); }

private:
    const Driver& m_driver;
    GraphExec m_exec = nullptr;
};

class Run
{
public:
    Run(OpenedDevice& device, std::span<const LatheLaunch> list)
        : m_device(device)
        , m_driver(device.driver())
        , m_watch(device.driver(), device.stream())
        , m_list(list)
    {
        for (const LatheLaunch& call : list)
            m_passLaunches += kernelOf(call).launches.size();
    }

    /// Stretches of whole passes.
    Outcome whole(std::uint32_t iterations)
    {
        const std::size_t all = m_passLaunches * iterations;
        std::uint32_t left = iterations;
        if (m_driver.hasGraphs && all >= kLeastForGraph && areShort())
            if (const Outcome end = recorded(left); end.code != kSuccess)
                return end;
        const auto atOnce = static_cast<std::uint32_t>(std::max<std::size_t>(1, kMostQueued / m_passLaunches));
        while (left > 0) {
            const std::uint32_t passes = std::min(left, atOnce);
            if (const Outcome end = stretch([&] { return pass(passes); }, passes * m_passLaunches);
                end.code != kSuccess)
                return end;
            left -= passes;
        }
        const double each = static_cast<double>(m_watch.nanoseconds()) / static_cast<double>(all);
        for (const LatheLaunch& call : m_list)
            kernelOf(call).launchNanoseconds = each;
        return {};
    }

    /// Each call by itself; what is not timed runs between.
    Outcome apart(std::uint32_t iterations, std::size_t coldWords)
    {
        std::size_t queued = 0;
        for (std::uint32_t i = 0; i < iterations; ++i) {
            if (coldWords > 0)
                if (const int code = m_driver.fill(m_device.cold.address, 1, coldWords, m_device.stream()))
                    return {code, false};
            if (const int code = m_device.keepBusy(std::min(m_passLaunches + 2 * m_list.size(), kMostLed)))
                return {code, false};
            for (const LatheLaunch& call : m_list) {
                int code = call.timed != 0 ? m_watch.begin() : kSuccess;
                if (code == kSuccess)
                    code = launch(call);
                if (code == kSuccess && call.timed != 0)
                    code = m_watch.end();
                if (code != kSuccess)
                    return {code, false};
            }
            queued += m_passLaunches;
            if (queued >= kMostQueued || i + 1 == iterations) {
                if (const int code = m_watch.finish())
                    return {code, true};
                queued = 0;
            }
        }
        return {};
    }

    std::uint64_t nanoseconds() const { return m_watch.nanoseconds(); }
    /// Of the call that failed last, for people.
    const std::string& current() const { return kernelOf(m_list[m_current]).name; }

private:
    static ModuleKernel& kernelOf(const LatheLaunch& call) { return call.module->module.kernels()[call.kernel]; }

    bool areShort() const
    {
        return std::ranges::all_of(m_list, [](const LatheLaunch& call) {
            const double last = kernelOf(call).launchNanoseconds;
            return last > 0 && last < kShortNanoseconds;
        });
    }

    int launch(const LatheLaunch& call)
    {
        m_current = static_cast<std::size_t>(&call - m_list.data());
        const ModuleKernel& kernel = kernelOf(call);
        for (const ModuleLaunch& one : kernel.launches) {
            m_addresses.clear();
            for (const std::size_t number : one.buffers)
                m_addresses.push_back(number < kernel.parameters.size()
                                          ? m_device.find(call.buffers[number])->address
                                          : m_device.scratch[number - kernel.parameters.size()].address);
            m_parameters.clear();
            for (Address& address : m_addresses)
                m_parameters.push_back(&address);
            const auto size = [](std::uint64_t extent) { return static_cast<unsigned>(extent); };
            if (const int code = m_driver.launch(one.function, size(one.grid[0]), size(one.grid[1]), size(one.grid[2]),
                                                 size(one.block[0]), size(one.block[1]), size(one.block[2]),
                                                 size(dynamicSharedBytes(one.sharedBytes)), m_device.stream(),
                                                 m_parameters.data(), nullptr))
                return code;
        }
        return kSuccess;
    }

    int pass(std::uint32_t times)
    {
        for (std::uint32_t i = 0; i < times; ++i)
            for (const LatheLaunch& call : m_list)
                if (const int code = launch(call))
                    return code;
        return kSuccess;
    }

    /// Times what `commands` puts into the stream, which takes the host as long as so many launches, and waits for it.
    template<typename Commands>
    Outcome stretch(Commands commands, std::size_t calls)
    {
        if (const int code = m_device.keepBusy(std::min(calls, kMostLed) + 2))
            return {code, false};
        int code = m_watch.begin();
        if (code == kSuccess)
            code = commands();
        if (code == kSuccess)
            code = m_watch.end();
        if (code != kSuccess)
            return {code, false};
        return {m_watch.finish(), true};
    }

    /// As many passes as make whole graphs of one size; what is `left` is for others to run, and is less than there are
    /// graphs: started one by one, short launches take longer.
    Outcome recorded(std::uint32_t& left)
    {
        const auto most = static_cast<std::uint32_t>(std::clamp<std::size_t>(kMostInGraph / m_passLaunches, 1, left));
        const std::uint32_t passes = left / ((left - 1) / most + 1);
        RecordedPasses graph(m_driver);
        if (!graph.record(m_device.stream(), [&] { return pass(passes); }))
            return {};
        constexpr std::uint32_t kGraphsAtOnce = 16;
        while (left >= passes) {
            const std::uint32_t graphs = std::min(left / passes, kGraphsAtOnce);
            const auto start = [&] {
                int code = kSuccess;
                for (std::uint32_t g = 0; g < graphs && code == kSuccess; ++g)
                    code = graph.start(m_device.stream());
                return code;
            };
            if (const Outcome end = stretch(start, graphs * kCommandsOfGraph); end.code != kSuccess)
                return end;
            left -= graphs * passes;
        }
        return {};
    }

    OpenedDevice& m_device;
    const Driver& m_driver;
    Stopwatch m_watch;
    std::span<const LatheLaunch> m_list;
    std::size_t m_passLaunches = 0;
    std::size_t m_current = 0;
    std::vector<Address> m_addresses;
    std::vector<void*> m_parameters;
};

/// Everything that can be known before the first launch.
int prepare(OpenedDevice& device, const LatheLaunch& launch, LatheDeviceError* error)
{
    auto& kernels = launch.module->module.kernels();
    if (launch.kernel >= kernels.size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a launch names a kernel that its module does not have");
    const ModuleKernel& kernel = kernels[launch.kernel];
    if (launch.bufferCount != kernel.parameters.size())
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                    "a launch of " + kernel.name + " has the wrong number of buffers");
    for (std::uint32_t i = 0; i < launch.bufferCount; ++i) {
        const OpenedDevice::Buffer* const buffer = device.find(launch.buffers[i]);
        if (buffer == nullptr || buffer->bytes < kernel.parameterBytes[i])
            return fail(error, LATHE_ERRC_INVALID_ARGUMENT,
                        "the buffer for \"" + kernel.parameters[i] + "\" of " + kernel.name + " is too small");
    }
    if (const int status = device.prepare(launch.module->module, launch.kernel, error))
        return status;
    device.scratch.resize(std::max(device.scratch.size(), kernel.scratchBytes.size()));
    for (std::size_t i = 0; i < kernel.scratchBytes.size(); ++i)
        if (const int status = device.grow(device.scratch[i], kernel.scratchBytes[i], error))
            return status;
    return 0;
}

} // namespace

int run(OpenedDevice& device, std::span<const LatheLaunch> launches, std::uint32_t iterations, std::uint64_t coldBytes,
        LatheTiming* timing, LatheDeviceError* error)
{
    for (const LatheLaunch& launch : launches)
        if (const int status = prepare(device, launch, error))
            return status;
    const std::uint64_t coldWords = coldBytes / 4 + (coldBytes > 0 ? 1 : 0);
    if (coldWords > 0)
        if (const int status = device.grow(device.cold, 4 * coldWords, error))
            return status;
    const bool isWhole = coldBytes == 0
                         && std::ranges::all_of(launches, [](const LatheLaunch& l) { return l.timed != 0; });
    const bool isEmpty = std::ranges::all_of(
        launches, [](const LatheLaunch& l) { return l.module->module.kernels()[l.kernel].launches.empty(); });
    if (isEmpty || iterations == 0) {
        if (timing != nullptr)
            *timing = {};
        return 0;
    }
    // A model's time is the same in each pass: one stands for all, which would take a processor seconds.
    const std::uint32_t passes = device.driver().isOnProcessor ? 1 : iterations;
    Run run(device, launches);
    const Outcome end = isWhole ? run.whole(passes) : run.apart(passes, coldWords);
    if (end.code != kSuccess) {
        const std::string what = "kernel " + run.current();
        const int status = end.isOfWait ? device.failedAt(error, end.code, what)
                                        : device.refused(error, end.code, what);
        device.note(device.driver().streamSynchronize(device.stream()), what);
        return status;
    }
    if (timing != nullptr)
        *timing = {run.nanoseconds() * (iterations / passes),
                   static_cast<std::uint32_t>(device.driver().isOnProcessor ? LATHE_CLOCK_MODEL : LATHE_CLOCK_DEVICE),
                   0};
    return 0;
}

} // namespace lathe::cuda
