#include "tests/cuda_driver/driver/state.h"
#include "tests/cuda_driver/driver/time_model.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace lathe::cuda_driver {

namespace {

std::string textOf(const ptx::Size3& size)
{
    return "[" + std::to_string(size.x) + "," + std::to_string(size.y) + "," + std::to_string(size.z) + "]";
}

int codeOf(ptx::FaultKind kind)
{
    switch (kind) {
    case ptx::FaultKind::IllegalAddress: return kIllegalAddress;
    case ptx::FaultKind::MisalignedAddress: return kMisalignedAddress;
    case ptx::FaultKind::InvalidAddressSpace: return kInvalidAddressSpace;
    case ptx::FaultKind::InvalidProgramCounter: return kInvalidPc;
    case ptx::FaultKind::Trap: return kLaunchFailed;
    case ptx::FaultKind::Timeout: return kLaunchTimeout;
    }
    return kUnknown;
}

/// All of global memory, to begin a launch anew and to compare what two of them left.
using Snapshot = std::map<uint64_t, std::pair<std::vector<uint8_t>, std::vector<uint8_t>>>;

Snapshot snapshotOf(ptx::DeviceMemory& memory)
{
    Snapshot made;
    for (const auto& [base, allocation] : memory.all()) {
        const uint8_t* const bytes = allocation.bytes.get();
        const uint8_t* const flags = allocation.initialized.get();
        made[base] = {{bytes, bytes + allocation.size}, {flags, flags + allocation.size}};
    }
    return made;
}

void restore(ptx::DeviceMemory& memory, const Snapshot& from)
{
    for (auto& [base, allocation] : memory.all()) {
        const auto& [bytes, flags] = from.at(base);
        std::memcpy(allocation.bytes.get(), bytes.data(), bytes.size());
        std::memcpy(allocation.initialized.get(), flags.data(), flags.size());
    }
}

/// A finding where the results of cp.async at once and at the wait differ.
void compare(ptx::DeviceMemory& memory, const Snapshot& eager, const ptx::LaunchRequest& request,
             ptx::LaunchReport& report)
{
    for (auto& [base, allocation] : memory.all()) {
        const std::vector<uint8_t>& other = eager.at(base).first;
        const auto at = std::mismatch(other.begin(), other.end(), allocation.bytes.get());
        if (at.first == other.end())
            continue;
        const unsigned line = request.program->asyncCopyLine;
        if (ptx::Finding* const finding = report.findings.add(ptx::Finding::Kind::AsyncCopy, line, line))
            finding->text = "PTX line " + std::to_string(line)
                            + ": the results depend on when cp.async brings its data: byte "
                            + std::to_string(at.first - other.begin()) + " of an allocation of "
                            + std::to_string(allocation.size) + " bytes differs.";
        return;
    }
}

/// `reused`: it was known what it would give, so that nothing was run.
ptx::LaunchReport interpret(const Settings& settings, ptx::LaunchRequest& request, Context& context, bool& reused)
{
    ptx::DeviceMemory& memory = *context.memory;
    const bool both = settings.copies == Settings::Copies::Both && request.kernel->copiesAsynchronously;
    request.arrival = settings.copies == Settings::Copies::Lazy ? ptx::AsyncArrival::AtWait
                                                                : ptx::AsyncArrival::AtIssue;
    if (!both) {
        if (const ptx::LaunchReport* const known = settings.reuse ? context.reuse.find(request, memory) : nullptr) {
            reused = true;
            return *known;
        }
        ptx::LaunchReport report = ptx::runLaunch(request, memory);
        if (settings.reuse)
            context.reuse.keep(request, memory, report);
        return report;
    }
    const Snapshot before = snapshotOf(memory);
    ptx::LaunchReport eager = ptx::runLaunch(request, memory);
    if (eager.fault)
        return eager;
    const Snapshot after = snapshotOf(memory);
    restore(memory, before);
    request.arrival = ptx::AsyncArrival::AtWait;
    ptx::LaunchReport lazy = ptx::runLaunch(request, memory);
    lazy.findings.take(eager.findings);
    if (!lazy.fault)
        compare(memory, after, request, lazy);
    return lazy;
}

void tellCounters(State& state, const std::string& name, const LaunchSize& size, const ptx::LaunchReport& report,
                  bool reused, double seconds)
{
    const ptx::Counters& c = report.counters;
    const auto field = [](const char* key, uint64_t value) {
        return std::string(",\"") + key + "\":" + std::to_string(value);
    };
    char time[64];
    std::snprintf(time, sizeof(time), ",\"model_seconds\":%.9g", seconds);
    state.tell("{\"launch\":" + std::to_string(state.launches) + ",\"kernel\":\"" + name
                   + "\",\"grid\":" + textOf(size.grid) + ",\"block\":" + textOf(size.block)
                   + field("dynamic_shared", size.dynamicShared) + field("warp_instructions", c.warpInstructions)
                   + field("thread_instructions", c.threadInstructions) + field("flops", c.flops)
                   + field("shared_requests", c.sharedRequests) + field("shared_wavefronts", c.sharedWavefronts)
                   + field("bank_conflicts", c.bankConflicts()) + field("global_requests", c.globalRequests)
                   + field("global_sectors", c.globalSectors) + field("global_sectors_ideal", c.globalIdeal)
                   + field("global_read_bytes", c.globalReadBytes) + field("global_written_bytes", c.globalWrittenBytes)
                   + field("atomics", c.atomics) + field("barriers", c.barriers)
                   + field("divergent_branches", c.divergentBranches) + field("findings", report.findings.all().size())
                   + field("reused", reused ? 1 : 0) + time + "}",
               state.settings.logFile.empty());
}

/// The first ones: an unrolled loop has as many as it has lines.
void tellFindings(State& state, const std::string& name, const ptx::LaunchReport& report)
{
    constexpr size_t kTold = 8;
    const std::vector<ptx::Finding>& all = report.findings.all();
    for (size_t i = 0; i < std::min(all.size(), kTold); ++i)
        state.tell(std::string(ptx::nameOf(all[i].kind)) + " in kernel " + name + ", " + all[i].text
                       + (all[i].count > 1 ? " (" + std::to_string(all[i].count) + " times)" : ""),
                   true);
    if (all.size() > kTold)
        state.tell("and between " + std::to_string(all.size() - kTold) + " more pairs of lines of kernel " + name,
                   true);
}

} // namespace

unsigned Function::mostThreads() const
{
    const auto product = [](const std::array<uint32_t, 3>& threads) {
        return std::min<uint64_t>(uint64_t(threads[0]) * threads[1] * threads[2], kMaxThreads);
    };
    if (kernel->requiredThreads[0] != 0)
        return static_cast<unsigned>(product(kernel->requiredThreads));
    if (kernel->maxThreads[0] != 0)
        return static_cast<unsigned>(product(kernel->maxThreads));
    return std::min(kMaxThreads, kRegistersPerMultiprocessor / registers() / 32 * 32);
}

unsigned Function::registers() const
{
    unsigned threads = 0;
    for (const auto* limit : {&kernel->requiredThreads, &kernel->maxThreads})
        if ((*limit)[0] != 0 && threads == 0)
            threads = static_cast<unsigned>(
                std::min<uint64_t>(uint64_t((*limit)[0]) * (*limit)[1] * (*limit)[2], kMaxThreads));
    const unsigned rounded = (kernel->registers + 7) / 8 * 8;
    threads = (threads + 31) / 32 * 32; // registers are given to whole warps
    // A compiler that was told how many threads there are spills rather than take more registers than each can have.
    return threads == 0 ? std::min(rounded, 255U)
                        : std::min({rounded, 255U, kRegistersPerMultiprocessor / threads / 8 * 8});
}

int checkLaunch(const Function& function, const Device& device, const LaunchSize& size)
{
    const ptx::Kernel& kernel = *function.kernel;
    const uint64_t threads = size.block.count();
    if (size.grid.count() == 0 || threads == 0 || size.grid.x > INT32_MAX || size.grid.y > 65535 || size.grid.z > 65535
        || size.block.x > kMaxThreads || size.block.y > kMaxThreads || size.block.z > 64 || threads > kMaxThreads)
        return kInvalidValue;
    const auto& required = kernel.requiredThreads;
    if (required[0] != 0 && (size.block.x != required[0] || size.block.y != required[1] || size.block.z != required[2]))
        return kInvalidValue;
    if (kernel.maxThreads[0] != 0 && threads > function.mostThreads())
        return kInvalidValue;
    if (size.dynamicShared > static_cast<unsigned>(function.maxDynamicShared)
        || (size.dynamicShared + kernel.staticShared > kDefaultShared
            && function.maxDynamicShared <= static_cast<int>(kDefaultShared))
        || size.dynamicShared + kernel.staticShared > device.sharedPerBlockOptin)
        return kInvalidValue;
    const uint64_t warps = (threads + 31) / 32;
    if (warps * 32 * function.registers() > kRegistersPerMultiprocessor)
        return kLaunchOutOfResources;
    return kSuccess;
}

int blocksPerMultiprocessor(const Function& function, const Device& device, unsigned threads, size_t dynamicShared)
{
    const unsigned warps = (threads + 31) / 32;
    if (threads == 0 || threads > kMaxThreads || threads > device.threadsPerMultiprocessor)
        return 0;
    const size_t shared = function.kernel->staticShared + dynamicShared + (device.capability >= 80 ? 1024 : 0);
    if (function.kernel->staticShared + dynamicShared > device.sharedPerBlockOptin)
        return 0;
    const unsigned perBlock = warps * 32 * function.registers();
    const unsigned byThreads = device.threadsPerMultiprocessor / (warps * 32);
    const unsigned byRegisters = kRegistersPerMultiprocessor / perBlock;
    const auto byShared = shared == 0 ? device.blocksPerMultiprocessor
                                      : static_cast<unsigned>(device.sharedPerMultiprocessor / shared);
    return static_cast<int>(std::min({byThreads, byRegisters, byShared, device.blocksPerMultiprocessor}));
}

int runKernel(State& state, Function& function, const LaunchSize& size, const std::vector<uint8_t>& parameters,
              Stream& stream, bool inGraph)
{
    Context& context = *stream.context;
    const Settings& settings = state.settings;
    const uint64_t number = ++state.launches;
    const auto planned = [&](uint64_t at, int code, const char* what) {
        if (number != at)
            return false;
        context.error = code;
        state.tell("launch " + std::to_string(number) + ", kernel " + function.kernel->name + ": " + what, true);
        return true;
    };
    if (number == settings.hangAt) {
        state.tell("launch " + std::to_string(number) + ", kernel " + function.kernel->name + ": hangs, as planned",
                   true);
        context.hung = true;
        return kSuccess;
    }
    if (planned(settings.eccAt, kEccUncorrectable, "an uncorrectable error of memory, as planned"))
        return kSuccess;
    if (planned(settings.lostAt, kUnknown, "the device is lost, as planned")) {
        context.device->lost = true;
        return kSuccess;
    }
    ptx::LaunchRequest request;
    request.program = function.module->program;
    request.kernel = function.kernel;
    request.globals = function.module->globals;
    request.grid = size.grid;
    request.block = size.block;
    request.dynamicShared = size.dynamicShared;
    request.parameters = parameters;
    request.checked = settings.checked;
    request.multiprocessors = context.device->multiprocessors;
    request.mostWarpInstructions = settings.mostWarpInstructions;
    bool reused = false;
    const ptx::LaunchReport report = interpret(settings, request, context, reused);
    const double seconds = launchSeconds(report.counters, size.grid, *context.device, inGraph);
    stream.seconds += seconds;
    tellFindings(state, function.kernel->name, report);
    if (settings.counters)
        tellCounters(state, function.kernel->name, size, report, reused, seconds);
    if (report.fault) {
        state.tell("fault in kernel " + function.kernel->name + ", " + report.fault->text, true);
        context.error = codeOf(report.fault->kind);
    } else if (settings.strict && !report.findings.all().empty()) {
        context.error = kAssert;
    }
    return kSuccess;
}

} // namespace lathe::cuda_driver
