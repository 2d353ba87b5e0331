#include "core/frontend/onnx/missing.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

constexpr std::size_t kMaxNamed = 50; ///< nodes that a message lists for one unsupported thing

} // namespace

void Missing::add(const Message& what, const std::string& node)
{
    const std::string text = textOf(what);
    auto found = std::ranges::find(m_entries, text, &Entry::text);
    if (found == m_entries.end())
        found = m_entries.insert(m_entries.end(), {text, what, {}, 0});
    found->count += 1;
    if (found->nodes.size() < kMaxNamed)
        found->nodes.push_back(fmt::format("\"{}\"", node.substr(0, 100)));
}

Error Missing::error() const
{
    std::vector<Message> problems;
    for (const Entry& entry : m_entries) {
        const std::size_t more = entry.count - entry.nodes.size();
        problems.push_back(more > 0          ? say(Msg::NeededByMoreNodes, entry.what, entry.nodes, more)
                           : entry.count > 1 ? say(Msg::NeededByNodes, entry.what, entry.nodes)
                                             : say(Msg::NeededByNode, entry.what, entry.nodes));
    }
    return makeError(Errc::Unsupported, say(Msg::ModelNeeds, std::move(problems)));
}

} // namespace lathe::frontend::onnx_detail
