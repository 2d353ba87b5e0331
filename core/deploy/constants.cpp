#include "core/deploy/constants.h"

#include "core/runtime/layout_transform.h"
#include "core/support/element_count.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace lathe::deploy {

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t plainBytes(std::span<const std::int64_t> shape, DType dtype)
{
    return static_cast<std::size_t>(elementCount(shape) * sizeOf(dtype));
}

} // namespace

Result<std::uint64_t> ConstantPool::add(const graph::Value& value, const compute::DagPtr& recipe, const IndexMap& map,
                                        DType dtype)
{
    if (!value.constant)
        return makeError(Errc::Internal,
                         fmt::format("'{}' is no constant and cannot be packed ahead of time", value.name));
    if (value.constant->bytes != plainBytes(value.shape, value.dtype))
        return makeError(Errc::Internal, fmt::format("constant '{}' has {} bytes, its shape asks for {}", value.name,
                                                     value.constant->bytes, plainBytes(value.shape, value.dtype)));
    graph::ConstBytes held;
    DerivedConstants::Bytes derived;
    std::span<const std::byte> source;
    DType sourceType = value.dtype;
    if (recipe) {
        LATHE_TRY_ASSIGN(derived, m_derived->of(value, recipe));
        source = *derived;
        sourceType = recipe->ops[static_cast<std::size_t>(recipe->outputs[0])].dtype;
    } else {
        LATHE_TRY_ASSIGN(held, contentsOf(*value.constant));
        source = held.bytes;
    }
    const IndexMap plain = IndexMap::plain(map.logicalShape, map.logicalRank);
    if (!isWellFormed(map) || sourceType != dtype
        || source.size() != static_cast<std::size_t>(plain.elementCount() * sizeOf(dtype)))
        return makeError(Errc::Internal,
                         fmt::format("constant '{}' ({} {}) does not fit the kernel's parameter ({} {})", value.name,
                                     toString(sourceType), value.shape, toString(dtype),
                                     std::span(map.logicalShape, static_cast<std::size_t>(map.logicalRank))));
    std::vector<std::byte> aligned; // constants may be views into a file, at any address
    if (reinterpret_cast<std::uintptr_t>(source.data()) % static_cast<std::uintptr_t>(sizeOf(dtype)) != 0) {
        aligned.assign(source.begin(), source.end());
        source = aligned;
    }
    std::vector<std::byte> packed(static_cast<std::size_t>(map.elementCount() * sizeOf(dtype)));
    if (!packed.empty())
        transformLayout(plain, source.data(), map, packed.data(), dtype);
    LATHE_TRY(graph::stillThere(*value.constant));

    const auto [place, isNew] = m_places.try_emplace({contentHash(packed), packed.size()}, 0);
    if (isNew) {
        LATHE_TRY_ASSIGN(place->second, append(packed));
    }
    return place->second;
}

Result<std::uint64_t> ConstantPool::append(std::span<const std::byte> packed)
{
    const std::uint64_t at = (m_size + kAlignment - 1) / kAlignment * kAlignment;
    if (!m_file.isOpen() && !m_spill.empty() && at + packed.size() > m_mostInMemory) {
        LATHE_TRY_ASSIGN(m_file, SectionFile::create(m_spill));
        LATHE_TRY(m_file.write(0, m_bytes));
        m_bytes = {};
    }
    if (m_file.isOpen()) {
        LATHE_TRY(m_file.write(at, packed));
    } else {
        m_bytes.resize(at);
        m_bytes.insert(m_bytes.end(), packed.begin(), packed.end());
    }
    m_size = at + packed.size();
    return at;
}

} // namespace lathe::deploy
