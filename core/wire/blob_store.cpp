#include "core/wire/blob_store.h"

#include <fmt/format.h>

namespace lathe::wire {

Blob BlobStore::find(const Hash128& hash)
{
    const auto it = m_entries.find(hash);
    if (it == m_entries.end())
        return nullptr;
    m_order.splice(m_order.begin(), m_order, it->second.place);
    return it->second.blob;
}

Blob BlobStore::take(const Hash128& hash)
{
    const auto it = m_entries.find(hash);
    if (it == m_entries.end())
        return nullptr;
    const Blob blob = std::move(it->second.blob);
    m_bytes -= blob->size();
    m_order.erase(it->second.place);
    m_entries.erase(it);
    return blob;
}

Hash128 BlobStore::put(std::string bytes)
{
    const Hash128 hash = contentHash(bytes);
    insert(hash, std::move(bytes));
    return hash;
}

void BlobStore::insert(const Hash128& hash, std::string bytes)
{
    if (find(hash))
        return;
    m_bytes += bytes.size();
    m_order.push_front(hash);
    m_entries.emplace(hash, Entry{std::make_shared<const std::string>(std::move(bytes)), m_order.begin()});
    while (m_bytes > m_maxBytes && m_order.size() > 1) {
        const auto oldest = m_entries.find(m_order.back());
        m_bytes -= oldest->second.blob->size();
        m_entries.erase(oldest);
        m_order.pop_back();
    }
}

Result<> BlobStore::putChunk(const Hash128& hash, std::uint64_t total, std::uint64_t offset, std::string_view data)
{
    const auto refuse = [&](std::string why) {
        m_growing.reset();
        m_partial.clear();
        return makeError(Errc::BadFile, fmt::format("blob {}: {}", hash.hex(), std::move(why)));
    };
    if (total > m_maxBytes)
        return refuse(fmt::format("{} bytes are announced, more than the {} that are allowed", total, m_maxBytes));
    if (offset == 0) {
        m_growing = hash;
        m_growingTotal = total;
        m_partial.clear(); // grows as bytes arrive: an announced length alone allocates nothing
    }
    if (m_growing != hash || m_growingTotal != total || offset != m_partial.size())
        return refuse(fmt::format("the chunk at {} is out of order", offset));
    if (data.size() > total - offset)
        return refuse(fmt::format("its chunks are longer than the {} bytes announced", total));
    if (data.empty() && total != 0)
        return refuse("an empty chunk");
    m_partial.append(data);
    if (m_partial.size() < total)
        return {};
    if (contentHash(m_partial) != hash)
        return refuse("the contents do not match the hash");
    m_growing.reset();
    insert(hash, std::move(m_partial));
    m_partial = {};
    return {};
}

} // namespace lathe::wire
