#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lathe::opencl {

/// Programs that were built from source on this machine, kept for the next time: a file each in lathe/opencl in the
/// user's cache folder ($XDG_CACHE_HOME, else ~/.cache). A file says what it is of and is believed only if all of it is
/// as it was written. A folder that cannot be used, whatever the reason, is one without files: nothing here is an
/// error. Several processes may use it at once.
struct CacheKey
{
    std::string_view identity; ///< DeviceFacts::identity
    std::string_view source;
};

/// Together the files are at most as large; beyond that those go which were used least recently.
inline constexpr std::uint64_t kMostCacheBytes = std::uint64_t{256} << 20;

/// The binary, for free(); null: it is not there.
char* findInCache(const CacheKey& key, std::size_t& bytes);
void keepInCache(const CacheKey& key, std::string_view binary);

} // namespace lathe::opencl
