#pragma once

#include "core/support/message.h"
#include "core/support/result.h"

#include <cstddef>
#include <string>
#include <vector>

namespace lathe::frontend::onnx_detail {

/// What Lathe lacks, with the nodes that need it, in the order of discovery.
class Missing
{
public:
    void add(const Message& what, const std::string& node);
    bool empty() const { return m_entries.empty(); }
    Error error() const; ///< Unsupported: one sentence

private:
    struct Entry
    {
        std::string text; ///< of what is missing
        Message what;
        std::vector<std::string> nodes; ///< quoted
        std::size_t count;
    };
    std::vector<Entry> m_entries;
};

} // namespace lathe::frontend::onnx_detail
