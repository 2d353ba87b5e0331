#pragma once

#include "core/graph/graph.h"
#include "core/graph/task.h"
#include "core/runtime/index_map.h"
#include "core/support/hash.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lathe::deploy {

/// The weights section: constants as the kernels want them, each once.
class ConstantPool
{
public:
    /// Offset of `value` (a constant) after `recipe` (null: none), packed by `map`.
    /// Errors: Internal if shapes do not fit, those of the recipe's interpreter.
    Result<std::uint64_t> add(const graph::Value& value, const compute::DagPtr& recipe, const IndexMap& map, DType dtype);

    std::vector<std::byte> take() && { return std::move(m_bytes); }
    std::uint64_t bytes() const { return m_bytes.size(); }

private:
    std::vector<std::byte> m_bytes;
    std::map<std::pair<Hash128, std::uint64_t>, std::uint64_t> m_places; ///< by contents and size
    /// Results of recipes, which are expensive, by constant and recipe.
    std::map<std::pair<const std::byte*, const void*>, std::vector<std::byte>> m_derived;
};

} // namespace lathe::deploy
