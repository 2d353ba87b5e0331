#include "core/wire/framing.h"

#include "core/support/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::wire {

namespace {
constexpr std::string_view kMark = "LTHE";
}

void appendFrame(std::string& out, std::string_view payload)
{
    LATHE_CHECK(payload.size() <= kMaxFrameBytes) << "a frame of " << payload.size() << " bytes";
    const auto size = static_cast<std::uint32_t>(payload.size());
    out.append(kMark);
    for (int shift = 0; shift < 32; shift += 8)
        out.push_back(static_cast<char>(size >> shift & 0xff));
    out.append(payload);
}

void FrameReader::feed(std::span<const std::byte> bytes)
{
    if (m_begin > 0 && m_begin >= m_buffer.size() / 2) {
        m_buffer.erase(0, m_begin);
        m_begin = 0;
    }
    m_buffer.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<std::optional<std::string>> FrameReader::next()
{
    const std::string_view rest = std::string_view(m_buffer).substr(m_begin);
    const std::size_t markSeen = std::min(rest.size(), kMark.size());
    if (rest.substr(0, markSeen) != kMark.substr(0, markSeen))
        return makeError(Errc::BadFile, "the stream is not one of Lathe's: a frame does not begin with its mark");
    if (rest.size() < kFrameHeaderBytes)
        return std::optional<std::string>();
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
        size |= static_cast<std::uint32_t>(static_cast<unsigned char>(rest[4 + i])) << (8 * i);
    if (size > kMaxFrameBytes)
        return makeError(
            Errc::BadFile,
            fmt::format("a frame of {} bytes is announced, more than the {} that are allowed", size, kMaxFrameBytes));
    if (rest.size() - kFrameHeaderBytes < size)
        return std::optional<std::string>();
    std::optional<std::string> frame(std::in_place, rest.substr(kFrameHeaderBytes, size));
    m_begin += kFrameHeaderBytes + size;
    return frame;
}

} // namespace lathe::wire
