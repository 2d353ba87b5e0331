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
extern const DeviceDriver* const lathe_0_drivers[];
extern const std::uint64_t lathe_0_driver_count;
extern const std::byte lathe_0_code[];
extern const std::byte lathe_0_code_end[];
}

namespace {
struct SharedModel;
}

struct lathe_instance
{
    Executor* executor = nullptr;
    SharedModel* model = nullptr;
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

/// A variant's weights and description on one device are opened by their first instance and dropped with their last.
struct SharedModel
{
    std::uint32_t users = 0;
    std::uint32_t variant = 0;
    char device[64] = {}; ///< lathe_options::device
    void* context = nullptr; ///< lathe_options::device_context
    Model model;
    SharedModel* next = nullptr;
};
constinit SharedModel* g_shared = nullptr;
constinit pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

/// Where the sections lie, read from memory: behind gigabytes of weights an offset of 32 bits would not reach them.
constinit const std::byte* const volatile g_sections[] = {
    lathe_0_description, lathe_0_description_end, lathe_0_weights, lathe_0_weights_end, lathe_0_code, lathe_0_code_end};

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
            s.code = g_sections[4];
            s.codeBytes = static_cast<std::size_t>(g_sections[5] - g_sections[4]);
            s.drivers = lathe_0_drivers;
            s.driverCount = lathe_0_driver_count;
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

/// Whether this processor has what a variant's instructions need, and a device is here for each that it needs; else in
/// `missing` a sentence why not.
bool runsHere(const Image& image, ErrorText& missing)
{
    const char* const target = image.string(image.header->target);
    ErrorText list;
    std::size_t length = 0;
    for (std::uint64_t i = 0; i < image.header->features.count; ++i) {
        const char* const feature = image.string(image.features[i]);
        if (processorHas(feature))
            continue;
        const std::size_t room = sizeof list.text - length;
        const int more = std::snprintf(list.text + length, room, "%s%s", length > 0 ? ", " : "", feature);
        if (more < 0 || static_cast<std::size_t>(more) >= room)
            break;
        length += static_cast<std::size_t>(more);
    }
    if (length > 0) {
        missing.set("this processor lacks %.240s, which code for \"%.200s\" needs", list.text, target);
        return false;
    }
    for (std::uint64_t i = 0; i < image.header->devices.count; ++i) {
        const char* const wanted = image.string(image.devices[i].target);
        ModelSource drivers;
        drivers.drivers = lathe_0_drivers;
        drivers.driverCount = lathe_0_driver_count;
        const DeviceDriver* const driver = findDriver(drivers, wanted);
        if (driver == nullptr)
            list.set("the library has no driver for it");
        if (driver != nullptr && driver->isHere(wanted, list))
            continue;
        missing.set("no device for \"%.200s\" is here: %.240s", wanted, list.text);
        return false;
    }
    return true;
}

/// The variant of that name, or the first that this processor runs, as the best stand first. False with one sentence.
bool chooseVariant(const char* wanted, std::uint32_t& chosen, ErrorText& error)
{
    Image image;
    std::uint32_t index = 0;
    for (const char* name = nullptr; (name = nameOfVariant(index)) != nullptr; ++index) {
        if (wanted != nullptr && std::strcmp(wanted, name) != 0)
            continue;
        if (!openVariant(index, image, error))
            return false;
        chosen = index;
        if (runsHere(image, error)) // the last is the least demanding one: its sentence stays
            return true;
        if (wanted != nullptr)
            return false;
    }
    if (index == 0) // then its description does not open
        return openVariant(0, image, error);
    if (wanted != nullptr)
        error.set("the library has no variant for \"%.200s\"; its first is for \"%.200s\"", wanted, nameOfVariant(0));
    return false;
}

bool isSame(const SharedModel& shared, std::uint32_t variant, const lathe_options& options)
{
    return shared.variant == variant && shared.context == options.device_context
           && std::strcmp(shared.device, options.device != nullptr ? options.device : "") == 0;
}

SharedModel* openModel(std::uint32_t variant, const lathe_options& options, ErrorText& error)
{
    SharedModel* const shared = makeArray<SharedModel>(1);
    if (shared == nullptr) {
        error.set("no memory for the model");
        return nullptr;
    }
    const char* const device = options.device != nullptr ? options.device : "";
    ModelSource s;
    bool opened = std::strlen(device) < sizeof shared->device;
    if (!opened)
        error.set("lathe_options.device is no key of a device: it has more than %zu characters",
                  sizeof shared->device - 1);
    opened = opened && source(variant, s);
    if (opened) {
        std::strcpy(shared->device, device);
        shared->variant = variant;
        shared->context = options.device_context;
        s.deviceKey = options.device;
        s.deviceContext = options.device_context;
        opened = shared->model.open(s, options.keep_weights_mapped == 0, error) == Status::Ok;
    }
    if (opened)
        return shared;
    freeArray(shared, 1);
    return nullptr;
}

SharedModel* acquireModel(std::uint32_t variant, const lathe_options& options, ErrorText& error)
{
    pthread_mutex_lock(&g_lock);
    SharedModel* shared = g_shared;
    while (shared != nullptr && !isSame(*shared, variant, options))
        shared = shared->next;
    if (shared == nullptr) {
        shared = openModel(variant, options, error);
        if (shared != nullptr) {
            shared->next = g_shared;
            g_shared = shared;
        }
    }
    if (shared != nullptr)
        ++shared->users;
    pthread_mutex_unlock(&g_lock);
    return shared;
}

void releaseModel(SharedModel* shared)
{
    pthread_mutex_lock(&g_lock);
    if (--shared->users == 0) {
        SharedModel** place = &g_shared;
        while (*place != shared)
            place = &(*place)->next;
        *place = shared->next;
        freeArray(shared, 1);
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
    lathe_instance* instance = nullptr;
    lathe_options given;
    if (readOptions(options, given, text)) {
        ExecutorOptions wanted;
        wanted.pool.threads = given.threads;
        wanted.pool.pin = given.pin_threads != 0;
        if (given.idle_spin_us != 0)
            wanted.pool.idleSpinMicroseconds = given.idle_spin_us;
        wanted.parallelFor = given.parallel_for;
        wanted.parallelForUser = given.parallel_for_user;
        wanted.deviceQueue = given.device_queue;
        std::uint32_t variant = 0;
        SharedModel* const shared = chooseVariant(given.variant, variant, text) ? acquireModel(variant, given, text)
                                                                                : nullptr;
        if (shared != nullptr) {
            instance = makeArray<lathe_instance>(1);
            if (instance == nullptr) {
                text.set("no memory for an instance");
            } else {
                Status status = Status::Ok;
                instance->model = shared;
                instance->executor = Executor::create(shared->model, wanted, status, text);
            }
            if (instance == nullptr || instance->executor == nullptr) {
                freeArray(instance, 1);
                instance = nullptr;
                releaseModel(shared);
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
    SharedModel* const shared = instance->model;
    Executor::destroy(instance->executor);
    freeArray(instance, 1);
    releaseModel(shared);
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

std::int32_t lathe_0_bind_device_input(lathe_instance* instance, std::uint32_t index, void* memory, std::size_t bytes)
{
    const Use use(instance);
    return use.alone() ? use.ended(instance->executor->bindDeviceInput(index, memory, bytes)) : use.failure();
}

std::int32_t lathe_0_bind_device_output(lathe_instance* instance, std::uint32_t index, void* memory, std::size_t bytes)
{
    const Use use(instance);
    return use.alone() ? use.ended(instance->executor->bindDeviceOutput(index, memory, bytes)) : use.failure();
}

const char* lathe_0_device(const lathe_instance* instance)
{
    if (instance == nullptr || instance->executor->model().devices().count() == 0)
        return "";
    const ModelDevices& devices = instance->executor->model().devices();
    return devices.driver(1).name(devices.context(1));
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
    const char* const kind = instance->executor->isInPlace(index) ? "map"
                                                                  : kInstructionWords[image.instructions[index].kind];
    *entry = lathe_profile_entry{image.string(image.instructions[index].name), kind, profile.calls, profile.totalNs,
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
