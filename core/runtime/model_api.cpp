// The C interface of a deploy library. Linked into every one of them under the name "0", which no network can have; the
// linker gives each function its public name (lathe_NAME_run = lathe_0_run) and hides everything else. What it runs
// stands in sections and a table of phases that core/deploy adds.

#include "core/runtime/array.h"
#include "core/runtime/cpu_features.h"
#include "core/runtime/executor.h"
#include "core/runtime/lathe_model.h"

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

using namespace lathe;
using namespace lathe::runtime;

static_assert(LATHE_OK == static_cast<int>(Status::Ok)
              && LATHE_INVALID_ARGUMENT == static_cast<int>(Status::InvalidArgument)
              && LATHE_DAMAGED == static_cast<int>(Status::Damaged)
              && LATHE_NO_MEMORY == static_cast<int>(Status::NoMemory)
              && LATHE_KERNEL_FAILED == static_cast<int>(Status::KernelFailed)
              && LATHE_BUSY == static_cast<int>(Status::Busy));
static_assert(LATHE_BOOL == static_cast<int>(DType::Bool) && LATHE_FLOAT64 == static_cast<int>(DType::F64));

extern "C" {
extern const std::byte lathe_0_description[];
extern const std::byte lathe_0_description_end[];
extern const std::byte lathe_0_weights[];
extern const std::byte lathe_0_weights_end[];
extern const LathePhase lathe_0_phases[];
extern const std::uint64_t lathe_0_phase_count;
}

struct lathe_instance
{
    Executor* executor = nullptr;
    std::uint32_t variant = 0;
    std::atomic<pthread_t> user{}; ///< the thread that is in a call; zero: none is
    std::atomic<bool> refused = false; ///< the last call that failed was one that met another's
    lathe_observer observer = nullptr;
    void* observerUser = nullptr;
};

namespace {

/// A call on an instance, which no other thread may be in meanwhile. Those that a run's observer makes are in that run.
class Use
{
public:
    explicit Use(lathe_instance* instance)
        : m_instance(instance)
    {
        if (instance == nullptr)
            return;
        const pthread_t self = pthread_self();
        pthread_t other{};
        m_alone = instance->user.compare_exchange_strong(other, self, std::memory_order_acquire);
        m_within = !m_alone && other == self;
        if (!m_alone && !m_within)
            instance->refused.store(true, std::memory_order_relaxed);
    }
    ~Use()
    {
        if (m_alone)
            m_instance->user.store(pthread_t{}, std::memory_order_release);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    explicit operator bool() const { return m_alone || m_within; }
    /// Not even by this thread: for what cannot be done within a run.
    bool alone() const
    {
        if (m_within)
            m_instance->refused.store(true, std::memory_order_relaxed);
        return m_alone;
    }
    /// How the call went: if not well, last_error() is about it.
    std::int32_t ended(Status status) const
    {
        if (status != Status::Ok)
            m_instance->refused.store(false, std::memory_order_relaxed);
        return static_cast<std::int32_t>(status);
    }
    void* ended(void* buffer) const
    {
        ended(buffer != nullptr ? Status::Ok : Status::NoMemory);
        return buffer;
    }
    std::int32_t failure() const { return m_instance == nullptr ? LATHE_INVALID_ARGUMENT : LATHE_BUSY; }

private:
    lathe_instance* m_instance;
    bool m_alone = false, m_within = false;
};

constexpr std::size_t kMostOptions = 4096; ///< bytes; what claims to have more is no lathe_options
/// Where lathe_options ended in its first version.
constexpr std::size_t kFirstOptions = offsetof(lathe_options, keep_weights_mapped) + sizeof(std::uint32_t);

/// What the caller's version of the options says, with zeros for fields that it does not know.
bool readOptions(const lathe_options* given, lathe_options& options, ErrorText& error)
{
    options = lathe_options{};
    if (given == nullptr)
        return true;
    const std::size_t size = given->struct_size;
    bool more = size > kMostOptions;
    for (std::size_t i = sizeof options; i < size && !more; ++i)
        more = reinterpret_cast<const unsigned char*>(given)[i] != 0;
    if (size < kFirstOptions || more) {
        error.set("lathe_options.struct_size is %zu, %s", size,
                  more ? "and a field is set that this library does not know: it is older than the header"
                       : "less than the options had in their first version: set it to sizeof(lathe_options)");
        return false;
    }
    std::memcpy(&options, given, size < sizeof options ? size : sizeof options);
    return true;
}

/// A variant's weights and description are opened by its first instance and dropped with its last.
struct SharedModel
{
    std::uint32_t users = 0;
    Model* model = nullptr;
};
constinit SharedModel g_shared[kMostVariants];
constinit pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

/// Where the sections lie, read from memory: behind gigabytes of weights an offset of 32 bits would not reach them.
constinit const std::byte* const volatile g_sections[] = {lathe_0_description, lathe_0_description_end, lathe_0_weights,
                                                          lathe_0_weights_end};

/// The library as its index-th variant has it. False beyond the last one, and behind a damaged one.
bool source(std::uint32_t index, ModelSource& s)
{
    const std::byte* const first = g_sections[0];
    const auto bytes = static_cast<std::size_t>(g_sections[1] - first);
    std::size_t at = 0;
    std::uint64_t phase = 0;
    for (std::uint32_t i = 0; i < kMostVariants; ++i) {
        ImageHeader header;
        if (bytes - at < sizeof header)
            return false;
        std::memcpy(&header, first + at, sizeof header);
        const std::uint64_t phasesLeft = lathe_0_phase_count - phase;
        const std::uint64_t own = header.totalBytes < bytes - at ? header.totalBytes : bytes - at;
        const std::uint64_t next = at + (own + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
        const bool last = next >= bytes;
        if (i == index) {
            s.description = first + at;
            s.descriptionBytes = last ? bytes - at : own; // openImage() compares it with what the description says
            s.weights = g_sections[2];
            s.weightsBytes = static_cast<std::size_t>(g_sections[3] - g_sections[2]);
            s.phases = lathe_0_phases + phase;
            s.phaseCount = last || header.phaseCount > phasesLeft ? phasesLeft : header.phaseCount;
            return true;
        }
        if (last || header.phaseCount > phasesLeft)
            return false;
        at = next;
        phase += header.phaseCount;
    }
    return false;
}

bool openVariant(std::uint32_t index, Image& image, ErrorText& error)
{
    ModelSource s;
    if (!source(index, s)) {
        error.set("there is no variant %u", index);
        return false;
    }
    return openImage(s.description, s.descriptionBytes, image, error);
}

/// The target that a variant was made for; null beyond the last.
const char* nameOfVariant(std::uint32_t index)
{
    Image image;
    ErrorText error;
    return openVariant(index, image, error) ? image.string(image.header->target) : nullptr;
}

/// Whether this processor has what a variant's instructions need; else its first lines into `missing`.
bool runsHere(const Image& image, ErrorText& missing)
{
    std::size_t length = 0;
    missing.set("%s", "");
    for (std::uint64_t i = 0; i < image.header->features.count; ++i) {
        const char* const feature = image.string(image.features[i]);
        if (processorHas(feature))
            continue;
        const std::size_t room = sizeof missing.text - length;
        const int more = std::snprintf(missing.text + length, room, "%s%s", length > 0 ? ", " : "", feature);
        if (more < 0 || static_cast<std::size_t>(more) >= room)
            return false;
        length += static_cast<std::size_t>(more);
    }
    return length == 0;
}

/// The variant of that name, or the first that this processor runs, as the best stand first. False with one sentence.
bool chooseVariant(const char* wanted, std::uint32_t& chosen, ErrorText& error)
{
    Image image;
    ErrorText missing;
    std::uint32_t index = 0;
    for (const char* name = nullptr; (name = nameOfVariant(index)) != nullptr; ++index) {
        if (wanted != nullptr && std::strcmp(wanted, name) != 0)
            continue;
        if (!openVariant(index, image, error))
            return false;
        chosen = index;
        if (runsHere(image, missing))
            return true;
        // The last is the least demanding one.
        error.set("this processor lacks %.240s, which code for \"%.200s\" needs", missing.text, name);
        if (wanted != nullptr)
            return false;
    }
    if (index == 0) // then its description does not open
        return openVariant(0, image, error);
    if (wanted != nullptr)
        error.set("the library has no variant for \"%.200s\"; its first is for \"%.200s\"", wanted, nameOfVariant(0));
    return false;
}

const Model* acquireModel(std::uint32_t variant, bool copyWeights, ErrorText& error)
{
    pthread_mutex_lock(&g_lock);
    SharedModel& shared = g_shared[variant];
    if (shared.users == 0) {
        ModelSource s;
        shared.model = makeArray<Model>(1);
        if (shared.model == nullptr) {
            error.set("no memory for the model");
        } else if (!source(variant, s) || shared.model->open(s, copyWeights, error) != Status::Ok) {
            freeArray(shared.model, 1);
            shared.model = nullptr;
        }
    }
    const Model* const model = shared.model;
    shared.users += model != nullptr ? 1 : 0;
    pthread_mutex_unlock(&g_lock);
    return model;
}

void releaseModel(std::uint32_t variant)
{
    pthread_mutex_lock(&g_lock);
    SharedModel& shared = g_shared[variant];
    if (--shared.users == 0) {
        freeArray(shared.model, 1);
        shared.model = nullptr;
    }
    pthread_mutex_unlock(&g_lock);
}

void describe(const Image& image, const ImageTensor& tensor, const char* layout, lathe_tensor_info& info)
{
    const auto dtype = static_cast<DType>(tensor.dtype);
    info = lathe_tensor_info{};
    info.name = image.string(tensor.name);
    info.dtype_name = toString(dtype);
    info.layout = layout;
    info.dtype = static_cast<std::int32_t>(dtype);
    info.rank = tensor.logicalRank;
    std::int64_t count = 1;
    for (int d = 0; d < tensor.logicalRank; ++d) {
        info.shape[d] = tensor.shape[d];
        count *= tensor.shape[d];
    }
    info.bytes = static_cast<std::size_t>(count * sizeOf(dtype));
}

std::int32_t portInfo(bool input, std::uint32_t index, lathe_tensor_info* info)
{
    Image image;
    ErrorText error;
    if (!openVariant(0, image, error)) // all have the same inputs and outputs
        return LATHE_DAMAGED;
    if (info == nullptr || index >= (input ? image.header->inputs.count : image.header->outputs.count))
        return LATHE_INVALID_ARGUMENT;
    const ImagePort& port = (input ? image.inputs : image.outputs)[index];
    describe(image, image.tensors[port.tensor], image.string(port.layout), *info);
    return LATHE_OK;
}

void passOn(void* user, std::uint32_t instruction, const ImageTensor& tensor, const void* data)
{
    const lathe_instance& instance = *static_cast<const lathe_instance*>(user);
    const Image& image = instance.executor->model().image();
    lathe_tensor_info info;
    describe(image, tensor, "", info);
    instance.observer(instance.observerUser, instruction, image.string(image.instructions[instruction].name), &info,
                      data);
}

} // namespace

std::uint32_t lathe_0_api_version(void)
{
    return LATHE_MODEL_API_VERSION;
}

std::uint32_t lathe_0_input_count(void)
{
    Image image;
    ErrorText error;
    return openVariant(0, image, error) ? static_cast<std::uint32_t>(image.header->inputs.count) : 0;
}

std::uint32_t lathe_0_output_count(void)
{
    Image image;
    ErrorText error;
    return openVariant(0, image, error) ? static_cast<std::uint32_t>(image.header->outputs.count) : 0;
}

std::int32_t lathe_0_input_info(std::uint32_t index, lathe_tensor_info* info)
{
    return portInfo(true, index, info);
}

std::int32_t lathe_0_output_info(std::uint32_t index, lathe_tensor_info* info)
{
    return portInfo(false, index, info);
}

std::uint32_t lathe_0_output_dynamic_axes(std::uint32_t index)
{
    Image image;
    ErrorText error;
    std::uint32_t axes = 0;
    if (openVariant(0, image, error))
        for (std::uint64_t i = 0; i < image.header->extents.count; ++i)
            if (image.extents[i].output == index)
                axes |= std::uint32_t{1} << image.extents[i].axis;
    return axes;
}

std::uint32_t lathe_0_variant_count(void)
{
    std::uint32_t count = 0;
    while (nameOfVariant(count) != nullptr)
        ++count;
    return count;
}

const char* lathe_0_variant_target(std::uint32_t index)
{
    return nameOfVariant(index);
}

std::int32_t lathe_0_variant_runs_here(std::uint32_t index)
{
    Image image;
    ErrorText error;
    return openVariant(index, image, error) && runsHere(image, error) ? 1 : 0;
}

const char* lathe_0_variant(const lathe_instance* instance)
{
    return instance == nullptr
               ? nullptr
               : instance->executor->model().image().string(instance->executor->model().image().header->target);
}

lathe_instance* lathe_0_create(const lathe_options* options, char* error, std::size_t errorSize)
{
    ErrorText text;
    ExecutorOptions wanted;
    bool copyWeights = true;
    lathe_instance* instance = nullptr;
    lathe_options given;
    if (readOptions(options, given, text)) {
        wanted.pool.threads = given.threads;
        wanted.pool.pin = given.pin_threads != 0;
        if (given.idle_spin_us != 0)
            wanted.pool.idleSpinMicroseconds = given.idle_spin_us;
        wanted.parallelFor = given.parallel_for;
        wanted.parallelForUser = given.parallel_for_user;
        copyWeights = given.keep_weights_mapped == 0;
        std::uint32_t variant = 0;
        const Model* const model = chooseVariant(given.variant, variant, text)
                                       ? acquireModel(variant, copyWeights, text)
                                       : nullptr;
        if (model != nullptr) {
            instance = makeArray<lathe_instance>(1);
            if (instance == nullptr) {
                text.set("no memory for an instance");
            } else {
                Status status = Status::Ok;
                instance->variant = variant;
                instance->executor = Executor::create(*model, wanted, status, text);
            }
            if (instance == nullptr || instance->executor == nullptr) {
                freeArray(instance, 1);
                instance = nullptr;
                releaseModel(variant);
            }
        }
    }
    if (instance == nullptr && error != nullptr && errorSize > 0)
        std::snprintf(error, errorSize, "%s", text.text);
    return instance;
}

void lathe_0_destroy(lathe_instance* instance)
{
    if (instance == nullptr)
        return;
    const std::uint32_t variant = instance->variant;
    Executor::destroy(instance->executor);
    freeArray(instance, 1);
    releaseModel(variant);
}

std::int32_t lathe_0_bind_input(lathe_instance* instance, std::uint32_t index, const void* data, std::size_t bytes)
{
    const Use use(instance);
    return use.alone() ? use.ended(instance->executor->bindInput(index, data, bytes)) : use.failure();
}

std::int32_t lathe_0_bind_output(lathe_instance* instance, std::uint32_t index, void* data, std::size_t bytes)
{
    const Use use(instance);
    return use.alone() ? use.ended(instance->executor->bindOutput(index, data, bytes)) : use.failure();
}

void* lathe_0_input_buffer(lathe_instance* instance, std::uint32_t index)
{
    const Use use(instance);
    return use ? use.ended(instance->executor->inputBuffer(index)) : nullptr;
}

void* lathe_0_output_buffer(lathe_instance* instance, std::uint32_t index)
{
    const Use use(instance);
    return use ? use.ended(instance->executor->outputBuffer(index)) : nullptr;
}

std::int32_t lathe_0_run(lathe_instance* instance)
{
    const Use use(instance);
    return use.alone() ? use.ended(instance->executor->run()) : use.failure();
}

std::int32_t lathe_0_output_shape(lathe_instance* instance, std::uint32_t index, std::int64_t* shape)
{
    const Use use(instance);
    return use ? use.ended(instance->executor->outputShape(index, shape)) : use.failure();
}

std::int32_t lathe_0_run_chain(lathe_instance* instance, std::uint32_t first, std::uint32_t last)
{
    const Use use(instance);
    return use.alone() ? use.ended(instance->executor->runChain(first, last)) : use.failure();
}

const char* lathe_0_last_error(const lathe_instance* instance)
{
    if (instance == nullptr)
        return "there is no instance";
    return instance->refused.load(std::memory_order_relaxed)
               ? "the instance is in another call: each thread needs an instance of its own, and the observer of a run "
                 "may neither start another nor bind buffers"
               : instance->executor->lastError().text;
}

std::uint32_t lathe_0_threads(const lathe_instance* instance)
{
    return instance == nullptr ? 0 : instance->executor->parts();
}

void lathe_0_set_profiling(lathe_instance* instance, std::int32_t on)
{
    if (const Use use(instance); use)
        instance->executor->setProfiling(on != 0);
}

std::uint32_t lathe_0_profile_count(const lathe_instance* instance)
{
    return instance == nullptr
               ? 0
               : static_cast<std::uint32_t>(instance->executor->model().image().header->instructions.count);
}

std::int32_t lathe_0_profile_entry(const lathe_instance* instance, std::uint32_t index, lathe_profile_entry* entry)
{
    if (entry == nullptr || index >= lathe_0_profile_count(instance))
        return LATHE_INVALID_ARGUMENT;
    const Image& image = instance->executor->model().image();
    const Profile& profile = instance->executor->profile(index);
    *entry = lathe_profile_entry{image.string(image.instructions[index].name),
                                 kInstructionWords[image.instructions[index].kind], profile.calls, profile.totalNs,
                                 profile.minNs};
    return LATHE_OK;
}

void lathe_0_set_observer(lathe_instance* instance, lathe_observer observer, void* user)
{
    const Use use(instance);
    if (!use)
        return;
    instance->observer = observer;
    instance->observerUser = user;
    instance->executor->setObserver(observer != nullptr ? &passOn : nullptr, instance);
}
