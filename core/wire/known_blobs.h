#pragma once

#include "core/support/hash.h"

#include <cstddef>
#include <unordered_set>

namespace lathe::wire {

/// Which blobs the other side has been sent, so that none is sent twice. A board that measures for a day is sent a
/// hundred thousand: beyond some of them all are forgotten, and what is needed then is sent once more.
class KnownBlobs
{
public:
    static constexpr std::size_t kMost = 512;

    bool has(const Hash128& hash) const { return m_hashes.contains(hash); }
    /// False: it was there already.
    bool add(const Hash128& hash)
    {
        if (m_hashes.size() >= kMost && !has(hash))
            m_hashes.clear();
        return m_hashes.insert(hash).second;
    }
    void forget(const Hash128& hash) { m_hashes.erase(hash); }
    void clear() { m_hashes.clear(); }

private:
    std::unordered_set<Hash128> m_hashes;
};

} // namespace lathe::wire
