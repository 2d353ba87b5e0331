#include "plugins/cuda/device/opened_device.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace lathe::cuda {

OpenedDevice::~OpenedDevice()
{
    if (m_context == nullptr)
        return;
    m_driver.contextSetCurrent(m_context);
    if (m_stream != nullptr)
        m_driver.streamSynchronize(m_stream);
    m_lead = nullptr;
    for (const auto& [pointer, buffer] : m_buffers)
        m_driver.memFree(buffer->address);
    scratch.push_back(cold);
    for (const Buffer& buffer : scratch)
        if (buffer.address != 0)
            m_driver.memFree(buffer.address);
    if (m_stream != nullptr)
        m_driver.streamDestroy(m_stream);
    m_driver.contextSetCurrent(nullptr);
    m_driver.primaryContextRelease(m_facts.device);
}

int OpenedDevice::start(LatheDeviceError* error)
{
    if (const int code = m_driver.primaryContextRetain(&m_context, m_facts.device); code != kSuccess) {
        m_context = nullptr;
        return refused(error, code, "a context on " + m_facts.name);
    }
    if (const int status = enter(error))
        return status;
    if (const int code = m_driver.streamCreate(&m_stream, kOwnOrder); code != kSuccess) {
        m_stream = nullptr;
        return refused(error, code, "a stream on " + m_facts.name);
    }
    if (!m_driver.isOnProcessor)
        m_management = Management::open(m_facts.uuid);
    if (m_management != nullptr)
        m_ended = m_management->trouble();
    if (!m_ended.empty())
        return fail(error, LATHE_ERRC_DEVICE_LOST, m_ended);
    return 0;
}

int OpenedDevice::enter(LatheDeviceError* error)
{
    if (!m_ended.empty())
        return fail(error, LATHE_ERRC_DEVICE_LOST, m_ended);
    if (const int code = m_driver.contextSetCurrent(m_context); code != kSuccess)
        return refused(error, code, "the context of " + m_facts.name);
    return 0;
}

int OpenedDevice::keepBusy(std::size_t commands)
{
    // A launch or an event takes a host 2 to 5 us.
    constexpr std::uint64_t kNanosecondsOfCommand = 5000;
    if (m_driver.isOnProcessor) // its times are a model's
        return kSuccess;
    if (m_lead == nullptr)
        m_lead = std::make_unique<Lead>(m_driver, m_facts.clockKhz);
    return m_lead->start(m_stream, kNanosecondsOfCommand * (commands + 1));
}

void OpenedDevice::note(int code, const std::string& doing)
{
    if (isLasting(code) && m_ended.empty())
        m_ended = "nothing more can be run in this process: CUDA failed before, at " + doing + ": "
                  + errorText(m_driver, code);
}

int OpenedDevice::refused(LatheDeviceError* error, int code, const std::string& doing)
{
    if (isLasting(code)) // of what was accepted before: calls tell that, too, when they come to it first
        return failedAt(error, code, doing);
    return cuda::refused(error, m_driver, code, doing);
}

int OpenedDevice::failedAt(LatheDeviceError* error, int code, const std::string& doing)
{
    note(code, doing);
    return cuda::failedAt(error, m_driver, code, doing);
}

int OpenedDevice::prepare(Module& module, std::size_t kernel, LatheDeviceError* error)
{
    const int status = module.prepare(kernel, error);
    note(module.lastingError(), "the loading of a kernel");
    return status;
}

int OpenedDevice::make(Buffer& buffer, std::size_t bytes, LatheDeviceError* error)
{
    if (bytes > m_facts.memoryBytes)
        return fail(error, LATHE_ERRC_UNSUPPORTED,
                    "a buffer of " + std::to_string(bytes) + " bytes is larger than the memory of " + m_facts.name
                        + ", " + std::to_string(m_facts.memoryBytes));
    if (const int code = m_driver.memAlloc(&buffer.address, std::max<std::size_t>(bytes, 4)); code != kSuccess) {
        buffer = {};
        return refused(error, code, "a buffer of " + std::to_string(bytes) + " bytes");
    }
    buffer.bytes = bytes;
    return 0;
}

int OpenedDevice::allocate(std::size_t bytes, void** out, LatheDeviceError* error)
{
    auto buffer = std::make_unique<Buffer>();
    if (const int status = make(*buffer, bytes, error))
        return status;
    *out = buffer.get();
    m_buffers.emplace(*out, std::move(buffer));
    return 0;
}

void OpenedDevice::release(void* buffer)
{
    const auto found = m_buffers.find(buffer);
    if (found == m_buffers.end())
        return;
    m_driver.contextSetCurrent(m_context);
    m_driver.memFree(found->second->address);
    m_buffers.erase(found);
}

const OpenedDevice::Buffer* OpenedDevice::find(const void* buffer) const
{
    const auto found = m_buffers.find(buffer);
    return found == m_buffers.end() ? nullptr : found->second.get();
}

int OpenedDevice::grow(Buffer& buffer, std::size_t bytes, LatheDeviceError* error)
{
    if (buffer.address != 0 && buffer.bytes >= bytes)
        return 0;
    if (buffer.address != 0)
        m_driver.memFree(buffer.address); // waits for the launches that use it
    buffer = {};
    return make(buffer, bytes, error);
}

int OpenedDevice::copy(const void* buffer, std::size_t offset, void* host, std::size_t bytes, bool in,
                       LatheDeviceError* error)
{
    const Buffer* const known = find(buffer);
    if (known == nullptr || offset > known->bytes || bytes > known->bytes - offset)
        return fail(error, LATHE_ERRC_INVALID_ARGUMENT, "a copy reaches outside its buffer");
    if (bytes == 0)
        return 0;
    int code = in ? m_driver.copyToDevice(known->address + offset, host, bytes, m_stream)
                  : m_driver.copyToHost(host, known->address + offset, bytes, m_stream);
    if (code == kSuccess)
        code = m_driver.streamSynchronize(m_stream);
    return code == kSuccess ? 0 : failedAt(error, code, "a copy of " + std::to_string(bytes) + " bytes");
}

std::string OpenedDevice::health()
{
    nlohmann::json json = {{"clock", m_driver.isOnProcessor ? "model" : "device"}};
    if (!m_facts.uuid.empty())
        json["uuid"] = m_management != nullptr ? m_management->uuid() : m_facts.uuid;
    if (m_facts.hasRunLimit)
        json["serves_a_screen"] = true;
    if (m_management != nullptr) {
        const Management::State state = m_management->state();
        const auto put = [&json](const char* name, const auto& figure) {
            if (figure)
                json[name] = *figure;
        };
        put("clock_mhz", state.clockMhz);
        put("memory_clock_mhz", state.memoryClockMhz);
        put("temperature_c", state.temperature);
        put("watts", state.watts);
        put("slowed_by", state.slowedBy);
        if (const std::string trouble = m_management->trouble(); !trouble.empty()) {
            json["sick"] = trouble;
            if (m_ended.empty())
                m_ended = trouble;
        }
    }
    if (!m_ended.empty())
        json["ended"] = m_ended;
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace lathe::cuda
