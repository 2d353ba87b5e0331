#include "ui/views/graph_looks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace lathe::ui {

namespace {

// Okabe and Ito's colours, told apart by colour-blind people; grey is seen on light and dark alike.
const QColor kGrey(0x8a, 0x8d, 0x92);
const QColor kBlue(0x00, 0x72, 0xb2);
const QColor kSky(0x56, 0xb4, 0xe9);
const QColor kGreen(0x00, 0x9e, 0x73);
const QColor kOrange(0xe6, 0x9f, 0x00);
const QColor kVermilion(0xd5, 0x3e, 0x00);
const QColor kPurple(0xcc, 0x79, 0xa7);

constexpr double kHottest = 0.2; // of the whole

QColor shareColor(double share)
{
    return mix(kSky, kVermilion, std::min(1.0, std::sqrt(share / kHottest)));
}

QColor taskColor(int task)
{
    // Hues a golden angle apart: neighbours in the list differ most.
    return QColor::fromHsvF(static_cast<float>(std::fmod(0.58 + task * 0.381966, 1.0)), 0.55F, 0.80F);
}

QString layoutOf(const session::NodeView& node)
{
    for (const auto& [name, value] : node.attributes)
        if (name == "data_layout" || name == "layout")
            return QString::fromStdString(value).remove(QLatin1Char('"'));
    return {};
}

double shareOf(const session::GraphView& graph, const std::vector<int>& nodes,
               const std::vector<GraphTaskFigure>& figures)
{
    std::set<std::pair<int, int>> functions; // (task, function): a fused function counts once
    for (const int node : nodes) {
        const session::NodeView& view = graph.nodes[static_cast<std::size_t>(node)];
        if (view.task >= 0 && view.task < static_cast<int>(figures.size()))
            functions.emplace(view.task, view.subgraph);
    }
    double sum = functions.empty() ? std::nan("") : 0;
    for (const auto& [task, function] : functions)
        sum += figures[static_cast<std::size_t>(task)].share;
    return sum;
}

GraphLook layoutLook(const QString& layout, const QString& text)
{
    if (layout == QStringLiteral("NHWC"))
        return {kGreen, Qt::NoBrush, text};
    if (layout == QStringLiteral("NCHW"))
        return {kBlue, Qt::BDiagPattern, text};
    return {kOrange, Qt::FDiagPattern, text};
}

} // namespace

QColor mix(const QColor& a, const QColor& b, double t)
{
    const auto at = [t](float x, float y) { return static_cast<float>(x + (y - x) * t); };
    return QColor::fromRgbF(at(a.redF(), b.redF()), at(a.greenF(), b.greenF()), at(a.blueF(), b.blueF()));
}

GraphLook GraphLooks::of(const session::GraphView& graph, const std::vector<int>& nodes, GraphColoring coloring,
                         const std::vector<GraphTaskFigure>& figures)
{
    const auto node = [&graph](int index) -> const session::NodeView& {
        return graph.nodes[static_cast<std::size_t>(index)];
    };
    switch (coloring) {
    case GraphColoring::Task: {
        std::set<int> tasks;
        for (const int n : nodes)
            if (node(n).task >= 0)
                tasks.insert(node(n).task);
        if (tasks.empty())
            return {kGrey, Qt::NoBrush, {}};
        if (tasks.size() == 1)
            return {taskColor(*tasks.begin()), Qt::NoBrush, QStringLiteral("#%1").arg(*tasks.begin())};
        return {kGrey, Qt::NoBrush, tr("%1 tasks").arg(tasks.size())};
    }
    case GraphColoring::Share: {
        const double share = shareOf(graph, nodes, figures);
        if (!std::isfinite(share))
            return {kGrey, Qt::NoBrush, QStringLiteral("–")};
        return {shareColor(share), Qt::NoBrush, QStringLiteral("%1 %").arg(share * 100, 0, 'f', 1)};
    }
    case GraphColoring::Layout: {
        std::set<QString> layouts;
        for (const int n : nodes)
            if (const QString layout = layoutOf(node(n)); !layout.isEmpty())
                layouts.insert(layout);
        if (layouts.empty())
            return {kGrey, Qt::NoBrush, {}};
        return layouts.size() > 1 ? GraphLook{kPurple, Qt::DiagCrossPattern, tr("mixed")}
                                  : layoutLook(*layouts.begin(), *layouts.begin());
    }
    case GraphColoring::Coverage: {
        std::set<GraphCoverage> kinds;
        for (const int n : nodes)
            if (const int task = node(n).task; task >= 0)
                kinds.insert(task < static_cast<int>(figures.size()) ? figures[static_cast<std::size_t>(task)].coverage
                                                                     : GraphCoverage::Untuned);
        const std::vector<GraphLook> looks = legend(coloring);
        if (kinds.empty())
            return looks.back();
        return kinds.size() == 1 ? looks[static_cast<std::size_t>(*kinds.begin())]
                                 : GraphLook{kPurple, Qt::DiagCrossPattern, tr("partly")};
    }
    }
    return {kGrey, Qt::NoBrush, {}};
}

QColor GraphLooks::conversionColor()
{
    return kVermilion;
}

std::vector<GraphLook> GraphLooks::legend(GraphColoring coloring)
{
    switch (coloring) {
    case GraphColoring::Task:
        return {{taskColor(0), Qt::NoBrush, tr("one colour and number per task")},
                {kGrey, Qt::NoBrush, tr("no task or several")}};
    case GraphColoring::Share:
        return {{shareColor(0), Qt::NoBrush, QStringLiteral("0 %")},
                {shareColor(kHottest / 4), Qt::NoBrush, QStringLiteral("%1 %").arg(kHottest * 25)},
                {shareColor(kHottest), Qt::NoBrush, tr("%1 % or more").arg(kHottest * 100)},
                {kGrey, Qt::NoBrush, tr("not yet known")}};
    case GraphColoring::Layout:
        return {layoutLook(QStringLiteral("NHWC"), QStringLiteral("NHWC")),
                layoutLook(QStringLiteral("NCHW"), QStringLiteral("NCHW")),
                layoutLook({}, tr("another layout")),
                {kPurple, Qt::DiagCrossPattern, tr("mixed")},
                {kGrey, Qt::NoBrush, tr("none")}};
    case GraphColoring::Coverage: // in the order of GraphCoverage, then those without a task
        return {{kBlue, Qt::NoBrush, tr("record")},
                {kGreen, Qt::BDiagPattern, tr("near match")},
                {kVermilion, Qt::FDiagPattern, tr("default")},
                {kOrange, Qt::Dense6Pattern, tr("untuned")},
                {kGrey, Qt::NoBrush, tr("no task")}};
    }
    return {};
}

} // namespace lathe::ui
