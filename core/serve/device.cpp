#include "core/serve/device.h"

#include "core/support/files.h"
#include "core/support/json_fields.h"
#include "core/support/message.h"
#include "core/support/option_words.h"
#include "core/support/packages.h"
#include "core/support/trusted_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace lathe::serve {

namespace {

using nlohmann::json;
constexpr std::string_view kSuffix = "_device.so";

Message inItsWords(const std::string& words)
{
    return say(Msg::DeviceSays, phrase(words), packageIn(words));
}

Error toError(const LatheDeviceError& error, std::string_view doing)
{
    const auto length = ::strnlen(error.text, sizeof error.text);
    const bool known = error.code > 0 && error.code <= static_cast<std::uint32_t>(Errc::Internal);
    const Errc code = known ? static_cast<Errc>(error.code) : Errc::Internal;
    if (length == 0)
        return makeError(code, say(Msg::DeviceFailedSilently, doing));
    return makeError(code, inItsWords(std::string(error.text, length)));
}

Result<const LatheDeviceApi*> loadLibrary(const std::filesystem::path& path)
{
    LATHE_TRY(checkTrusted(path));
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return makeError(Errc::Incompatible, notLoaded(path.string(), ::dlerror()));
    const auto entry = reinterpret_cast<LatheDeviceApiFn>(::dlsym(library, "lathe_device_api"));
    const LatheDeviceApi* api = entry ? entry() : nullptr;
    if (!api)
        return makeError(Errc::Incompatible, say(Msg::NoDeviceHalf, path.string()));
    if (api->abiVersion != LATHE_DEVICE_ABI_VERSION || api->structSize != sizeof(LatheDeviceApi))
        return makeError(Errc::Incompatible,
                         say(Msg::DeviceVersionDiffers, path.string(), api->abiVersion, LATHE_DEVICE_ABI_VERSION));
    return api;
}

/// What a plugin that does not load would have been of.
std::string kindOfFile(const std::filesystem::path& path)
{
    const std::string name = path.filename().string();
    return name.substr(0, name.size() - kSuffix.size());
}

json enumerate(const LatheDeviceApi* api)
{
    const char* text = api->enumerate();
    json devices = json::parse(text ? text : "[]", nullptr, false);
    if (!devices.is_array())
        return json::array();
    for (json& device : devices)
        if (device.is_object()) {
            device["kind"] = api->kind;
            if (const std::string words = textIn(device, "error"); !words.empty()) { // no device, but why there is none
                const Message message = inItsWords(words);
                device["error"] = textOf(message);
                device["about"] = toJsonText(about(message));
            }
        }
    return devices;
}

} // namespace

Result<const LatheDeviceApi*> loadDeviceApi(const std::filesystem::path& pluginDir, std::string_view kind)
{
    const bool plain = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
    const std::filesystem::path path = pluginDir / fmt::format("{}{}", kind, kSuffix);
    std::error_code ignored;
    if (!plain || !std::filesystem::exists(path, ignored))
        return makeError(Errc::NotFound, say(Msg::NoDevicePlugin, kind, pluginDir.string()));
    LATHE_TRY_ASSIGN(const LatheDeviceApi* api, loadLibrary(path));
    if (api->kind != kind)
        return makeError(Errc::Incompatible, say(Msg::DevicePluginOfOtherKind, path.string(), api->kind));
    return api;
}

std::string listDevices(const std::filesystem::path& pluginDir, std::string_view kind)
{
    json all = json::array();
    for (const auto& path : filesEndingWith(pluginDir, kSuffix)) {
        if (!kind.empty() && kindOfFile(path) != kind)
            continue;
        const auto api = loadLibrary(path);
        if (api)
            for (const json& device : enumerate(*api))
                all.push_back(device);
        else
            all.push_back({{"plugin", path.filename().string()},
                           {"kind", kindOfFile(path)},
                           {"error", api.error().message},
                           {"about", toJsonText(api.error().about)}});
    }
    return all.dump();
}

Result<std::shared_ptr<Device>> Device::open(const LatheDeviceApi* api, const std::string& key,
                                             const std::string& options)
{
    const json devices = enumerate(api);
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const json& d) {
        return d.is_object() && !d.contains("error") && (key.empty() || textIn(d, "key") == key)
               && !contradict(textIn(d, "words"), options);
    });
    if (found == devices.end() && devices.size() == 1 && devices.front().contains("error")) {
        const std::string error = textIn(devices.front(), "error"), about = textIn(devices.front(), "about");
        return makeError(Errc::NotFound, messageOf(error, aboutFromJsonText(about)));
    }
    if (found == devices.end())
        return makeError(Errc::NotFound,
                         key.empty() ? say(Msg::NoDeviceOfKind, api->kind) : say(Msg::NoDeviceOfKey, api->kind, key));
    LatheDevice* handle = nullptr;
    LatheDeviceError error = {};
    const std::string chosen = found->value("key", std::string());
    if (api->open(chosen.c_str(), options.c_str(), &handle, &error) != 0)
        return toError(error, "to open");
    std::shared_ptr<Device> device(new Device(api, handle));
    device->m_description = found->dump();
    return device;
}

Device::~Device()
{
    m_api->close(m_handle);
}

Result<DeviceBuffer> Device::allocate(std::size_t bytes)
{
    void* pointer = nullptr;
    LatheDeviceError error = {};
    if (m_api->allocate(m_handle, bytes, &pointer, &error) != 0)
        return toError(error, "to allocate");
    return DeviceBuffer(this, pointer, bytes);
}

Result<> Device::copyIn(const DeviceBuffer& buffer, std::span<const std::byte> host)
{
    LatheDeviceError error = {};
    if (m_api->copyIn(m_handle, buffer.get(), 0, host.data(), host.size(), &error) != 0)
        return toError(error, "to copy in");
    return {};
}

Result<> Device::copyOut(std::span<std::byte> host, const DeviceBuffer& buffer)
{
    LatheDeviceError error = {};
    if (m_api->copyOut(m_handle, host.data(), buffer.get(), 0, host.size(), &error) != 0)
        return toError(error, "to copy out");
    return {};
}

Result<DeviceModule> Device::load(std::span<const std::byte> artifact, const std::string& descriptor)
{
    LatheModule* module = nullptr;
    LatheDeviceError error = {};
    if (m_api->load(m_handle, artifact.data(), artifact.size(), descriptor.c_str(), &module, &error) != 0)
        return toError(error, "to load");
    return DeviceModule(this, module);
}

Result<> Device::build(LatheModule* module, std::uint32_t kernel)
{
    LatheDeviceError error = {};
    if (m_api->build != nullptr && m_api->build(m_handle, module, kernel, &error) != 0)
        return toError(error, "to build");
    return {};
}

Result<LatheTiming> Device::run(std::span<const LatheLaunch> launches, std::uint32_t iterations,
                                std::uint64_t coldBytes)
{
    LatheTiming timing = {};
    LatheDeviceError error = {};
    if (m_api->run(m_handle, launches.data(), static_cast<std::uint32_t>(launches.size()), iterations, coldBytes,
                   &timing, &error)
        != 0)
        return toError(error, "to run");
    return timing;
}

std::string Device::health()
{
    const char* text = m_api->health(m_handle);
    return text ? text : "{}";
}

std::string Device::limits()
{
    const char* text = m_api->limits(m_handle);
    return text ? text : "{}";
}

DeviceBuffer::~DeviceBuffer()
{
    if (m_device)
        m_device->m_api->release(m_device->m_handle, m_pointer);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : m_device(std::exchange(other.m_device, nullptr))
    , m_pointer(std::exchange(other.m_pointer, nullptr))
    , m_bytes(std::exchange(other.m_bytes, 0))
{
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept
{
    std::swap(m_device, other.m_device);
    std::swap(m_pointer, other.m_pointer);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

DeviceModule::~DeviceModule()
{
    if (m_device)
        m_device->m_api->unload(m_device->m_handle, m_module);
}

DeviceModule::DeviceModule(DeviceModule&& other) noexcept
    : m_device(std::exchange(other.m_device, nullptr))
    , m_module(std::exchange(other.m_module, nullptr))
{
}

DeviceModule& DeviceModule::operator=(DeviceModule&& other) noexcept
{
    std::swap(m_device, other.m_device);
    std::swap(m_module, other.m_module);
    return *this;
}

} // namespace lathe::serve
