#include "plugins/opencl/device/device_list.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace lathe::opencl {
namespace {

using nlohmann::json;

constexpr cl_device_info kPreferredGroupMultiple = 0x1067; // of OpenCL 3.0

/// Without blanks at the ends, which some drivers leave.
std::string trimmed(std::string text)
{
    while (!text.empty() && (text.back() == '\0' || text.back() == ' '))
        text.pop_back();
    return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

std::string textOf(const Driver& driver, cl_device_id device, cl_device_info what)
{
    std::size_t bytes = 0;
    if (driver.getDeviceInfo(device, what, 0, nullptr, &bytes) != CL_SUCCESS)
        return {};
    std::string text(bytes, '\0');
    if (driver.getDeviceInfo(device, what, bytes, text.data(), nullptr) != CL_SUCCESS)
        return {};
    return trimmed(std::move(text));
}

template<typename Value>
Value valueOf(const Driver& driver, cl_device_id device, cl_device_info what)
{
    Value value = {};
    return driver.getDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : Value{};
}

DeviceFacts factsOf(const Driver& driver, cl_platform_id platform, cl_device_id id)
{
    DeviceFacts facts;
    facts.platform = platform;
    facts.id = id;
    facts.name = textOf(driver, id, CL_DEVICE_NAME);
    facts.version = textOf(driver, id, CL_DEVICE_VERSION);
    facts.driver = textOf(driver, id, CL_DRIVER_VERSION);
    std::size_t bytes = 0;
    if (driver.getPlatformInfo(platform, CL_PLATFORM_NAME, 0, nullptr, &bytes) == CL_SUCCESS) {
        std::string text(bytes, '\0');
        driver.getPlatformInfo(platform, CL_PLATFORM_NAME, bytes, text.data(), nullptr);
        facts.platformName = trimmed(std::move(text));
    }
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
    if (!facts.isProcessor)
        facts.subgroup = valueOf<std::size_t>(driver, id, kPreferredGroupMultiple);
    facts.mostThreads = valueOf<std::size_t>(driver, id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    if (valueOf<cl_uint>(driver, id, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS) == 3)
        facts.mostAlong = valueOf<std::array<std::size_t, 3>>(driver, id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
    else
        facts.mostAlong = {facts.mostThreads, facts.mostThreads, facts.mostThreads};
    return facts;
}

json hardwareOf(const DeviceFacts& facts)
{
    json hardware = json::object();
    const auto put = [&hardware](const char* name, std::uint64_t value) {
        if (value > 0)
            hardware[name] = {{"value", value}, {"origin", "OpenCL driver"}};
    };
    put("num_cores", facts.units);
    put("clock_mhz", facts.clockMhz);
    put("global_memory_bytes", facts.memoryBytes);
    put("max_buffer_bytes", facts.largestBuffer);
    put("max_shared_memory_per_block", facts.localBytes);
    put("max_threads_per_block", facts.mostThreads);
    put("cache_line_bytes", facts.cacheLineBytes);
    put("warp_size", facts.subgroup);
    return hardware;
}

} // namespace

std::string DeviceFacts::identity() const
{
    return platformName + " | " + name + " | " + version + " | " + driver;
}

std::vector<DeviceFacts> listDevices(const Driver& driver, std::string& problem)
{
    problem =
        "no OpenCL device was found: install the OpenCL driver of its maker, or pocl-opencl-icd for the processor";
    std::vector<DeviceFacts> devices;
    cl_uint count = 0;
    if (driver.getPlatformIds(0, nullptr, &count) != CL_SUCCESS || count == 0)
        return devices;
    std::vector<cl_platform_id> platforms(count);
    if (driver.getPlatformIds(count, platforms.data(), nullptr) != CL_SUCCESS)
        return devices;
    for (cl_platform_id platform : platforms) {
        cl_uint found = 0;
        if (driver.getDeviceIds(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &found) != CL_SUCCESS || found == 0)
            continue;
        std::vector<cl_device_id> ids(found);
        if (driver.getDeviceIds(platform, CL_DEVICE_TYPE_ALL, found, ids.data(), nullptr) != CL_SUCCESS)
            continue;
        for (cl_device_id id : ids) {
            devices.push_back(factsOf(driver, platform, id));
            devices.back().key = "cl" + std::to_string(devices.size() - 1);
        }
    }
    if (!devices.empty())
        problem.clear();
    return devices;
}

std::string devicesText()
{
    std::string problem;
    json list = json::array();
    if (const Driver* const driver = findDriver(problem))
        for (const DeviceFacts& facts : listDevices(*driver, problem))
            list.push_back({{"key", facts.key},
                            {"name", facts.name},
                            {"platform", facts.platformName},
                            {"version", facts.version},
                            {"driver", facts.driver},
                            {"shares_cores", facts.isProcessor},
                            {"hardware", hardwareOf(facts)}});
    if (!problem.empty())
        list.push_back({{"name", "OpenCL devices"}, {"error", problem}});
    return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace lathe::opencl
