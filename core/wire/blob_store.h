#pragma once

#include "core/support/hash.h"
#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace lathe::wire {

using Blob = std::shared_ptr<const std::string>;

/// Blobs by content hash, bounded: the least recently used go first. Also puts blobs together from chunks, checking
/// lengths, order and at the end the hash.
class BlobStore
{
public:
    explicit BlobStore(std::uint64_t maxBytes = std::uint64_t(1) << 30)
        : m_maxBytes(maxBytes)
    {
    }

    Blob find(const Hash128& hash); ///< null if it is not here
    Blob take(const Hash128& hash); ///< find(), and it is kept here no longer
    Hash128 put(std::string bytes);
    /// Errors: BadFile (out of order, too long, wrong hash); the unfinished blob is dropped.
    Result<> putChunk(const Hash128& hash, std::uint64_t total, std::uint64_t offset, std::string_view data);
    std::uint64_t bytes() const { return m_bytes; }

private:
    void insert(const Hash128& hash, std::string bytes);

    struct Entry
    {
        Blob blob;
        std::list<Hash128>::iterator place;
    };
    std::uint64_t m_maxBytes;
    std::uint64_t m_bytes = 0;
    std::list<Hash128> m_order; ///< most recently used first
    std::unordered_map<Hash128, Entry> m_entries;
    std::optional<Hash128> m_growing;
    std::uint64_t m_growingTotal = 0;
    std::string m_partial;
};

} // namespace lathe::wire
