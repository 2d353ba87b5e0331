#include "core/serve/rotation.h"

#include "core/wire/seeded.h"

#include <algorithm>
#include <map>

namespace lathe::serve {

namespace {

constexpr std::size_t kKeptBytes = 384 << 20; // what the largest constants take once, and some more

std::size_t bytesOf(const ArgSpec& spec)
{
    return static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype));
}

bool rotates(const ArgSpec& spec)
{
    return spec.role == ArgRole::Constant;
}

} // namespace

Result<Rotation::Contents> Rotation::contentsOf(Device& device, const Parameter& parameter)
{
    if (isFloat(parameter.spec.dtype))
        return Contents{contentHash(toString(parameter.spec.dtype)), {}};
    std::vector<std::byte> bytes(bytesOf(parameter.spec));
    LATHE_TRY(device.copyOut(bytes, *parameter.own));
    const Hash128 hash = contentHash(bytes);
    return Contents{hash, std::move(bytes)};
}

Result<DeviceBuffer*> Rotation::place(Device& device, const ArgSpec& spec, Contents& contents, std::size_t index)
{
    const std::size_t bytes = bytesOf(spec);
    auto found = std::find_if(m_copies.begin(), m_copies.end(), [bytes](const Copies& c) { return c.bytes == bytes; });
    if (found == m_copies.end())
        found = m_copies.insert(m_copies.end(), Copies{bytes, {}});
    else
        std::rotate(found, found + 1, m_copies.end());
    Copies& copies = m_copies.back();
    while (copies.buffers.size() <= index) {
        LATHE_TRY_ASSIGN(DeviceBuffer buffer, device.allocate(bytes));
        copies.buffers.push_back({std::move(buffer), {}});
    }
    Copy& copy = copies.buffers[index];
    if (copy.holds != contents.hash) {
        if (contents.bytes.empty()) {
            // Normal numbers, each page written: untouched ones would be one and the same page of zeros.
            contents.bytes.resize(bytes);
            wire::writeElement(contents.bytes.data(), 0, spec.dtype, 0.01);
            for (std::size_t filled = static_cast<std::size_t>(sizeOf(spec.dtype)); filled < bytes; filled *= 2)
                std::copy_n(contents.bytes.begin(), std::min(filled, bytes - filled),
                            contents.bytes.begin() + static_cast<std::ptrdiff_t>(filled));
        }
        LATHE_TRY(device.copyIn(copy.buffer, contents.bytes));
        copy.holds = contents.hash;
    }
    return &copy.buffer;
}

Result<std::span<const LatheLaunch>> Rotation::around(Device& device, const LatheLaunch& launch,
                                                      std::span<const Parameter> parameters, std::uint64_t bytes)
{
    m_launches.assign(1, launch);
    m_pointers.clear();
    std::size_t total = 0;
    for (const Parameter& parameter : parameters)
        total += rotates(parameter.spec) ? bytesOf(parameter.spec) : 0;
    if (total == 0 || total >= bytes)
        return std::span<const LatheLaunch>(m_launches);
    std::size_t kept = 0;
    for (const Copies& copies : m_copies)
        kept += copies.bytes * copies.buffers.size();
    while (kept > kKeptBytes && !m_copies.empty()) { // the ones not used for the longest time
        kept -= m_copies.front().bytes * m_copies.front().buffers.size();
        m_copies.erase(m_copies.begin());
    }
    const std::size_t count = std::clamp(static_cast<std::size_t>((bytes + total - 1) / total), kLeastCopies,
                                         kMaxCopies);
    std::vector<Contents> contents(parameters.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (rotates(parameters[i].spec)) {
            LATHE_TRY_ASSIGN(contents[i], contentsOf(device, parameters[i]));
        }
    }
    std::map<std::size_t, std::size_t> used; // buffers of a size
    for (std::size_t copy = 1; copy < count; ++copy) {
        std::vector<void*> pointers(launch.buffers, launch.buffers + launch.bufferCount);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const ArgSpec& spec = parameters[i].spec;
            if (!rotates(spec))
                continue;
            LATHE_TRY_ASSIGN(DeviceBuffer* const buffer, place(device, spec, contents[i], used[bytesOf(spec)]++));
            pointers[i] = buffer->get();
        }
        m_pointers.push_back(std::move(pointers));
    }
    for (std::vector<void*>& pointers : m_pointers) {
        LatheLaunch other = launch;
        other.buffers = pointers.data();
        m_launches.push_back(other);
    }
    return std::span<const LatheLaunch>(m_launches);
}

std::span<const LatheLaunch> Rotation::next(std::size_t count)
{
    // The first is of the job's own constants, which have just been written.
    if (m_next + count > m_launches.size())
        m_next = m_launches.size() > count ? 1 : 0;
    const auto some = std::span<const LatheLaunch>(m_launches).subspan(m_next, count);
    m_next += count;
    return some;
}

} // namespace lathe::serve
