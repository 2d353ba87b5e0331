#pragma once

/// Runs a model description: the one executor of deploy libraries, by which whole networks are measured, too.

#include "core/runtime/devices.h"
#include "core/runtime/image.h"
#include "core/runtime/layout_transform.h"
#include "core/runtime/memory.h"
#include "core/runtime/pool.h"
#include "core/runtime/status.h"

namespace lathe::runtime {

/// What a library is made of. All of it must outlive the Model.
struct ModelSource
{
    const std::byte* description = nullptr;
    std::size_t descriptionBytes = 0;
    const std::byte* weights = nullptr; ///< 64-byte aligned
    std::size_t weightsBytes = 0;
    const LathePhase* phases = nullptr;
    std::size_t phaseCount = 0;
    // Of networks with kernels for devices beside the processor:
    const DeviceDriver* const* drivers = nullptr; ///< one for each kind
    std::size_t driverCount = 0;
    const std::byte* code = nullptr; ///< ContextRequest::code
    std::size_t codeBytes = 0;
    const char* deviceKey = nullptr; ///< ContextRequest::key
    void* deviceContext = nullptr; ///< ContextRequest::context, of the first device
};

/// A checked description with its weights; shared by instances, never changed after open().
class Model
{
public:
    Model() = default;
    ~Model();
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    /// @param copyWeights  into memory with 2 MiB pages advised; else they are read where they are. Only those that the
    ///                     description names are copied: a library's variants have others beside them.
    Status open(const ModelSource& source, bool copyWeights, ErrorText& error);

    const Image& image() const { return m_image; }
    /// Where the weights are that lie at `offset` of the library's section; a tensor's own offset.
    const std::byte* weightsAt(std::uint64_t offset) const;
    const LathePhase* phases() const { return m_phases; }
    const ModelDevices& devices() const { return m_devices; }

private:
    /// Weights that are used, without a gap.
    struct Stretch
    {
        std::uint64_t first = 0, end = 0; ///< in the library's section
        std::uint64_t place = 0; ///< in the copy
    };
    bool findStretches();

    Image m_image;
    Pages m_copy;
    Stretch* m_stretches = nullptr; ///< by their place in the section; of a copy
    std::uint64_t m_stretchCount = 0, m_stretchRoom = 0;
    const std::byte* m_weights = nullptr; ///< the section, or the copy
    const LathePhase* m_phases = nullptr;
    ModelDevices m_devices;
};

/// Calls body(context, part) for every part in [0, parts) and returns when all have returned.
using ParallelFor = void (*)(void* user, std::uint32_t parts, void (*body)(void* context, std::uint32_t part),
                             void* context);

struct ExecutorOptions
{
    PoolOptions pool;
    ParallelFor parallelFor = nullptr; ///< instead of a pool; pool.threads is then the number of parts
    void* parallelForUser = nullptr;
    void* deviceQueue = nullptr; ///< of the first device beside the processor: DeviceDriver::start()
};

struct Profile
{
    std::uint64_t calls = 0;
    std::uint64_t totalNs = 0;
    std::uint64_t minNs = 0;
};

/// Called on the running thread for each tensor that an instruction wrote; `data` is plain (row-major, dense) and lives
/// as long as the call.
using Observer = void (*)(void* user, std::uint32_t instruction, const ImageTensor& tensor, const void* data);

/// One network ready to run: its arena, scratch, bindings and threads. One caller at a time.
class Executor
{
public:
    /// Null with a reason; `model` must outlive it.
    static Executor* create(const Model& model, const ExecutorOptions& options, Status& status, ErrorText& error);
    static void destroy(Executor* executor);
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    const Model& model() const { return *m_model; }
    std::uint32_t parts() const { return m_parts; }
    const ErrorText& lastError() const { return m_error; }

    /// Buffers that start at a multiple of 64 bytes are used in place, others are copied at each run. A device that
    /// shares the processor's memory uses them in place as well, where it can: so they must live until another one is
    /// bound, or until destroy(), and nobody but the executor may touch them within a run.
    Status bindInput(std::uint32_t index, const void* data, std::size_t bytes);
    Status bindOutput(std::uint32_t index, void* data, std::size_t bytes);
    /// Memory on the first device beside the processor (DeviceDriver::adopt()) instead; a run is over when the device
    /// is done with it. From the second run with it on, launches use it in place where they can. InvalidArgument: the
    /// network runs on the processor alone.
    Status bindDeviceInput(std::uint32_t index, void* handle, std::size_t bytes);
    Status bindDeviceOutput(std::uint32_t index, void* handle, std::size_t bytes);
    /// What is bound of the processor's memory, else a buffer of the executor's own, bound by this call. Null: no such
    /// port, or no memory.
    void* inputBuffer(std::uint32_t index);
    void* outputBuffer(std::uint32_t index);

    /// InvalidArgument: an input is not bound, or an output's buffer overlaps another port's.
    Status run();
    /// As of the last run: where an extent depends on data, the true one. The buffer then holds the elements of that
    /// shape, dense, and what lies behind them means nothing. Before the first run: the most that it can be. `shape`
    /// has kMaxRank places. InvalidArgument: no such output.
    Status outputShape(std::uint32_t index, std::int64_t* shape);
    /// Instructions first .. last alone, on what earlier runs left in memory: for measuring `last` behind those before
    /// it. Of branches both run, and the body of a loop once. What they compute means nothing, and outputs that were
    /// bound to unaligned buffers are left alone. Profiling counts `last` alone, from the barrier before it to the
    /// barrier behind it.
    Status runChain(std::uint32_t first, std::uint32_t last);

    /// Whether a copy moved nothing in the last run: what it copies to or from lies where the device has it.
    bool isInPlace(std::uint32_t instruction) const;
    void setProfiling(bool on);
    const Profile& profile(std::uint32_t instruction) const { return m_profiles[instruction]; }
    void setObserver(Observer observer, void* user);

private:
    struct Port
    {
        std::byte* bound = nullptr; ///< the caller's, or own
        std::byte* used = nullptr; ///< what kernels see: bound, or staging if bound is not aligned
        std::size_t bytes = 0;
        std::int64_t shape[kMaxRank] = {}; ///< of an output, as of the last run
        Pages staging;
        DeviceMemory* device = nullptr; ///< the caller's, bound instead; `used` is then staging
        bool onHost = false; ///< an instruction of the processor, or a device behind the first, reads or writes it
        // Of those in whose place a tensor on the first device may lie (executor_ports.cpp):
        bool mayPlace = false;
        bool mayShare = false; ///< likewise, until it turns out that the device has memory of its own
        bool isSettled = false; ///< `shared` is for what is bound
        bool isKnown = false; ///< a run was with `device`
        bool isPlaced = false; ///< the tensor lies in `device`
        DeviceMemory* shared = nullptr; ///< where the device has it: around `bound`, or `own`
        DeviceMemory* own = nullptr; ///< for buffers that the device cannot use in place
        void* host = nullptr; ///< where `shared` is while it is mapped: at all times but within a run
        std::uint64_t moveNs = 0; ///< what the last copy between `bound` and `own` took
        /// Where a run has it on the device; null: in the processor's memory.
        DeviceMemory* there() const { return device != nullptr ? device : shared; }
    };
    struct Step; ///< what runs between two barriers
    struct LoopState;
    struct Exchange;
    struct Run;

    Executor() = default;
    ~Executor();
    Status prepare(const Model& model, const ExecutorOptions& options);
    Status prepareSteps();
    Status prepareRun();
    Status runSteps(Run& run);
    Status cutOutputs();
    Status bind(Storage storage, std::uint32_t index, std::byte* data, std::size_t bytes);
    Status portBuffer(Port* ports, std::uint64_t count, std::uint32_t index);
    void* ownBuffer(Port* ports, std::uint64_t count, std::uint32_t index);
    std::byte* pointerTo(const ImageTensor& tensor) const;
    Status refuseOverlaps();
    void refreshPointers();
    void resetShapes();
    std::int32_t runStep(Run& run, const Step& step, std::uint32_t part, std::uint32_t parts);
    std::int32_t runDeviceStep(Run& run, const Step& step);
    Status startOnDevice(const Step& step, std::uint32_t times, ErrorText& error);
    Status timeOnDevice(const Step& step, std::uint64_t& nanoseconds, ErrorText& error);
    Status carry(const Step& step, ErrorText& error);
    Status bindDevice(Storage storage, std::uint32_t index, void* handle, std::size_t bytes);
    Status finishDevices();
    void findHostPorts();
    void findSharedPorts();
    template<typename Visit>
    Status forEachShared(Visit visit);
    Status settle(Storage storage, std::uint64_t index, Port& port);
    Status settleDevice(Storage storage, std::uint64_t index, Port& port);
    void unshare(Storage storage, std::uint64_t index, Port& port);
    void takeDevice(Storage storage, std::uint64_t index, Port& port, DeviceMemory* memory);
    void unplace(Storage storage, std::uint64_t index, Port& port);
    void dropDevice(Storage storage, std::uint64_t index, Port& port);
    template<typename Visit>
    void forEachOverlap(Storage storage, std::uint64_t index, Visit visit);
    Status settlePorts();
    Status givePorts();
    Status takePorts(ErrorText& error);
    void releasePorts();
    const Port* portOfCarry(const Step& step) const;
    Status prepareExchange(std::uint32_t instruction);
    void exchange(std::uint32_t instruction) const;
    std::uint32_t decide(const Run& run, std::uint32_t stepIndex) const;
    static void poolTask(void* context, std::uint32_t part, std::uint32_t parts);
    static void partTask(void* context, std::uint32_t part);
    void runOnCaller(Run& run);
    void finishInstruction(Run& run, std::uint32_t instruction);
    bool isFilled(const ImageTensor& tensor) const;
    Status observe(std::uint32_t instruction);
    const ImageTensor& argument(const Step& step, std::uint32_t index) const;
    Status fail(Status status, const char* format, ...) __attribute__((format(printf, 3, 4)));

    const Model* m_model = nullptr;
    std::uint32_t m_parts = 1;
    Pool* m_pool = nullptr;
    ParallelFor m_parallelFor = nullptr;
    void* m_parallelForUser = nullptr;
    Pages m_arena, m_teamScratch, m_partScratch;
    std::size_t m_partScratchStride = 0;
    Port* m_inputs = nullptr;
    Port* m_outputs = nullptr;
    void** m_pointers = nullptr; ///< one per argument of the description
    LatheArgs* m_args = nullptr; ///< one per instruction
    LoopState* m_loops = nullptr; ///< one per instruction; of loops
    Exchange* m_exchanges = nullptr; ///< one per instruction; of swaps
    LayoutTransform* m_transforms = nullptr; ///< one per instruction; prepared for transforms
    Step* m_steps = nullptr;
    std::uint32_t m_stepCount = 0;
    std::uint32_t* m_firstSteps = nullptr; ///< one per instruction
    Profile* m_profiles = nullptr;
    bool m_profiling = false;
    bool m_stalePointers = true;
    Observer m_observer = nullptr;
    void* m_observerUser = nullptr;
    InstanceDevices m_devices;
    ErrorText m_deviceError; ///< of the step that failed
    ErrorText m_error;
};

} // namespace lathe::runtime
