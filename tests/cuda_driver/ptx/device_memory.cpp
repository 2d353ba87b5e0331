#include "tests/cuda_driver/ptx/device_memory.h"

namespace lathe::ptx {

namespace {

constexpr uint64_t kAlignment = 512;
constexpr uint64_t kGap = 1 << 16;
constexpr size_t kRemembered = 4096; // released pieces

} // namespace

void ShadowPage::beginLaunch(uint64_t number)
{
    launch = number;
    perByte = false;
    words.assign(kBytes / 4, GlobalShadowWord{});
}

void ShadowPage::split()
{
    std::vector<GlobalShadowWord> bytes(kBytes);
    for (size_t i = 0; i < kBytes; ++i)
        bytes[i] = words[i / 4];
    words = std::move(bytes);
    perByte = true;
}

Allocation* DeviceMemory::allocate(uint64_t size)
{
    if (size == 0 || size > m_capacity || m_used > m_capacity - size)
        return nullptr;
    ZeroedBytes bytes(static_cast<uint8_t*>(std::calloc(size, 1)));
    ZeroedBytes initialized(static_cast<uint8_t*>(std::calloc(size, 1)));
    if (!bytes || !initialized)
        return nullptr;
    const uint64_t base = m_next;
    m_next += (size + kGap + kAlignment - 1) / kAlignment * kAlignment;
    m_used += size;
    Allocation& made = m_all[base];
    made.base = base;
    touch(made);
    made.size = size;
    made.bytes = std::move(bytes);
    made.initialized = std::move(initialized);
    made.shadow.resize((size + ShadowPage::kBytes - 1) / ShadowPage::kBytes);
    return &made;
}

bool DeviceMemory::release(uint64_t base)
{
    const auto found = m_all.find(base);
    if (found == m_all.end())
        return false;
    m_used -= found->second.size;
    if (m_released.size() < kRemembered)
        m_released[base] = found->second.size;
    m_all.erase(found);
    return true;
}

Allocation* DeviceMemory::find(uint64_t address)
{
    auto after = m_all.upper_bound(address);
    if (after == m_all.begin())
        return nullptr;
    Allocation& candidate = std::prev(after)->second;
    return address - candidate.base < candidate.size ? &candidate : nullptr;
}

const Allocation* DeviceMemory::below(uint64_t address) const
{
    const auto after = m_all.upper_bound(address);
    return after == m_all.begin() ? nullptr : &std::prev(after)->second;
}

bool DeviceMemory::wasReleased(uint64_t address) const
{
    const auto after = m_released.upper_bound(address);
    return after != m_released.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

} // namespace lathe::ptx
