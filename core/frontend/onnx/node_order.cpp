#include "core/frontend/onnx/node_order.h"

#include "core/frontend/onnx/schema.h"
#include "core/support/message.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

namespace lathe::frontend::onnx_detail {
namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;

/// Names that belong to the bodies around a node, and to how many of them each does.
using OpenNames = std::unordered_map<std::string_view, int>;

/// Makes the names of a body known while it exists. The body outlives it.
class OpenBodyNames
{
public:
    OpenBodyNames(const GraphProto& body, OpenNames& names)
        : m_body(body)
        , m_names(names)
    {
        each([this](const std::string& name) { ++m_names[name]; });
    }
    ~OpenBodyNames()
    {
        each([this](const std::string& name) {
            if (const auto found = m_names.find(name); --found->second == 0)
                m_names.erase(found);
        });
    }
    OpenBodyNames(const OpenBodyNames&) = delete;
    OpenBodyNames& operator=(const OpenBodyNames&) = delete;

private:
    template<typename Do>
    void each(Do what) const
    {
        for (const auto& input : m_body.input())
            what(input.name());
        for (const auto& initializer : m_body.initializer())
            what(initializer.name());
        for (const NodeProto& inner : m_body.node())
            for (const std::string& output : inner.output())
                what(output);
    }

    const GraphProto& m_body;
    OpenNames& m_names;
};

/// Adds what the node's bodies read from around them. `own`: names that belong to bodies around the node.
void addReadsOfBodies(const NodeProto& node, OpenNames& own, int depth, std::vector<const std::string*>& reads)
{
    if (depth > graph::kDeepestBodies) // is refused when it is read
        return;
    for (const auto& attribute : node.attribute()) {
        if (!attribute.has_g())
            continue;
        const GraphProto& body = attribute.g();
        const OpenBodyNames open(body, own);
        const auto read = [&](const std::string& name) {
            if (!own.contains(name))
                reads.push_back(&name);
        };
        for (const NodeProto& inner : body.node()) {
            for (const std::string& name : inner.input())
                read(name);
            addReadsOfBodies(inner, own, depth + 1, reads);
        }
        for (const auto& output : body.output())
            read(output.name());
    }
}

} // namespace

std::string labelOf(const NodeProto& node, int index)
{
    return node.name().empty() ? fmt::format("{}_{}", node.op_type(), index) : node.name();
}

Result<std::vector<int>> orderOf(const GraphProto& graph, const Builder& builder,
                                 const std::unordered_set<std::string>& unknown, const std::string& prefix)
{
    std::unordered_map<std::string, int> producers;
    for (int i = 0; i < graph.node_size(); ++i) {
        for (const std::string& output : graph.node(i).output()) {
            if (output.empty())
                continue;
            if (!producers.emplace(output, i).second || builder.knows(output))
                return makeError(Errc::BadFile,
                                 say(Msg::ValueDefinedTwiceBy, output, prefix + labelOf(graph.node(i), i)));
        }
    }
    enum class Mark : std::uint8_t
    {
        Unseen,
        Open,
        Done
    };
    struct Visit // an explicit stack of them, for chains may be very long
    {
        int index;
        std::vector<const std::string*> inner; ///< read by bodies
        std::size_t next = 0; ///< of the inputs, then of those
    };
    std::vector<Mark> marks(static_cast<std::size_t>(graph.node_size()), Mark::Unseen);
    std::vector<int> order;
    std::vector<Visit> stack;
    OpenNames own;
    const auto visit = [&](int index) {
        marks[static_cast<std::size_t>(index)] = Mark::Open;
        stack.push_back({index, {}, 0});
        addReadsOfBodies(graph.node(index), own, 0, stack.back().inner);
    };
    for (int root = 0; root < graph.node_size(); ++root) {
        if (marks[static_cast<std::size_t>(root)] != Mark::Unseen)
            continue;
        visit(root);
        while (!stack.empty()) {
            Visit& top = stack.back();
            const NodeProto& node = graph.node(top.index);
            const auto inputs = static_cast<std::size_t>(node.input_size());
            if (top.next == inputs + top.inner.size()) {
                marks[static_cast<std::size_t>(top.index)] = Mark::Done;
                order.push_back(top.index);
                stack.pop_back();
                continue;
            }
            const bool isInner = top.next >= inputs;
            const std::string& name = isInner ? *top.inner[top.next - inputs] : node.input(static_cast<int>(top.next));
            ++top.next;
            if (name.empty() || builder.knows(name) || unknown.contains(name))
                continue;
            const auto producer = producers.find(name);
            if (producer == producers.end()) {
                if (isInner)
                    continue;
                return makeError(Errc::BadFile, say(Msg::ValueNotProduced, prefix + labelOf(node, top.index), name));
            }
            const Mark mark = marks[static_cast<std::size_t>(producer->second)];
            if (mark == Mark::Open)
                return makeError(Errc::BadFile, say(Msg::GraphCycle, prefix + labelOf(node, top.index)));
            if (mark == Mark::Unseen)
                visit(producer->second);
        }
    }
    return order;
}

} // namespace lathe::frontend::onnx_detail
