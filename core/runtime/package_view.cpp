#include "core/runtime/package_view.h"

#include <cstring>

namespace lathe::runtime {
namespace {

constexpr char kMagic[] = {'L', 'A', 'T', 'H', 'E', 'C', 'L', '2'};
constexpr std::size_t kHeaderBytes = sizeof kMagic + 2 * sizeof(std::uint64_t);
/// Of a program without a byte in it.
constexpr std::size_t kLeastProgramBytes = 4 * sizeof(std::uint64_t);

constexpr std::size_t rounded(std::size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

std::uint64_t numberAt(std::string_view bytes, std::size_t offset)
{
    std::uint64_t number = 0;
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

/// Where the next bytes go.
std::byte* put(std::byte* to, std::uint64_t number)
{
    std::memcpy(to, &number, sizeof number);
    return to + sizeof number;
}

std::byte* put(std::byte* to, std::string_view text)
{
    to = put(to, std::uint64_t{text.size()});
    const std::size_t size = rounded(text.size());
    if (!text.empty())
        std::memcpy(to, text.data(), text.size());
    std::memset(to + text.size(), 0, size - text.size());
    return to + size;
}

} // namespace

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

bool takeLine(std::string_view& text, std::string_view& line)
{
    if (text.empty())
        return false;
    std::size_t end = 0;
    while (end < text.size() && text[end] != '\n')
        ++end;
    line = {text.data(), end};
    text.remove_prefix(end < text.size() ? end + 1 : end);
    return true;
}

PackageReader::PackageReader(std::string_view bytes)
{
    if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
        return;
    const std::uint64_t size = numberAt(bytes, sizeof kMagic);
    m_programs = numberAt(bytes, sizeof kMagic + sizeof size);
    if (size < kHeaderBytes || size > bytes.size() || size % 8 != 0
        || m_programs > (size - kHeaderBytes) / kLeastProgramBytes)
        return;
    m_bytes = static_cast<std::size_t>(size);
    m_rest = {bytes.data() + kHeaderBytes, m_bytes - kHeaderBytes};
    m_isGood = m_programs > 0 || m_rest.empty();
}

bool PackageReader::take(std::string_view& text)
{
    if (m_rest.size() < sizeof(std::uint64_t))
        return false;
    const std::uint64_t size = numberAt(m_rest, 0);
    m_rest.remove_prefix(sizeof size);
    // What is left is a multiple of 8: where the text has room, so have the zeros behind it.
    if (size > m_rest.size())
        return false;
    text = {m_rest.data(), static_cast<std::size_t>(size)};
    m_rest.remove_prefix(rounded(text.size()));
    return true;
}

bool PackageReader::next(ProgramView& program)
{
    if (!m_isGood || m_read == m_programs)
        return false;
    ++m_read;
    m_isGood = take(program.source) && take(program.binary) && take(program.madeFor) && take(program.symbols)
               && (m_read < m_programs || m_rest.empty());
    return m_isGood;
}

std::size_t packageBytes(const ProgramView* programs, std::size_t count)
{
    std::size_t bytes = kHeaderBytes;
    for (std::size_t p = 0; p < count; ++p)
        bytes += kLeastProgramBytes + rounded(programs[p].source.size()) + rounded(programs[p].binary.size())
                 + rounded(programs[p].madeFor.size()) + rounded(programs[p].symbols.size());
    return bytes;
}

void writePackage(const ProgramView* programs, std::size_t count, std::byte* to)
{
    std::memcpy(to, kMagic, sizeof kMagic);
    std::byte* at = put(to + sizeof kMagic, std::uint64_t{packageBytes(programs, count)});
    at = put(at, std::uint64_t{count});
    for (std::size_t p = 0; p < count; ++p)
        for (const std::string_view text :
             {programs[p].source, programs[p].binary, programs[p].madeFor, programs[p].symbols})
            at = put(at, text);
}

} // namespace lathe::runtime
