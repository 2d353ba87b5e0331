#pragma once

#include "core/support/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lathe::wire {

/// A frame: "LTHE", length (u32, little endian), then that many bytes.
inline constexpr std::size_t kFrameHeaderBytes = 8;
/// Larger frames are refused before anything is allocated for them; blobs travel in chunks well below.
inline constexpr std::uint32_t kMaxFrameBytes = 16u << 20;

void appendFrame(std::string& out, std::string_view payload);

/// Cuts a stream into frames. After an error the stream is lost: every further call repeats it.
class FrameReader
{
public:
    void feed(std::span<const std::byte> bytes);
    /// The next whole frame, nothing if more bytes are needed. Errors: BadFile (wrong mark, oversized).
    Result<std::optional<std::string>> next();
    /// Bytes of an unfinished frame: at the end of a stream non-zero means that it was cut.
    std::size_t pending() const { return m_buffer.size() - m_begin; }

private:
    std::string m_buffer;
    std::size_t m_begin = 0;
};

} // namespace lathe::wire
