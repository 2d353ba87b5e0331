#pragma once

#include "core/deploy/derived_constants.h"
#include "core/deploy/section_file.h"
#include "core/graph/graph.h"
#include "core/graph/task.h"
#include "core/runtime/index_map.h"
#include "core/support/hash.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lathe::deploy {

/// The weights section: constants as the kernels want them, each once.
class ConstantPool
{
public:
    /// What outgrows `mostInMemory` bytes goes to the file `spill`; an empty path: everything stays in memory.
    /// `derived` is shared by a caller that makes several libraries; null: it is not shared.
    ConstantPool(std::filesystem::path spill, std::uint64_t mostInMemory, std::shared_ptr<DerivedConstants> derived)
        : m_spill(std::move(spill))
        , m_mostInMemory(mostInMemory)
        , m_derived(derived ? std::move(derived) : std::make_shared<DerivedConstants>())
    {
    }

    /// Offset of `value` (a constant) after `recipe` (null: none), packed by `map`.
    /// Errors: Internal if shapes do not fit, those of the recipe's interpreter, StoreFailed.
    Result<std::uint64_t> add(const graph::Value& value, const compute::DagPtr& recipe, const IndexMap& map,
                              DType dtype);

    /// The section, unless it is in the file.
    std::vector<std::byte> take() && { return std::move(m_bytes); }
    std::uint64_t bytes() const { return m_size; }
    bool inFile() const { return m_file.isOpen(); }

private:
    Result<std::uint64_t> append(std::span<const std::byte> packed);

    std::filesystem::path m_spill;
    std::uint64_t m_mostInMemory;
    std::vector<std::byte> m_bytes;
    SectionFile m_file;
    std::uint64_t m_size = 0;
    std::map<std::pair<Hash128, std::uint64_t>, std::uint64_t> m_places; ///< by contents and size
    std::shared_ptr<DerivedConstants> m_derived;
};

} // namespace lathe::deploy
