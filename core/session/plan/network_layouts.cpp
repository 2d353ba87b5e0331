#include "core/session/plan/network_layouts.h"

#include "core/session/exports/applied_logs.h"
#include "core/session/plan/default_figure.h"
#include "core/session/plan/network_plan.h"
#include "core/session/plan/plan_log.h"
#include "core/support/message.h"

#include <algorithm>
#include <utility>

namespace lathe::session {

using namespace graph::plan;

namespace {

constexpr double kMs = 1e3;

void addOnce(std::vector<std::string>& choices, const Layout& layout)
{
    if (std::string text = layout.text(); std::find(choices.begin(), choices.end(), text) == choices.end())
        choices.push_back(std::move(text));
}

/// The layouts that `side` has of a node's candidates; none for a boundary.
std::vector<std::string> layoutsOf(const LayoutProblem& problem, std::int32_t node, Layout LayoutCandidate::*side)
{
    std::vector<std::string> layouts;
    if (node >= 0)
        for (const LayoutCandidate& candidate : problem.candidates[static_cast<std::size_t>(node)])
            addOnce(layouts, candidate.*side);
    return layouts;
}

/// What both ends can be, as planPinned() takes wishes.
std::vector<std::string> choicesOf(const LayoutProblem& problem, const LayoutEdge& edge)
{
    std::vector<std::string> writes = layoutsOf(problem, edge.from, &LayoutCandidate::output);
    std::vector<std::string> reads;
    if (edge.reads == Reads::Data)
        reads = layoutsOf(problem, edge.to, &LayoutCandidate::input);
    else if (edge.reads == Reads::Result)
        reads = layoutsOf(problem, edge.to, &LayoutCandidate::output);
    if (writes.empty() || reads.empty())
        return writes.empty() ? reads : writes;
    std::erase_if(writes, [&reads](const std::string& each) {
        return std::find(reads.begin(), reads.end(), each) == reads.end();
    });
    return writes;
}

class PlannedLayouts final : public NetworkLayouts
{
public:
    PlannedLayouts(NetworkPlan plan, const DefaultFigure& defaults, std::shared_ptr<const LoadedModel> model)
        : m_plan(std::move(plan))
        , m_defaults(defaults)
        , m_model(std::move(model))
        , m_view(viewOf(m_plan.plan))
    {
    }

    const LayoutsView& view() const override { return m_view; }

    Result<WishedLayouts> under(const std::vector<LayoutWish>& wishes) const override
    {
        std::vector<Pin> pins;
        for (const LayoutWish& wish : wishes) {
            LATHE_TRY_ASSIGN(Layout layout, Layout::parse(wish.layout));
            pins.push_back({wish.isTensor ? Pin::What::Edge : Pin::What::Node, wish.index, std::move(layout)});
        }
        LATHE_TRY_ASSIGN(const PinnedPlan pinned, planPinned(m_plan.problem, m_plan.plan, pins));
        return WishedLayouts{viewOf(pinned.plan), pinned.difference * kMs, pinned.nodes, pinned.edges};
    }

    Result<std::int64_t> writeLog(const std::filesystem::path& file) const override
    {
        return writePlanLog(m_plan, *m_model, file);
    }

private:
    LayoutsView viewOf(const LayoutPlan& plan) const
    {
        const LayoutGraph& graph = m_plan.problem.graph;
        LayoutsView view;
        for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
            const LayoutNode& node = graph.nodes[n];
            const PlannedNode& planned = plan.nodes[n];
            LayoutFunction function{node.name,
                                    node.subgraph,
                                    node.task,
                                    planned.input.text(),
                                    planned.output.text(),
                                    planned.seconds * kMs,
                                    planned.id,
                                    {}};
            function.choices = layoutsOf(m_plan.problem, static_cast<std::int32_t>(n), &LayoutCandidate::output);
            view.functions.push_back(std::move(function));
        }
        for (std::size_t e = 0; e < graph.edges.size(); ++e) {
            const LayoutEdge& edge = graph.edges[e];
            const PlannedEdge& planned = plan.edges[e];
            view.tensors.push_back({edge.from, edge.to, m_model->graph.value(edge.value).name,
                                    std::string(toString(edge.dtype)), edge.shape, planned.written.text(),
                                    planned.read.text(), planned.seconds * kMs, choicesOf(m_plan.problem, edge)});
        }
        view.totalMs = plan.seconds * kMs;
        view.kernelsMs = plan.kernelSeconds * kMs;
        view.fastestMs = m_plan.fastest.seconds * kMs;
        view.fastestKernelsMs = m_plan.fastest.kernelSeconds * kMs;
        if (m_defaults.missing == 0)
            view.defaultMs = m_defaults.seconds * kMs;
        view.defaultsMissing = m_defaults.missing;
        view.solver = plan.solver == Solver::Pbqp ? "pbqp" : "dp";
        view.optimal = plan.optimal;
        view.guessed = m_plan.guessedConversions;
        view.canMeasure = m_plan.canMeasure;
        return view;
    }

    NetworkPlan m_plan;
    DefaultFigure m_defaults;
    std::shared_ptr<const LoadedModel> m_model;
    LayoutsView m_view;
};

} // namespace

Result<std::shared_ptr<const NetworkLayouts>> chooseNetworkLayouts(std::shared_ptr<const LoadedModel> model,
                                                                   const store::Project* project,
                                                                   const LayoutRequest& request,
                                                                   const std::stop_token& stop)
{
    using Chosen = std::shared_ptr<const NetworkLayouts>;
    LATHE_TRY_ASSIGN(const AppliedLogs logs, recordsOfFiles(*model, request.options));
    LayoutChoice choice = layoutChoiceOf(request.options);
    choice.measures = request.measures;
    choice.told = request.told;
    const bool strict = request.options.strict;
    LATHE_TRY_ASSIGN(auto plan, planNetwork(*model, project, {{}, strict, &logs}, choice, stop));
    if (!plan)
        return Chosen();
    LATHE_TRY_ASSIGN(const DefaultFigure defaults, defaultFigure(*model, project, *plan, strict, stop));
    return Chosen(std::make_shared<PlannedLayouts>(*std::move(plan), defaults, std::move(model)));
}

} // namespace lathe::session
