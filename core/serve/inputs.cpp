#include "core/serve/inputs.h"

#include "core/runtime/index_map.h"
#include "core/wire/hash_field.h"
#include "core/wire/messages.h"
#include "core/wire/seeded.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::serve {

namespace {

constexpr std::size_t kSeededBytes = std::size_t(512) << 20;
constexpr std::size_t kLaidOutBytes =
    std::size_t(128) << 20; ///< some ten layouts of a large convolution's weights; what has more is made each time

std::span<const std::byte> asBytes(const std::string& text)
{
    return std::as_bytes(std::span(text));
}

} // namespace

const std::string* Inputs::Kept::find(const Source& source, const IndexMap& map)
{
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const Tensor& t) { return t.source == source && t.map == map; });
    if (found == tensors.end())
        return nullptr;
    tensors.splice(tensors.begin(), tensors, found);
    return &tensors.front().bytes;
}

const std::string& Inputs::Kept::put(Tensor tensor, std::size_t most)
{
    bytes += tensor.bytes.size();
    tensors.push_front(std::move(tensor));
    while (bytes > most && tensors.size() > 1) {
        bytes -= tensors.back().bytes.size();
        tensors.pop_back();
    }
    return tensors.front().bytes;
}

const std::string& Inputs::seeded(const Source& source, const IndexMap& plain)
{
    if (const std::string* const kept = m_seeded.find(source, plain))
        return *kept;
    std::string values(static_cast<std::size_t>(plain.logicalCount() * sizeOf(source.dtype)), '\0');
    wire::fillSeeded(source.seed, source.dtype, {source.low, source.high}, std::as_writable_bytes(std::span(values)));
    ++m_made;
    return m_seeded.put({source, plain, std::move(values)}, kSeededBytes);
}

std::optional<Inputs::Source> Inputs::sourceOf(const wire::Buffer& buffer, DType dtype)
{
    Source source;
    source.dtype = dtype;
    if (buffer.fill() == wire::Buffer::SEED) {
        source.seed = buffer.seed();
        source.low = buffer.low();
        source.high = buffer.high();
        return source;
    }
    if (buffer.fill() != wire::Buffer::BLOB)
        return std::nullopt;
    source.blob = wire::fromWire(buffer.blob());
    return source;
}

Result<std::span<const std::byte>> Inputs::bytesOf(const wire::Buffer& buffer, const ArgSpec& spec,
                                                   wire::BlobStore& blobs)
{
    const auto size = static_cast<std::size_t>(spec.map.elementCount() * sizeOf(spec.dtype));
    const std::optional<Source> from = sourceOf(buffer, spec.dtype);
    if (!from) {
        // Poison: all ones is not-a-number in every float type.
        m_filled.assign(
            size, buffer.fill() == wire::Buffer::ZERO ? '\0' : static_cast<char>(isFloat(spec.dtype) ? 0xff : 0xa5));
        return asBytes(m_filled);
    }
    const Source& source = *from;
    if (buffer.fill() == wire::Buffer::BLOB) {
        m_blob = blobs.find(source.blob);
        const auto expected = static_cast<std::size_t>(spec.map.logicalCount() * sizeOf(spec.dtype));
        if (!m_blob || m_blob->size() != expected)
            return makeError(Errc::InvalidArgument, fmt::format("the data for \"{}\" has {} bytes, its tensor {}",
                                                                spec.name, m_blob ? m_blob->size() : 0, expected));
    }
    const bool fromSeed = buffer.fill() == wire::Buffer::SEED;
    const IndexMap plain = IndexMap::plain(spec.map.logicalShape, spec.map.logicalRank);
    if (spec.map.isPlain())
        return asBytes(fromSeed ? seeded(source, plain) : *m_blob);
    if (const std::string* const kept = m_laidOut.find(source, spec.map))
        return asBytes(*kept);
    const std::string& values = fromSeed ? seeded(source, plain) : *m_blob;
    std::string placed(size, '\0');
    transformLayout(plain, values.data(), spec.map, placed.data(), spec.dtype);
    ++m_made;
    if (size > kLaidOutBytes) {
        m_filled = std::move(placed);
        return asBytes(m_filled);
    }
    return asBytes(m_laidOut.put({source, spec.map, std::move(placed)}, kLaidOutBytes));
}

} // namespace lathe::serve
