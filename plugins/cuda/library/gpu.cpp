#include "plugins/cuda/library/gpu.h"

#include "core/runtime/array.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lathe::cuda {

using runtime::ErrorText;

namespace {

/// A device's key, or a part of its name. Whoever uses a program that others made picks its device by this.
constexpr const char* kChoice = "LATHE_CUDA_DEVICE";

Gpu read(const Driver& driver, DeviceNumber number, int ordinal)
{
    Gpu gpu;
    gpu.number = number;
    std::snprintf(gpu.key, sizeof gpu.key, "cuda%d", ordinal);
    if (driver.deviceGetName(gpu.name, sizeof gpu.name - 1, number) != kSuccess)
        std::snprintf(gpu.name, sizeof gpu.name, "a GPU without a name");
    gpu.capability = static_cast<int>(10 * attributeOf(driver, number, kCapabilityMajor)
                                      + attributeOf(driver, number, kCapabilityMinor));
    gpu.isIntegrated = attributeOf(driver, number, kIsIntegrated) != 0
                       && attributeOf(driver, number, kMapsHostMemory) != 0
                       && driver.memHostGetDevicePointer != nullptr;
    gpu.limits = readLaunchLimits(driver, number);
    return gpu;
}

/// Of "cuda -arch=sm_90 -host=..."; 0: the target names none.
int capabilityIn(const char* target)
{
    constexpr const char* kWord = "-arch=sm_";
    const char* at = std::strstr(target, kWord);
    int capability = 0;
    for (at = at != nullptr ? at + std::strlen(kWord) : ""; *at >= '0' && *at <= '9' && capability < 1000; ++at)
        capability = 10 * capability + (*at - '0');
    return capability;
}

/// Machine code runs on its own generation, and the text beside it is compiled for later ones: for none before.
bool runs(const Gpu& gpu, const char* target)
{
    return gpu.capability >= capabilityIn(target);
}

/// Null with a sentence, if it does not run the code.
const Gpu* checked(const Gpu* gpu, const char* target, ErrorText& error)
{
    if (gpu == nullptr || runs(*gpu, target))
        return gpu;
    error.set("the code is for sm_%d and later, and %s (%.150s) is of sm_%d", capabilityIn(target), gpu->key, gpu->name,
              gpu->capability);
    return nullptr;
}

} // namespace

Gpus::~Gpus()
{
    runtime::freeArray(m_gpus, m_count);
}

const Driver* Gpus::list(ErrorText& error)
{
    const char* problem = "";
    const Driver* const driver = openDriver(problem);
    if (driver == nullptr) {
        error.set("%s", problem);
        return nullptr;
    }
    int count = 0;
    if (const int code = driver->deviceGetCount(&count); code != kSuccess) {
        error.set("the NVIDIA driver lists no devices: %s", errorName(*driver, code).text);
        return nullptr;
    }
    const auto most = static_cast<std::size_t>(count > 0 ? count : 0);
    m_gpus = runtime::makeArray<Gpu>(most);
    for (int ordinal = 0; m_gpus != nullptr && ordinal < count; ++ordinal) {
        DeviceNumber number = 0;
        if (driver->deviceGet(&number, ordinal) == kSuccess)
            m_gpus[m_count++] = read(*driver, number, ordinal);
    }
    if (m_count > 0)
        return driver;
    error.set("the NVIDIA driver finds no GPU (CUDA_VISIBLE_DEVICES hides those that it does not name)");
    return nullptr;
}

const Gpu* Gpus::byKey(const char* key) const
{
    for (std::size_t g = 0; g < m_count; ++g)
        if (std::strcmp(m_gpus[g].key, key) == 0)
            return m_gpus + g;
    return nullptr;
}

const Gpu* Gpus::byName(const char* part) const
{
    for (std::size_t g = 0; g < m_count; ++g)
        if (::strcasestr(m_gpus[g].name, part) != nullptr)
            return m_gpus + g;
    return nullptr;
}

/// "cuda0 (NVIDIA H100), cuda1 (NVIDIA L4)", cut.
void Gpus::listKeys(char (&text)[256]) const
{
    std::size_t length = 0;
    for (std::size_t g = 0; g < m_count && length + 1 < sizeof text; ++g) {
        const int more = std::snprintf(text + length, sizeof text - length, "%s%s (%.48s)", length > 0 ? ", " : "",
                                       m_gpus[g].key, m_gpus[g].name);
        length += more > 0 ? static_cast<std::size_t>(more) : 0;
    }
}

const Gpu* Gpus::choose(const char* key, const char* target, ErrorText& error) const
{
    char keys[256] = "";
    listKeys(keys);
    if (key != nullptr) {
        const Gpu* const found = byKey(key);
        if (found == nullptr)
            error.set("no NVIDIA GPU has the key %.64s; there are %s", key, keys);
        return checked(found, target, error);
    }
    if (const char* const wanted = ::secure_getenv(kChoice); wanted != nullptr && wanted[0] != '\0') {
        const Gpu* const keyed = byKey(wanted);
        const Gpu* const found = keyed != nullptr ? keyed : byName(wanted);
        if (found == nullptr)
            error.set("%s is \"%.100s\", which is neither the key nor a part of the name of an NVIDIA GPU; there are "
                      "%s",
                      kChoice, wanted, keys);
        return checked(found, target, error);
    }
    for (std::size_t g = 0; g < m_count; ++g)
        if (runs(m_gpus[g], target))
            return m_gpus + g;
    return checked(m_gpus, target, error);
}

const Gpu* Gpus::chooseNumber(DeviceNumber number, const char* key, const char* target, ErrorText& error) const
{
    for (std::size_t g = 0; g < m_count; ++g) {
        const Gpu& gpu = m_gpus[g];
        if (gpu.number != number)
            continue;
        if (key == nullptr || std::strcmp(gpu.key, key) == 0)
            return checked(&gpu, target, error);
        error.set("the caller's CUDA context is on %s (%.150s), not on %.64s", gpu.key, gpu.name, key);
        return nullptr;
    }
    error.set("the caller's CUDA context is on no device that the driver lists");
    return nullptr;
}

} // namespace lathe::cuda
