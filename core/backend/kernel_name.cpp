#include "core/backend/kernel_name.h"

#include <fmt/format.h>

#include <charconv>

namespace lathe::backend {

std::string kernelName(std::int64_t ordinal, std::uint64_t candidateHash)
{
    return ordinal < 0 ? fmt::format("k_{:016x}", candidateHash) : fmt::format("k{}_{:016x}", ordinal, candidateHash);
}

std::optional<KernelIdentity> parseKernelName(std::string_view name)
{
    const std::size_t bar = name.find('_');
    if (name.empty() || name[0] != 'k' || bar == std::string_view::npos || name.size() - bar - 1 != 16)
        return std::nullopt;
    KernelIdentity identity;
    const std::string_view ordinal = name.substr(1, bar - 1);
    const std::string_view hash = name.substr(bar + 1);
    if (!ordinal.empty()) {
        const auto parsed = std::from_chars(ordinal.data(), ordinal.data() + ordinal.size(), identity.ordinal);
        if (parsed.ec != std::errc() || parsed.ptr != ordinal.data() + ordinal.size())
            return std::nullopt;
    }
    const auto parsed = std::from_chars(hash.data(), hash.data() + hash.size(), identity.candidateHash, 16);
    if (parsed.ec != std::errc() || parsed.ptr != hash.data() + hash.size())
        return std::nullopt;
    return identity;
}

} // namespace lathe::backend
