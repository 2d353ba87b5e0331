#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lathe::backend {

/// The names that measure gives to kernels: "k<ordinal>_<16 hex digits of the candidate's hash>", so that generators
/// can tell which trial they see. A negative ordinal is left out.
std::string kernelName(std::int64_t ordinal, std::uint64_t candidateHash);
struct KernelIdentity
{
    std::int64_t ordinal = -1;
    std::uint64_t candidateHash = 0;
};
/// Nothing for other names.
std::optional<KernelIdentity> parseKernelName(std::string_view name);

} // namespace lathe::backend
