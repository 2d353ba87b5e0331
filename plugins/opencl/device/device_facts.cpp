#include "plugins/opencl/device/device_facts.h"

#include "core/runtime/array.h"
#include "plugins/opencl/device/subgroups.h"

#include <cstdio>
#include <cstring>

namespace lathe::opencl {
namespace {

constexpr cl_device_info kPreferredGroupMultiple = 0x1067; // of OpenCL 3.0
// Of the extension cl_nv_device_attribute_query; other drivers refuse them.
constexpr cl_device_info kCapabilityMajor = 0x4000, kCapabilityMinor = 0x4001, kWarpSize = 0x4003;

/// As much as fits, without the blanks at the ends, which some drivers leave.
template<std::size_t N, typename Get>
void readText(char (&text)[N], Get get)
{
    text[0] = '\0';
    std::size_t bytes = 0;
    if (get(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0)
        return;
    char* const whole = runtime::makeArray<char>(bytes + 1);
    if (whole == nullptr)
        return;
    if (get(bytes, whole, nullptr) == CL_SUCCESS) {
        const char* begin = whole;
        while (*begin == ' ')
            ++begin;
        std::size_t length = std::strlen(begin);
        while (length > 0 && begin[length - 1] == ' ')
            --length;
        std::snprintf(text, N, "%.*s", static_cast<int>(length < N ? length : N - 1), begin);
    }
    runtime::freeArray(whole, bytes + 1);
}

template<typename Value>
Value valueOf(const Driver& driver, cl_device_id device, cl_device_info what)
{
    Value value = {};
    return driver.getDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
}

} // namespace

DeviceFacts readFacts(const Driver& driver, cl_platform_id platform, cl_device_id id)
{
    DeviceFacts facts;
    facts.platform = platform;
    facts.id = id;
    const auto ofDevice = [&](cl_device_info what) {
        return [&driver, id, what](std::size_t bytes, void* text, std::size_t* needed) {
            return driver.getDeviceInfo(id, what, bytes, text, needed);
        };
    };
    readText(facts.name, ofDevice(CL_DEVICE_NAME));
    readText(facts.version, ofDevice(CL_DEVICE_VERSION));
    readText(facts.driver, ofDevice(CL_DRIVER_VERSION));
    readText(facts.platformName, [&](std::size_t bytes, void* text, std::size_t* needed) {
        return driver.getPlatformInfo(platform, CL_PLATFORM_NAME, bytes, text, needed);
    });
    std::snprintf(facts.identity, sizeof facts.identity, "%s | %s | %s | %s", facts.platformName, facts.name,
                  facts.version, facts.driver);
    facts.isProcessor = (valueOf<cl_device_type>(driver, id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
    facts.hasCompiler = valueOf<cl_bool>(driver, id, CL_DEVICE_COMPILER_AVAILABLE) != CL_FALSE;
    facts.sharesMemory = valueOf<cl_bool>(driver, id, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
    facts.units = valueOf<cl_uint>(driver, id, CL_DEVICE_MAX_COMPUTE_UNITS);
    // A processor's reported clock may be its current one, and the device's fingerprint would change with it.
    if (!facts.isProcessor)
        facts.clockMhz = valueOf<cl_uint>(driver, id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    facts.memoryBytes = valueOf<cl_ulong>(driver, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    facts.largestBuffer = valueOf<cl_ulong>(driver, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    facts.localBytes = valueOf<cl_ulong>(driver, id, CL_DEVICE_LOCAL_MEM_SIZE);
    facts.cacheLineBytes = valueOf<cl_uint>(driver, id, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE);
    if (!facts.isProcessor) {
        facts.subgroup = valueOf<std::size_t>(driver, id, kPreferredGroupMultiple);
        if (facts.subgroup == 0)
            facts.subgroup = valueOf<cl_uint>(driver, id, kWarpSize);
        facts.capability = 10 * valueOf<cl_uint>(driver, id, kCapabilityMajor)
                           + valueOf<cl_uint>(driver, id, kCapabilityMinor);
    } else {
        facts.simdWidth = valueOf<cl_uint>(driver, id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    }
    facts.shuffleWidth = readSubgroupWidths(driver, id).best();
    facts.mostThreads = valueOf<std::size_t>(driver, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    for (std::size_t& most : facts.mostAlong)
        most = facts.mostThreads;
    if (valueOf<cl_uint>(driver, id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) == 3)
        driver.getDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof facts.mostAlong, facts.mostAlong, nullptr);
    return facts;
}

DeviceFacts* readDevices(const Driver& driver, std::size_t& count)
{
    constexpr cl_uint kMostPlatforms = 64, kMostDevices = 64; // of a platform; beyond that devices have no key
    count = 0;
    cl_platform_id platforms[kMostPlatforms];
    cl_uint platformCount = 0;
    if (driver.getPlatformIds(kMostPlatforms, platforms, &platformCount) != CL_SUCCESS)
        return nullptr;
    if (platformCount > kMostPlatforms)
        platformCount = kMostPlatforms;
    DeviceFacts* devices = nullptr;
    for (cl_uint p = 0; p < platformCount; ++p) {
        cl_device_id ids[kMostDevices];
        cl_uint found = 0;
        if (driver.getDeviceIds(platforms[p], CL_DEVICE_TYPE_ALL, kMostDevices, ids, &found) != CL_SUCCESS
            || found == 0)
            continue;
        if (found > kMostDevices)
            found = kMostDevices;
        DeviceFacts* const more = runtime::makeArray<DeviceFacts>(count + found);
        if (more == nullptr)
            break;
        for (std::size_t d = 0; d < count; ++d)
            more[d] = devices[d];
        runtime::freeArray(devices, count);
        devices = more;
        for (cl_uint d = 0; d < found; ++d, ++count)
            devices[count] = readFacts(driver, platforms[p], ids[d]);
    }
    // The processor has code of its own: it comes behind the others, else in their order.
    std::size_t others = 0;
    for (std::size_t d = 0; d < count; ++d) {
        if (devices[d].isProcessor)
            continue;
        const DeviceFacts other = devices[d];
        for (std::size_t place = d; place > others; --place)
            devices[place] = devices[place - 1];
        devices[others++] = other;
    }
    for (std::size_t d = 0; d < count; ++d)
        std::snprintf(devices[d].key, sizeof devices[d].key, "cl%zu", d);
    return devices;
}

bool canStart(const DeviceFacts& device, const char* kernel, const std::size_t (&block)[3], std::uint64_t localBytes,
              runtime::ErrorText& problem)
{
    std::uint64_t threads = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        if (__builtin_mul_overflow(threads, static_cast<std::uint64_t>(block[d]), &threads))
            threads = UINT64_MAX;
        if (block[d] > device.mostAlong[d]) {
            problem.set("a work-group of kernel %.200s has %zu threads along axis %zu; this device starts at most %zu",
                        kernel, block[d], d, device.mostAlong[d]);
            return false;
        }
    }
    if (threads > device.mostThreads) {
        problem.set("a work-group of kernel %.200s has %llu threads; this device starts at most %zu", kernel,
                    static_cast<unsigned long long>(threads), device.mostThreads);
        return false;
    }
    if (localBytes > device.localBytes) {
        problem.set("a work-group of kernel %.200s needs %llu bytes of local memory; this device has %llu", kernel,
                    static_cast<unsigned long long>(localBytes), static_cast<unsigned long long>(device.localBytes));
        return false;
    }
    return true;
}

} // namespace lathe::opencl
