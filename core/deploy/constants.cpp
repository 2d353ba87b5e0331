#include "core/deploy/constants.h"

#include "core/compute/interpret.h"
#include "core/runtime/layout_transform.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace lathe::deploy {

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t plainBytes(std::span<const std::int64_t> shape, DType dtype)
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return static_cast<std::size_t>(count * sizeOf(dtype));
}

} // namespace

Result<std::uint64_t> ConstantPool::add(const graph::Value& value, const compute::DagPtr& recipe, const IndexMap& map, DType dtype)
{
    if (!value.constant)
        return makeError(Errc::Internal, fmt::format("'{}' is no constant and cannot be packed ahead of time", value.name));
    std::span<const std::byte> source(value.constant->data, value.constant->bytes);
    DType sourceType = value.dtype;
    if (source.size() != plainBytes(value.shape, value.dtype))
        return makeError(Errc::Internal, fmt::format("constant '{}' has {} bytes, its shape asks for {}", value.name, source.size(),
                                                     plainBytes(value.shape, value.dtype)));
    if (recipe) {
        std::vector<std::byte>& derived = m_derived[{value.constant->data, recipe.get()}];
        if (derived.empty()) {
            LATHE_TRY_ASSIGN(const compute::Interpreter interpreter, compute::Interpreter::compile(recipe));
            const std::span<const std::byte> inputs[] = {source};
            LATHE_TRY_ASSIGN(std::vector<std::vector<std::byte>> outputs, interpreter.run(inputs));
            if (outputs.size() != 1)
                return makeError(Errc::Internal, fmt::format("the recipe for constant '{}' has {} outputs", value.name, outputs.size()));
            derived = std::move(outputs[0]);
        }
        source = derived;
        sourceType = recipe->ops[static_cast<std::size_t>(recipe->outputs[0])].dtype;
    }
    const IndexMap plain = IndexMap::plain(map.logicalShape, map.logicalRank);
    if (!isWellFormed(map) || sourceType != dtype || source.size() != static_cast<std::size_t>(plain.elementCount() * sizeOf(dtype)))
        return makeError(Errc::Internal, fmt::format("constant '{}' ({} {}) does not fit the kernel's parameter ({} {})", value.name,
                                                     toString(sourceType), value.shape, toString(dtype),
                                                     std::span(map.logicalShape, static_cast<std::size_t>(map.logicalRank))));
    std::vector<std::byte> aligned; // constants may be views into a file, at any address
    if (reinterpret_cast<std::uintptr_t>(source.data()) % static_cast<std::uintptr_t>(sizeOf(dtype)) != 0) {
        aligned.assign(source.begin(), source.end());
        source = aligned;
    }
    std::vector<std::byte> packed(static_cast<std::size_t>(map.elementCount() * sizeOf(dtype)));
    transformLayout(plain, source.data(), map, packed.data(), dtype);

    const auto [place, isNew] = m_places.try_emplace({contentHash(packed), packed.size()}, 0);
    if (isNew) {
        m_bytes.resize((m_bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
        place->second = m_bytes.size();
        m_bytes.insert(m_bytes.end(), packed.begin(), packed.end());
    }
    return place->second;
}

} // namespace lathe::deploy
