#include "core/deploy/derived_constants.h"

#include "core/compute/interpret.h"

#include <fmt/format.h>

namespace lathe::deploy {

namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

} // namespace

Result<DerivedConstants::Bytes> DerivedConstants::of(const graph::Value& value, const compute::DagPtr& recipe)
{
    const std::pair<const void*, const void*> key(value.constant.get(), recipe.get());
    if (const auto known = m_known.find(key); known != m_known.end())
        return known->second.bytes;
    LATHE_TRY_ASSIGN(const graph::ConstBytes held, contentsOf(*value.constant));
    LATHE_TRY_ASSIGN(const compute::Interpreter interpreter, compute::Interpreter::compile(recipe));
    const std::span<const std::byte> inputs[] = {held.bytes};
    LATHE_TRY_ASSIGN(std::vector<std::vector<std::byte>> outputs, interpreter.run(inputs));
    LATHE_TRY(graph::stillThere(*value.constant));
    if (outputs.size() != 1)
        return makeError(Errc::Internal,
                         fmt::format("the recipe for constant '{}' has {} outputs", value.name, outputs.size()));
    auto bytes = std::make_shared<const std::vector<std::byte>>(std::move(outputs[0]));
    if (m_size + bytes->size() > kMostBytes) {
        m_known.clear();
        m_size = 0;
    }
    m_size += bytes->size();
    m_known[key] = {value.constant, recipe, bytes};
    return bytes;
}

} // namespace lathe::deploy
