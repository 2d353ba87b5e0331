#include "core/graph/flatten.h"

#include "core/graph/op_traits.h"
#include "core/graph/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace lathe::graph {
namespace {

class Flattener
{
public:
    Result<Graph> run(const Graph& graph)
    {
        m_result.name = graph.name;
        std::vector<ValueId> ids(graph.values.size());
        for (const ValueId input : graph.inputs) {
            ids[static_cast<std::size_t>(input.value)] = copyOf(graph.value(input));
            m_result.inputs.push_back(ids[static_cast<std::size_t>(input.value)]);
        }
        addNodes(graph, ids, -1);
        for (const ValueId output : graph.outputs)
            m_result.outputs.push_back(mapped(graph, ids, output));
        m_result.outputNames = graph.outputNames;
        for (const OutputExtent& extent : graph.outputExtents)
            m_result.outputExtents.push_back({extent.output, extent.axis, mapped(graph, ids, extent.count)});
        LATHE_TRY(verify(m_result));
        return std::move(m_result);
    }

private:
    using Ids = std::vector<ValueId>; ///< of the flat form, by value of one graph; invalid: not there yet

    ValueId copyOf(const Value& value)
    {
        m_result.values.push_back(value);
        m_result.values.back().producer = NodeId();
        return ValueId(static_cast<std::int64_t>(m_result.values.size()) - 1);
    }

    ValueId mapped(const Graph& graph, Ids& ids, ValueId id)
    {
        if (!id.valid())
            return {};
        ValueId& place = ids[static_cast<std::size_t>(id.value)];
        if (!place.valid()) // results of nodes, and constants
            place = copyOf(graph.value(id));
        return place;
    }

    Ids mapped(const Graph& graph, Ids& ids, const std::vector<ValueId>& wanted)
    {
        Ids result;
        for (const ValueId id : wanted)
            result.push_back(mapped(graph, ids, id));
        return result;
    }

    /// Nodes of bodies may be called as others are.
    std::string uniqueName(const std::string& wanted)
    {
        std::string name = wanted;
        for (int i = 1; !m_names.insert(name).second; ++i)
            name = fmt::format("{}_{}", wanted, i);
        return name;
    }

    NodeId append(Node node, std::int32_t region)
    {
        node.name = uniqueName(node.name);
        node.region = region;
        return m_result.addNode(std::move(node));
    }

    /// Nodes of a loop's body that put what is the same in each iteration in another order of dimensions: passes leave
    /// them where it is read. Which they are.
    std::vector<bool> addInvariants(const Graph& body, Ids& ids, const Ids& changing, std::int32_t region)
    {
        std::vector<bool> added(body.nodes.size(), false);
        const auto isInvariant = [&](ValueId id) {
            const ValueId place = id.valid() ? ids[static_cast<std::size_t>(id.value)] : id;
            return place.valid() ? std::ranges::find(changing, place) == changing.end()
                                 : id.valid() && body.value(id).constant;
        };
        for (std::size_t i = 0; i < body.nodes.size(); ++i) {
            const Node& node = body.nodes[i];
            added[i] = traitsOf(node).layout == LayoutRule::Transpose && std::ranges::all_of(node.inputs, isInvariant);
            if (added[i])
                addNode(body, ids, node, region);
        }
        return added;
    }

    void addNode(const Graph& graph, Ids& ids, const Node& node, std::int32_t region)
    {
        Node copy = node;
        copy.inputs = mapped(graph, ids, node.inputs);
        copy.outputs = mapped(graph, ids, node.outputs);
        append(std::move(copy), region);
    }

    /// `done`, if there is any: those that are there already.
    void addNodes(const Graph& graph, Ids& ids, std::int32_t region, const std::vector<bool>& done = {})
    {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const Node& node = graph.nodes[i];
            if (!done.empty() && done[i])
                continue;
            switch (traitsOf(node).control) {
            case Control::If: addIf(graph, ids, node, region); continue;
            case Control::Loop: addLoop(graph, ids, node, region); continue;
            default: break;
            }
            addNode(graph, ids, node, region);
        }
    }

    std::int32_t addRegion(Region region)
    {
        m_result.regions.push_back(region);
        return static_cast<std::int32_t>(m_result.regions.size()) - 1;
    }

    void addIf(const Graph& graph, Ids& ids, const Node& node, std::int32_t region)
    {
        const Ids inputs = mapped(graph, ids, node.inputs);
        Node begin{node.name, "branch_begin", {}, {inputs[0]}, {}, node.origin};
        const ValueId taken = copyOf(m_result.value(inputs[0]));
        m_result.value(taken).name = node.name + ":taken";
        m_result.value(taken).constant = nullptr;
        begin.outputs = {taken};
        const NodeId first = append(std::move(begin), region);
        Node end{node.name + "_end", "branch_end", {}, {taken}, mapped(graph, ids, node.outputs), node.origin};
        std::vector<std::int32_t> regions;
        for (std::size_t k = 0; k < node.bodies.size(); ++k) {
            const Graph& body = *node.bodies[k];
            regions.push_back(
                addRegion({k == 0 ? Region::Kind::WhenTrue : Region::Kind::WhenFalse, region, first, {}}));
            Ids inside(body.values.size());
            for (std::size_t i = 0; i < body.inputs.size(); ++i)
                inside[static_cast<std::size_t>(body.inputs[i].value)] = inputs[1 + i];
            addNodes(body, inside, regions.back());
            const Ids results = mapped(body, inside, body.outputs);
            end.inputs.insert(end.inputs.end(), results.begin(), results.end());
        }
        const NodeId last = append(std::move(end), region);
        for (const std::int32_t r : regions)
            m_result.regions[static_cast<std::size_t>(r)].end = last;
    }

    void addLoop(const Graph& graph, Ids& ids, const Node& node, std::int32_t region)
    {
        const Graph& body = *node.bodies[0];
        const Ids inputs = mapped(graph, ids, node.inputs);
        const auto carried = static_cast<std::size_t>(attrInt(node, "carried", 0));
        const auto captured = inputs.begin() + 2 + static_cast<std::ptrdiff_t>(carried);
        Node begin{node.name, "loop_begin", {}, {inputs.begin(), captured}, {}, node.origin};
        Ids inside(body.values.size());
        for (std::size_t i = 0; i < body.inputs.size(); ++i) {
            ValueId& place = inside[static_cast<std::size_t>(body.inputs[i].value)];
            if (i < 2 + carried)
                begin.outputs.push_back(place = copyOf(body.value(body.inputs[i])));
            else
                place = inputs[i];
        }
        const ValueId iteration = begin.outputs[0];
        const std::vector<bool> hoisted = addInvariants(body, inside, begin.outputs, region);
        Region added{
            Region::Kind::Loop, region, append(std::move(begin), region), {}, knownTrips(graph, node).value_or(1)};
        const std::int32_t index = addRegion(added);
        addNodes(body, inside, index, hoisted);
        Node end{node.name + "_end", "loop_end", node.attrs, {iteration}, mapped(graph, ids, node.outputs),
                 node.origin};
        const Ids results = mapped(body, inside, body.outputs);
        end.inputs.insert(end.inputs.end(), results.begin(), results.end());
        m_result.regions[static_cast<std::size_t>(index)].end = append(std::move(end), region);
    }

    Graph m_result;
    std::unordered_set<std::string> m_names;
};

/// Without what bodies capture and do not use: in the flat form nothing would read it.
Result<Graph> withoutUnusedCaptures(Graph graph)
{
    for (Node& node : graph.nodes) {
        if (node.bodies.empty())
            continue;
        std::vector<Graph> bodies;
        for (const auto& body : node.bodies) {
            LATHE_TRY_ASSIGN(Graph inside, withoutUnusedCaptures(*body));
            bodies.push_back(std::move(inside));
        }
        const bool isLoop = traitsOf(node).control == Control::Loop;
        const std::size_t own = isLoop ? 2 + static_cast<std::size_t>(attrInt(node, "carried", 0)) : 1;
        const std::size_t ofBody = isLoop ? own : 0; // where a body's captured values begin
        for (std::size_t i = node.inputs.size(); i-- > own;) {
            const auto place = static_cast<std::ptrdiff_t>(i - own + ofBody);
            const auto uses = [place](const Graph& body) {
                return useCounts(body)[static_cast<std::size_t>(body.inputs[static_cast<std::size_t>(place)].value)]
                       > 0;
            };
            if (std::ranges::any_of(bodies, uses))
                continue;
            node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(i));
            for (Graph& body : bodies)
                body.inputs.erase(body.inputs.begin() + place);
        }
        for (std::size_t k = 0; k < bodies.size(); ++k)
            node.bodies[k] = std::make_shared<const Graph>(std::move(bodies[k]));
    }
    return compact(graph);
}

} // namespace

Result<Graph> flatten(Graph graph)
{
    LATHE_TRY(verify(graph));
    bool isFlat = true;
    for (const Node& node : graph.nodes)
        isFlat = isFlat && node.bodies.empty();
    if (isFlat)
        return graph;
    LATHE_TRY_ASSIGN(const Graph used, withoutUnusedCaptures(std::move(graph)));
    return Flattener().run(used);
}

std::optional<std::int64_t> knownTrips(const Graph& graph, const Node& loop)
{
    const Graph& body = *loop.bodies[0];
    const Value& trips = graph.value(loop.inputs[0]);
    const bool counts = trips.constant && isTrue(graph.value(loop.inputs[1]))
                        && (isTrue(body.value(body.outputs[0])) || body.outputs[0] == body.inputs[1]);
    const auto number = counts ? contentsOf(*trips.constant) : Result<ConstBytes>(ConstBytes());
    std::int64_t count = 0;
    if (!number || number->bytes.size() != sizeof count)
        return {};
    std::memcpy(&count, number->bytes.data(), sizeof count);
    constexpr std::int64_t kEndless = std::int64_t{1} << 31; // what stands where there is no number
    return count > 0 && count < kEndless ? std::optional(count) : std::nullopt;
}

bool isInside(const Graph& graph, std::int32_t region, std::int32_t outer)
{
    while (region != outer && region >= 0)
        region = graph.regions[static_cast<std::size_t>(region)].parent;
    return region == outer;
}

std::int64_t runsOf(const Graph& graph, std::int32_t region)
{
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    std::int64_t runs = 1;
    for (; region >= 0; region = graph.regions[static_cast<std::size_t>(region)].parent)
        runs = std::min(kMost, runs * graph.regions[static_cast<std::size_t>(region)].trips);
    return runs;
}

} // namespace lathe::graph
