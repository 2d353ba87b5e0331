#include "core/runtime/stretches.h"

#include "core/runtime/array.h"

namespace lathe::runtime {

Stretches::~Stretches()
{
    for (std::size_t i = 0; i < m_bufferCount; ++i)
        if (m_buffers[i].memory != nullptr)
            m_driver->release(m_buffers[i].memory);
    freeArray(m_buffers, m_room);
    freeArray(m_places, m_room);
}

Status Stretches::reserve(std::size_t most, ErrorText& error)
{
    m_places = makeArray<Place>(most);
    m_buffers = makeArray<Buffer>(most);
    m_room = most;
    if (m_places != nullptr && m_buffers != nullptr)
        return Status::Ok;
    error.set("no memory for an instance");
    return Status::NoMemory;
}

void Stretches::add(std::uint64_t offset, std::uint64_t bytes)
{
    std::size_t i = m_count;
    while (i > 0 && m_places[i - 1].offset > offset)
        --i;
    if (i > 0 && m_places[i - 1].offset == offset) {
        Place& known = m_places[i - 1];
        known.least = bytes < known.least ? bytes : known.least;
        known.most = bytes > known.most ? bytes : known.most;
        return;
    }
    for (std::size_t k = m_count++; k > i; --k)
        m_places[k] = m_places[k - 1];
    m_places[i] = {offset, bytes, bytes, 0};
}

/// Stretches that overlap pairwise have a byte in common (Helly's theorem), so a buffer remembers what its stretches
/// share. The largest come first: a buffer is then as large as its first stretch, mostly.
void Stretches::share()
{
    constexpr std::uint32_t kNone = UINT32_MAX;
    for (std::size_t i = 0; i < m_count; ++i)
        m_places[i].buffer = kNone;
    for (std::size_t done = 0; done < m_count; ++done) {
        Place* next = nullptr;
        for (std::size_t i = 0; i < m_count; ++i)
            if (m_places[i].buffer == kNone && (next == nullptr || m_places[i].most > next->most))
                next = &m_places[i];
        const std::uint64_t end = next->offset + next->least;
        std::size_t b = 0;
        while (b < m_bufferCount && (next->offset >= m_buffers[b].end || end <= m_buffers[b].begin))
            ++b;
        Buffer& buffer = m_buffers[b];
        if (b == m_bufferCount)
            m_buffers[m_bufferCount++] = {next->offset, end, 0, nullptr};
        buffer.begin = next->offset > buffer.begin ? next->offset : buffer.begin;
        buffer.end = end < buffer.end ? end : buffer.end;
        buffer.bytes = next->most > buffer.bytes ? next->most : buffer.bytes;
        next->buffer = static_cast<std::uint32_t>(b);
    }
}

Status Stretches::allocate(const DeviceDriver& driver, DeviceContext* context, ErrorText& error)
{
    m_driver = &driver;
    share();
    for (std::size_t i = 0; i < m_bufferCount; ++i)
        if (const Status status = driver.allocate(context, m_buffers[i].bytes, nullptr, &m_buffers[i].memory, error);
            status != Status::Ok)
            return status;
    return Status::Ok;
}

const Stretches::Place* Stretches::find(std::uint64_t offset) const
{
    std::size_t first = 0, last = m_count;
    while (first < last) {
        const std::size_t middle = first + (last - first) / 2;
        if (m_places[middle].offset < offset)
            first = middle + 1;
        else
            last = middle;
    }
    return first < m_count && m_places[first].offset == offset ? &m_places[first] : nullptr;
}

DeviceMemory* Stretches::at(std::uint64_t offset) const
{
    const Place* const place = find(offset);
    return place != nullptr ? m_buffers[place->buffer].memory : nullptr;
}

} // namespace lathe::runtime
