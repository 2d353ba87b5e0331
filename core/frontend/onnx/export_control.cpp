// How operators with bodies are spelt in ONNX. A body of ours takes what it captures as arguments; ONNX's sees the
// names around it.
//
// The rows of a loop that ends sooner are zeros in ours, so that they have one size; ONNX's stop. Where it matters,
// such rows are written into a tensor of zeros that the loop carries. A network's output that is told to be as long as
// the loop ran is what ONNX gives. The number of iterations, which ONNX does not tell, is carried and counted, too.

#include "core/frontend/onnx/exporter.h"
#include "core/graph/flatten.h"

#include <algorithm>

namespace lathe::frontend::onnx_detail {
namespace {

using graph::attrInt;
using graph::Graph;
using graph::Node;
using graph::ValueId;
using Ints = std::vector<std::int64_t>;
using Strings = std::vector<std::string>;

bool isRead(const Graph& graph, ValueId id)
{
    return graph.isResult(id) || std::ranges::any_of(graph.nodes, [id](const Node& node) {
               return std::ranges::find(node.inputs, id) != node.inputs.end();
           });
}

/// The names of a node's inputs from `first` on, as far as its bodies read them.
Strings capturedBy(Writer& w, const Node& node, std::size_t first, std::size_t firstArgument)
{
    Strings names;
    for (std::size_t i = first; i < node.inputs.size(); ++i) {
        const std::size_t argument = firstArgument + i - first;
        const bool isWanted = std::ranges::any_of(
            node.bodies, [&](const auto& body) { return isRead(*body, body->inputs[argument]); });
        names.push_back(isWanted ? w.input(node.inputs[i]) : std::string());
    }
    return names;
}

NodeWriter writeNode(Writer& w, std::string_view op, const Strings& inputs, const Strings& outputs)
{
    NodeWriter writer = w.node(op, inputs, outputs[0]);
    for (std::size_t i = 1; i < outputs.size(); ++i)
        writer.output(outputs[i]);
    return writer;
}

void addResult(Writer& inner, ValueId id)
{
    const graph::Value& value = inner.value(id);
    inner.addResult(inner.input(id), value.dtype, value.shape);
}

Result<> exportIf(Writer& w, const Node& node)
{
    const std::string condition = w.input(node.inputs[0]);
    const Strings captured = capturedBy(w, node, 1, 0);
    Strings outputs;
    for (const ValueId id : node.outputs)
        outputs.push_back(w.outputName(id));
    if (outputs.empty()) // nobody could tell whether it ran
        return {};
    NodeWriter writer = writeNode(w, "If", {condition}, outputs);
    for (std::size_t k = 0; k < 2; ++k) {
        const Graph& body = *node.bodies[k];
        ::onnx::GraphProto& proto = writer.graph(k == 0 ? "then_branch" : "else_branch");
        proto.set_name(node.name + (k == 0 ? "_then" : "_else"));
        Writer inner(w, body, proto);
        for (std::size_t i = 0; i < captured.size(); ++i)
            inner.setName(body.inputs[i], captured[i]);
        LATHE_TRY(inner.addNodes());
        inner.begin(node.name);
        for (const ValueId id : body.outputs)
            addResult(inner, id);
    }
    return {};
}

class LoopExport
{
public:
    LoopExport(Writer& w, const Node& node)
        : m_w(w)
        , m_node(node)
        , m_body(*node.bodies[0])
        , m_carried(static_cast<std::size_t>(attrInt(node, "carried", 0)))
        , m_count(node.outputs.back())
        , m_isCounted(isRead(w.graph(), m_count))
    {
        const auto trips = graph::knownTrips(w.graph(), node);
        const bool isFull = trips && *trips == attrInt(node, "most", -1); // all rows are written
        for (std::size_t k = m_carried; k + 1 < node.outputs.size(); ++k) {
            Row row{node.outputs[k], m_body.outputs[1 + k]};
            row.isStacked = isFull || isSized(row.whole);
            row.isPlaced = !isFull && isReadWhole(row.whole);
            m_rows.push_back(row);
        }
    }

    Result<> write()
    {
        Strings inputs{m_w.input(m_node.inputs[0]), m_w.input(m_node.inputs[1])}, outputs;
        for (std::size_t i = 0; i < m_carried; ++i) {
            inputs.push_back(m_w.input(m_node.inputs[2 + i]));
            outputs.push_back(m_w.outputName(m_node.outputs[i]));
        }
        const Strings captured = capturedBy(m_w, m_node, 2 + m_carried, 2 + m_carried);
        std::string count;
        if (m_isCounted) {
            inputs.push_back(m_w.intsInput({0}));
            outputs.push_back(count = m_w.fresh(m_node.name + "_count"));
        }
        for (const Row& row : m_rows) {
            if (!row.isPlaced)
                continue;
            const graph::Value& value = m_w.value(row.whole);
            inputs.push_back(m_w.step("Expand", {m_w.zeroInput(value.dtype), m_w.intsInput(value.shape)}));
            outputs.push_back(m_w.outputName(row.whole));
        }
        for (const Row& row : m_rows) {
            if (!row.isStacked)
                continue;
            const bool isSizedAlone = isSized(row.whole);
            outputs.push_back(isSizedAlone ? m_w.fresh(m_w.value(row.whole).name + "_rows")
                                           : m_w.outputName(row.whole));
            if (isSizedAlone)
                m_w.setSized(row.whole, m_count, outputs.back());
        }
        if (outputs.empty())
            return {};
        NodeWriter writer = writeNode(m_w, "Loop", inputs, outputs);
        LATHE_TRY(writeBody(writer.graph("body"), captured));
        if (m_isCounted)
            m_w.node("Reshape", {count, m_w.intsInput(m_w.value(m_count).shape)}, m_w.outputName(m_count));
        return {};
    }

private:
    struct Row
    {
        ValueId whole, row; ///< in the graph, in the body
        bool isStacked = false; ///< by ONNX's loop
        bool isPlaced = false; ///< by the body, into what is carried
    };

    /// An output of the network that is as long as the loop ran.
    bool isSized(ValueId id) const
    {
        const Graph& graph = m_w.graph();
        for (std::size_t i = 0; i < graph.outputs.size(); ++i)
            if (graph.outputs[i] == id && isSizedOutput(i))
                return true;
        return false;
    }
    bool isSizedOutput(std::size_t output) const
    {
        const auto& extents = m_w.graph().outputExtents;
        const auto isOf = [output](const graph::OutputExtent& e) {
            return static_cast<std::size_t>(e.output) == output;
        };
        const auto found = std::ranges::find_if(extents, isOf);
        return found != extents.end() && found->axis == 0 && found->count == m_count
               && std::ranges::count_if(extents, isOf) == 1;
    }
    bool isReadWhole(ValueId id) const
    {
        const Graph& graph = m_w.graph();
        for (std::size_t i = 0; i < graph.outputs.size(); ++i)
            if (graph.outputs[i] == id && !isSizedOutput(i))
                return true;
        return std::ranges::any_of(
            graph.nodes, [id](const Node& node) { return std::ranges::find(node.inputs, id) != node.inputs.end(); });
    }

    Result<> writeBody(::onnx::GraphProto& proto, const Strings& captured)
    {
        proto.set_name(m_node.name + "_body");
        Writer inner(m_w, m_body, proto);
        for (std::size_t i = 0; i < 2 + m_carried; ++i) {
            const graph::Value& value = m_body.value(m_body.inputs[i]);
            inner.addArgument(inner.outputName(m_body.inputs[i]), value.dtype, value.shape);
        }
        const std::string iteration = inner.input(m_body.inputs[0]);
        const auto argument = [&](const char* what, DType dtype, const Ints& shape) {
            std::string name = inner.fresh(m_node.name + what);
            inner.addArgument(name, dtype, shape);
            return name;
        };
        const std::string count = m_isCounted ? argument("_counted", DType::I64, {1}) : std::string();
        Strings placed;
        for (const Row& row : m_rows)
            if (row.isPlaced)
                placed.push_back(argument("_placed", m_w.value(row.whole).dtype, m_w.value(row.whole).shape));
        for (std::size_t i = 0; i < captured.size(); ++i)
            inner.setName(m_body.inputs[2 + m_carried + i], captured[i]);
        LATHE_TRY(inner.addNodes());
        inner.begin(m_node.name);
        for (std::size_t i = 0; i < 1 + m_carried; ++i)
            addResult(inner, m_body.outputs[i]);
        if (m_isCounted)
            inner.addResult(inner.step("Add", {count, inner.intsInput({1})}), DType::I64, {1});
        std::size_t next = 0;
        for (const Row& row : m_rows) {
            if (!row.isPlaced)
                continue;
            const graph::Value& whole = m_w.value(row.whole);
            Ints one = whole.shape;
            one[0] = 1;
            const std::string place = inner.reshape(iteration, {1, 1});
            const std::string update = inner.reshape(inner.input(row.row), one);
            inner.addResult(inner.step("ScatterND", {placed[next++], place, update}), whole.dtype, whole.shape);
        }
        for (const Row& row : m_rows)
            if (row.isStacked)
                addResult(inner, row.row);
        return {};
    }

    Writer& m_w;
    const Node& m_node;
    const Graph& m_body;
    std::size_t m_carried;
    ValueId m_count;
    bool m_isCounted;
    std::vector<Row> m_rows;
};

Result<> exportLoop(Writer& w, const Node& node)
{
    return LoopExport(w, node).write();
}

} // namespace

NodeExporter findControlExporter(std::string_view op)
{
    return op == "if" ? exportIf : op == "loop" ? exportLoop : nullptr;
}

} // namespace lathe::frontend::onnx_detail
