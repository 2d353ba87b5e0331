#include "plugins/opencl/device/package.h"

#include <cstdint>
#include <cstring>

namespace lathe::opencl {
namespace {

constexpr std::string_view kMagic = "LATHECL1";

void put(std::string& bytes, std::string_view text)
{
    const std::uint64_t size = text.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += text;
}

bool take(std::string_view& bytes, std::string& text)
{
    std::uint64_t size = 0;
    if (bytes.size() < sizeof size)
        return false;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (size > bytes.size())
        return false;
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return true;
}

} // namespace

std::vector<std::byte> pack(std::span<const PackedKernel> kernels)
{
    std::string bytes(kMagic);
    for (const PackedKernel& kernel : kernels)
        for (const std::string* text : {&kernel.source, &kernel.binary, &kernel.madeFor})
            put(bytes, *text);
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    return {begin, begin + bytes.size()};
}

bool unpack(std::string_view bytes, std::vector<PackedKernel>& kernels)
{
    if (!bytes.starts_with(kMagic))
        return false;
    bytes.remove_prefix(kMagic.size());
    while (!bytes.empty()) {
        PackedKernel& kernel = kernels.emplace_back();
        if (!take(bytes, kernel.source) || !take(bytes, kernel.binary) || !take(bytes, kernel.madeFor))
            return false;
    }
    return true;
}

} // namespace lathe::opencl
