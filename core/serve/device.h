#pragma once

#include "core/runtime/device_abi.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::serve {

/// A loaded device half, checked for its ABI version. Stays loaded to the end of the process: drivers rarely survive
/// more.
Result<const LatheDeviceApi*> loadDeviceApi(const std::filesystem::path& pluginDir, std::string_view kind);

/// JSON array of what all device halves in the folder enumerate, each with "kind"; {"plugin","error"} for those that do
/// not load.
std::string listDevices(const std::filesystem::path& pluginDir, std::string_view kind = {});

class DeviceBuffer;
class DeviceModule;

/// C++ face of an opened device; every failure becomes an Error with the plugin's code and sentence.
class Device
{
public:
    static Result<std::shared_ptr<Device>> open(const LatheDeviceApi* api, const std::string& key,
                                                const std::string& options);
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    Result<DeviceBuffer> allocate(std::size_t bytes);
    Result<> copyIn(const DeviceBuffer& buffer, std::span<const std::byte> host);
    Result<> copyOut(std::span<std::byte> host, const DeviceBuffer& buffer);
    Result<DeviceModule> load(std::span<const std::byte> artifact, const std::string& descriptor);
    /// Whether loading a module leaves something to compile.
    bool builds() const { return m_api->build != nullptr; }
    /// Compiles what of a module's kernel has not been compiled yet.
    Result<> build(LatheModule* module, std::uint32_t kernel);
    Result<LatheTiming> run(std::span<const LatheLaunch> launches, std::uint32_t iterations, std::uint64_t coldBytes);
    std::string health();
    std::string limits();
    /// This device's entry of enumerate(), with "kind".
    std::string description() const { return m_description; }

private:
    friend class DeviceBuffer;
    friend class DeviceModule;
    Device(const LatheDeviceApi* api, LatheDevice* handle)
        : m_api(api)
        , m_handle(handle)
    {
    }
    const LatheDeviceApi* m_api;
    LatheDevice* m_handle;
    std::string m_description;
};

/// Device memory; released with its owner, before the device.
class DeviceBuffer
{
public:
    DeviceBuffer() = default;
    ~DeviceBuffer();
    DeviceBuffer(DeviceBuffer&& other) noexcept;
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    void* get() const { return m_pointer; }
    std::size_t bytes() const { return m_bytes; }

private:
    friend class Device;
    DeviceBuffer(Device* device, void* pointer, std::size_t bytes)
        : m_device(device)
        , m_pointer(pointer)
        , m_bytes(bytes)
    {
    }
    Device* m_device = nullptr;
    void* m_pointer = nullptr;
    std::size_t m_bytes = 0;
};

class DeviceModule
{
public:
    DeviceModule() = default;
    ~DeviceModule();
    DeviceModule(DeviceModule&& other) noexcept;
    DeviceModule& operator=(DeviceModule&& other) noexcept;
    DeviceModule(const DeviceModule&) = delete;
    DeviceModule& operator=(const DeviceModule&) = delete;
    LatheModule* get() const { return m_module; }

private:
    friend class Device;
    DeviceModule(Device* device, LatheModule* module)
        : m_device(device)
        , m_module(module)
    {
    }
    Device* m_device = nullptr;
    LatheModule* m_module = nullptr;
};

} // namespace lathe::serve
