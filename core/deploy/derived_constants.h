#pragma once

#include "core/graph/graph.h"
#include "core/graph/task.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace lathe::deploy {

/// A cache of what recipes compute from constants, above all winograd's transformed weights. Recipes are interpreted,
/// which takes seconds for a network; libraries that are made one after another share the results. Holds at most
/// 256 MiB. Threads: one at a time.
class DerivedConstants
{
public:
    using Bytes = std::shared_ptr<const std::vector<std::byte>>;

    /// Errors: those of the constant's file and of the interpreter, Internal if the recipe makes not exactly one
    /// tensor.
    Result<Bytes> of(const graph::Value& value, const compute::DagPtr& recipe);

private:
    struct Entry
    {
        std::shared_ptr<const graph::ConstData> constant; ///< kept alive: else another one might get its address
        compute::DagPtr recipe;
        Bytes bytes;
    };
    std::map<std::pair<const void*, const void*>, Entry> m_known; ///< by addresses of constant and recipe
    std::size_t m_size = 0;
};

} // namespace lathe::deploy
