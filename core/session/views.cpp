#include "core/session/events.h"
#include "core/session/loaded_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lathe::session {

namespace {

std::string attrText(const graph::Attr& attr)
{
    struct Printer
    {
        std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
        std::string operator()(double v) const { return fmt::format("{}", v); }
        std::string operator()(const std::string& v) const { return v; }
        std::string operator()(const std::vector<std::int64_t>& v) const
        {
            return fmt::format("[{}]", fmt::join(v, ", "));
        }
        std::string operator()(const std::vector<double>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
        std::string operator()(const std::vector<std::string>& v) const
        {
            return fmt::format("[{}]", fmt::join(v, ", "));
        }
    };
    return std::visit(Printer{}, attr);
}

TensorView viewValue(const graph::Graph& g, graph::ValueId id)
{
    const graph::Value& value = g.value(id);
    TensorView view{value.name, toString(value.dtype), value.shape};
    for (const graph::OutputExtent& extent : g.outputExtents)
        if (g.outputs[static_cast<std::size_t>(extent.output)] == id)
            view.dynamicAxes.push_back(extent.axis);
    if (value.constant == nullptr)
        return view;
    view.constant = static_cast<std::int32_t>(id.value);
    view.derived = value.provenance != nullptr;
    if (view.derived) {
        view.sources = value.provenance->sources;
        view.steps = value.provenance->steps;
    }
    return view;
}

} // namespace

std::shared_ptr<const GraphView> viewGraph(const LoadedModel& model)
{
    const graph::Graph& g = model.graph;
    auto view = std::make_shared<GraphView>();
    view->name = g.name;
    for (const graph::ValueId id : g.inputs)
        view->inputs.push_back(viewValue(g, id));
    for (const graph::ValueId id : g.outputs)
        view->outputs.push_back(viewValue(g, id));
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
        const graph::Node& node = g.nodes[i];
        NodeView n;
        n.id = static_cast<std::int32_t>(i);
        n.name = node.name;
        n.origin = node.origin;
        n.op = node.op;
        for (const auto& [key, attr] : node.attrs)
            n.attributes.emplace_back(key, attrText(attr));
        for (const graph::ValueId id : node.inputs) {
            if (!id.valid())
                continue;
            const graph::Value& value = g.value(id);
            n.inputs.push_back(viewValue(g, id));
            if (value.constant == nullptr)
                view->edges.push_back({value.producer.value, n.id, viewValue(g, id)});
        }
        for (const graph::ValueId id : node.outputs)
            n.outputs.push_back(viewValue(g, id));
        view->nodes.push_back(std::move(n));
    }
    for (std::size_t i = 0; i < g.outputs.size(); ++i) {
        const graph::Value& value = g.value(g.outputs[i]);
        view->edges.push_back({value.producer.value, -1, viewValue(g, g.outputs[i])});
        view->edges.back().tensor.name = g.outputName(i);
    }
    for (std::size_t s = 0; s < model.partition.subgraphs.size(); ++s) {
        const graph::Subgraph& subgraph = model.partition.subgraphs[s];
        for (const graph::NodeId id : subgraph.nodes) {
            NodeView& n = view->nodes[static_cast<std::size_t>(id.value)];
            n.subgraph = static_cast<std::int32_t>(s);
            n.task = subgraph.task;
            n.reason = subgraph.reason;
            n.about = subgraph.about;
        }
    }
    return view;
}

namespace {

double bytesOf(const graph::TensorType& type)
{
    auto bytes = static_cast<double>(sizeOf(type.dtype));
    for (const std::int64_t extent : type.shape)
        bytes *= static_cast<double>(extent);
    return bytes;
}

} // namespace

std::vector<TaskView> viewTasks(const LoadedModel& model)
{
    std::vector<TaskView> views;
    for (const graph::Task& task : model.partition.tasks) {
        TaskView v;
        v.id = static_cast<std::int32_t>(views.size());
        v.key = task.key;
        v.name = task.name;
        v.description = task.description;
        v.weight = task.weight;
        v.inBranch = task.inBranch;
        v.inLoop = task.inLoop;
        v.flop = task.flop;
        for (const graph::TaskInput& input : task.inputs) {
            v.bytes += bytesOf(input.type);
            v.weightBytes += input.constant ? bytesOf(input.type) : 0;
        }
        for (const graph::TensorType& output : task.outputs)
            v.bytes += bytesOf(output);
        for (const graph::TaskInput& input : task.inputs)
            v.inputs.push_back({input.value.valid() ? model.graph.value(input.value).name : std::string(),
                                toString(input.type.dtype), input.type.shape});
        for (const graph::TensorType& output : task.outputs)
            v.outputs.push_back({"", toString(output.dtype), output.shape});
        for (const graph::Alternative& alternative : task.alternatives)
            v.alternatives.push_back(alternative.name);
        std::set<std::int32_t> nodes;
        for (const auto& occurrence : task.occurrences)
            for (const graph::NodeId id : occurrence)
                nodes.insert(id.value);
        v.nodes.assign(nodes.begin(), nodes.end());
        if (task.flat)
            v.workloads["flat"] = {task.flat->key, task.flat->dag, task.flat->hashed};
        if (task.nested)
            v.workloads["nested"] = {task.nested->key, task.nested->dag, task.nested->hashed};
        if (task.hash)
            v.workloads["hash"] = {task.hash->key, task.hash->dag, task.hash->hashed};
        views.push_back(std::move(v));
    }
    return views;
}

std::vector<UntunedView> viewUntuned(const LoadedModel& model)
{
    std::vector<UntunedView> views;
    for (const graph::Subgraph& subgraph : model.partition.subgraphs)
        if (subgraph.task < 0)
            views.push_back({subgraph.name, subgraph.reason, subgraph.about});
    return views;
}

bool isActive(RunState state)
{
    return state != RunState::Idle && state != RunState::Stopped && state != RunState::Finished
           && state != RunState::Failed;
}

std::string_view toString(RunState state)
{
    static constexpr std::string_view kNames[] = {"idle",     "starting", "running",  "pausing", "paused",
                                                  "stopping", "stopped",  "finished", "failed"};
    return kNames[static_cast<std::size_t>(state)];
}

} // namespace lathe::session
