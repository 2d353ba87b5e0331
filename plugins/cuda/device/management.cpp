#include "plugins/cuda/device/management.h"

#include "plugins/cuda/device/management_functions.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>

namespace lathe::cuda {
namespace {

template<typename Called>
bool take(void* library, const char* name, Called*& function)
{
    function = reinterpret_cast<Called*>(::dlsym(library, name));
    return function != nullptr;
}

} // namespace

struct Management::Library : ManagementFunctions
{
    ManagedDevice device = nullptr;
    ManagedEvents events = nullptr; ///< null: the device has none
    std::string uuid;
    std::string trouble;
    std::optional<unsigned long long> errorsBefore; ///< of memory, that were not corrected; as soon as that is known

    std::optional<unsigned long long> uncorrectedErrors() const
    {
        unsigned long long count = 0;
        if (memoryErrors == nullptr || memoryErrors(device, kUncorrected, kSinceStart, &count) != 0)
            return std::nullopt;
        return count;
    }
};

std::unique_ptr<Management> Management::open(const std::string& uuid)
{
    const char* const named = std::getenv("LATHE_CUDA_MANAGEMENT");
    const char* const name = named != nullptr && named[0] != '\0' ? named : "libnvidia-ml.so.1";
    void* const file = uuid.empty() ? nullptr : ::dlopen(name, RTLD_NOW | RTLD_LOCAL); // stays open
    auto library = std::make_unique<Library>();
    if (file == nullptr || !take(file, "nvmlInit_v2", library->init)
        || !take(file, "nvmlDeviceGetHandleByUUID", library->deviceByUuid) || library->init() != 0)
        return nullptr;
    // The driver's interface tells no name of the kind: a MIG instance has another one than a whole GPU.
    const std::string number = uuid.substr(uuid.find('-') + 1);
    for (const char* const kind : {"GPU-", "MIG-"})
        if (const std::string full = kind + number;
            library->uuid.empty() && library->deviceByUuid(full.c_str(), &library->device) == 0)
            library->uuid = full;
    if (library->uuid.empty())
        return nullptr;
    take(file, "nvmlDeviceGetClockInfo", library->clock);
    take(file, "nvmlDeviceGetTemperature", library->temperature);
    take(file, "nvmlDeviceGetPowerUsage", library->power);
    if (!take(file, "nvmlDeviceGetCurrentClocksEventReasons", library->slowedBy))
        take(file, "nvmlDeviceGetCurrentClocksThrottleReasons", library->slowedBy);
    take(file, "nvmlDeviceGetTotalEccErrors", library->memoryErrors);
    take(file, "nvmlDeviceGetRemappedRows", library->remappedRows);
    library->errorsBefore = library->uncorrectedErrors();
    if (take(file, "nvmlEventSetCreate", library->eventSetCreate)
        && take(file, "nvmlEventSetFree", library->eventSetFree)
        && take(file, "nvmlDeviceRegisterEvents", library->registerEvents)
        && take(file, "nvmlEventSetWait_v2", library->eventSetWait) && library->eventSetCreate(&library->events) == 0
        && library->registerEvents(library->device, kXidEvent, library->events) != 0) {
        library->eventSetFree(library->events);
        library->events = nullptr;
    }
    std::unique_ptr<Management> management(new Management);
    management->m_library = std::move(library);
    return management;
}

Management::~Management()
{
    if (m_library != nullptr && m_library->events != nullptr)
        m_library->eventSetFree(m_library->events);
}

const std::string& Management::uuid() const
{
    return m_library->uuid;
}

Management::State Management::state() const
{
    const Library& l = *m_library;
    State state;
    unsigned value = 0;
    if (l.clock != nullptr && l.clock(l.device, kClockOfProcessors, &value) == 0)
        state.clockMhz = value;
    if (l.clock != nullptr && l.clock(l.device, kClockOfMemory, &value) == 0)
        state.memoryClockMhz = value;
    if (l.temperature != nullptr && l.temperature(l.device, kTemperatureOfGpu, &value) == 0)
        state.temperature = value;
    if (l.power != nullptr && l.power(l.device, &value) == 0)
        state.watts = 1e-3 * value;
    unsigned long long reasons = 0;
    if (l.slowedBy != nullptr && l.slowedBy(l.device, &reasons) == 0)
        state.slowedBy = reasons & ~kIdle;
    return state;
}

std::string Management::trouble()
{
    Library& l = *m_library;
    constexpr int kMostMessages = 64; // at a time
    for (int i = 0; l.events != nullptr && l.trouble.empty() && i < kMostMessages; ++i) {
        ManagedEvent data = {};
        if (l.eventSetWait(l.events, &data, 0) != 0)
            break;
        if ((data.type & kXidEvent) != 0 && isOfHardware(data.number))
            l.trouble = "the GPU's hardware is in trouble: its driver reported Xid " + std::to_string(data.number);
    }
    const std::optional<unsigned long long> errors = l.uncorrectedErrors();
    if (!l.errorsBefore)
        l.errorsBefore = errors;
    if (l.trouble.empty() && errors && *errors > *l.errorsBefore)
        l.trouble = "the GPU's memory has had errors that could not be corrected (ECC) since the device was opened: "
                    + std::to_string(*errors - *l.errorsBefore);
    unsigned corrected = 0, uncorrected = 0, isPending = 0, hasFailed = 0;
    if (l.trouble.empty() && l.remappedRows != nullptr
        && l.remappedRows(l.device, &corrected, &uncorrected, &isPending, &hasFailed) == 0 && hasFailed != 0)
        l.trouble = "the GPU's memory has rows that cannot be replaced: it is worn out";
    return l.trouble;
}

bool isOfHardware(std::uint64_t xid)
{
    // 13, 31, 43, 45 and others come of what a kernel does. Of memory: 48, 64, 95; of the chip and its controllers: 61,
    // 62, 79, 119, 120, 140; of the links: 74. Not 63 (a row or page that failed was replaced), 92 (many errors, all
    // corrected) and 94 (one that stays with the process that it hit, which is told so: kContained).
    constexpr std::uint64_t kOfHardware[] = {48, 61, 62, 64, 74, 79, 95, 119, 120, 140};
    return std::find(std::begin(kOfHardware), std::end(kOfHardware), xid) != std::end(kOfHardware);
}

} // namespace lathe::cuda
