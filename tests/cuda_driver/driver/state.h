#pragma once

#include "tests/cuda_driver/driver/device.h"
#include "tests/cuda_driver/driver/reuse.h"
#include "tests/cuda_driver/ptx/machine.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

// What the entry points share: one state for the process, behind one lock. Handles are addresses of these objects and
// are looked up in the tables of State, so that one that was destroyed, or never was, is told.

namespace lathe::cuda_driver {

struct Context;
struct Stream;

struct Module
{
    Context* context = nullptr;
    std::shared_ptr<const ptx::Program> program;
    std::vector<uint64_t> globals;
};

struct Function
{
    Module* module = nullptr;
    const ptx::Kernel* kernel = nullptr;
    int maxDynamicShared = static_cast<int>(kDefaultShared);
    int carveout = -1;

    /// Estimated for a compiler that keeps the limits of the kernel.
    unsigned registers() const;
    unsigned mostThreads() const;
};

/// Something that a stream does: done at once, or kept for a graph. Returns a Code; adds to the stream's model time.
using Work = std::function<int(Stream& stream, bool inGraph)>;

struct Graph
{
    std::vector<Work> work;
};

struct Capture
{
    Stream* origin = nullptr;
    CaptureMode mode = kCaptureGlobal;
    std::thread::id thread;
    bool invalid = false;
    std::vector<Work> work;
    /// Streams that joined by waiting for an event, with the number of works when they had their last one, and when the
    /// origin last waited for them.
    std::unordered_map<Stream*, std::pair<size_t, size_t>> joined;
};

struct Stream
{
    Context* context = nullptr;
    double seconds = 0; // of the model's clock
    std::shared_ptr<Capture> capture;
    unsigned flags = 0;
};

struct Event
{
    Context* context = nullptr;
    unsigned flags = 0;
    bool recorded = false;
    double seconds = 0;
    std::weak_ptr<Capture> capture; // of the stream where it was recorded last, if that was capturing
    Stream* capturedIn = nullptr;
    size_t capturedAt = 0;
};

struct GraphExec
{
    Context* context = nullptr;
    std::vector<Work> work;
};

/// The primary context of a device.
struct Context
{
    Device* device = nullptr;
    unsigned retained = 0;
    int error = kSuccess; // sticky: of a kernel that failed
    bool hung = false;
    std::unique_ptr<ptx::DeviceMemory> memory;
    LaunchReuse reuse;
    Stream defaultStream;
    std::map<std::thread::id, std::unique_ptr<Stream>> ofThreads; // the default streams of threads
};

struct State
{
    std::recursive_mutex mutex;
    bool initialized = false;
    Settings settings;
    uint64_t launches = 0;
    std::vector<std::unique_ptr<Context>> contexts; // by device
    std::unordered_map<void*, std::unique_ptr<Module>> modules;
    std::unordered_map<void*, std::unique_ptr<Function>> functions;
    std::unordered_map<void*, std::unique_ptr<Stream>> streams;
    std::unordered_map<void*, std::unique_ptr<Event>> events;
    std::unordered_map<void*, std::unique_ptr<Graph>> graphs;
    std::unordered_map<void*, std::unique_ptr<GraphExec>> graphExecs;
    std::unordered_map<void*, size_t> hostMemory;
    std::unordered_set<Capture*> captures;

    static State& get();
    /// A line for the log file, if there is one; findings and faults also for standard error.
    void tell(const std::string& line, bool alsoStandardError);
    /// Forgets a context's objects.
    void destroy(Context& context);
};

template<typename T>
T* find(std::unordered_map<void*, std::unique_ptr<T>>& table, void* handle)
{
    const auto found = table.find(handle);
    return found == table.end() ? nullptr : found->second.get();
}

template<typename T>
void* keep(std::unordered_map<void*, std::unique_ptr<T>>& table, std::unique_ptr<T> object)
{
    void* const handle = object.get();
    table[handle] = std::move(object);
    return handle;
}

/// The context of this thread; null: none, or it is gone.
Context* currentContext();
void setCurrentContext(Context* context);

/// Runs an entry point with the lock held: after cuInit alone, with a context whose error is not sticky. Never throws.
int enter(const std::function<int(State&)>& body);
int enterContext(const std::function<int(State&, Context&)>& body);

/// The stream of a handle, in this context; null handles and 1 are the legacy default stream, 2 is that of this thread.
/// Null: there is none.
Stream* streamOf(State& state, Context& context, void* handle);

/// Does it now, or keeps it for the graph that the stream captures.
int perform(Stream& stream, Work work);

/// What a capture forbids: an entry point that would wait, or allocates. Invalidates the captures that forbid it.
int refusedByCapture(State& state);
/// What captures forbid this thread; gives the mode before.
CaptureMode exchangeCaptureMode(CaptureMode mode);
/// A capture in a stream that the legacy stream would have to wait for; null: there is none.
Capture* captureBeforeLegacy(const State& state, const Context& context);

/// Waits for ever in a context whose kernel hangs: called without the lock.
void waitIfHung(void* context);

struct LaunchSize
{
    ptx::Size3 grid, block;
    unsigned dynamicShared = 0;
};

/// Checks a launch against function and device, before anything runs.
int checkLaunch(const Function& function, const Device& device, const LaunchSize& size);
/// Runs it. A fault makes the context's error sticky; the launch itself succeeds, as it does on a device.
int runKernel(State& state, Function& function, const LaunchSize& size, const std::vector<uint8_t>& parameters,
              Stream& stream, bool inGraph);
int blocksPerMultiprocessor(const Function& function, const Device& device, unsigned threads, size_t dynamicShared);

} // namespace lathe::cuda_driver
