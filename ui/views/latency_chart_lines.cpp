// What the chart shows: its lines made from the curves, thinned to what pixels can show, and where all of that stands.

#include "ui/models/texts.h"
#include "ui/views/decimate.h"
#include "ui/views/drag_handle.h"
#include "ui/views/elided_label.h"
#include "ui/views/latency_chart.h"
#include "ui/views/plot_axes.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <limits>

namespace lathe::ui {

namespace {

constexpr double kMostLabel = 200; ///< pixels of a name at a line's end
constexpr double kNarrowChart = 420; ///< pixels of a chart that has no room for names beside the plot
constexpr double kMostShift = 4.5; ///< lines of text that such a name stands from its line's end at most
constexpr double kLeader = 12; ///< pixels between the plot and these names
constexpr int kLegendLines = 2;

} // namespace

void LatencyChart::addNetworkLines(bool dark)
{
    const QColor estimated = dark ? QColor(0x4d, 0xa6, 0xe0) : QColor(0x00, 0x72, 0xb2);
    const QColor measured = dark ? QColor(0xff, 0x8c, 0x42) : QColor(0xd5, 0x5e, 0x00);
    if (!m_curves.low.isEmpty()) {
        QColor band = estimated;
        band.setAlphaF(0.25F);
        m_lines.push_back({.kind = Kind::Band,
                           .key = QStringLiteral("range"),
                           .name = tr("likely range"),
                           .color = band,
                           .points = m_curves.low,
                           .upper = m_curves.high,
                           .end = m_curves.low.last().x(),
                           .rank = 4});
    }
    addParts(dark);
    if (std::isfinite(m_curves.untunedMs))
        m_lines.push_back({.kind = Kind::Level,
                           .key = QStringLiteral("untuned"),
                           .name = tr("untuned"),
                           .color = QColor(dark ? 0xa0 : 0x7f, dark ? 0xa0 : 0x7f, dark ? 0xa0 : 0x7f),
                           .pen = Qt::DashLine,
                           .points = {{0, m_curves.untunedMs}},
                           .end = std::numeric_limits<double>::infinity(),
                           .rank = 3});
    addOverlays(dark);
    addTasks(dark);
    if (!m_curves.tasksSum.isEmpty())
        m_lines.push_back({.key = QStringLiteral("sum"),
                           .name = tr("sum of tasks"),
                           .color = estimated,
                           .pen = Qt::DashDotLine,
                           .width = 1.2,
                           .points = m_curves.tasksSum,
                           .end = m_curves.seconds,
                           .rank = 1});
    if (!m_curves.estimate.isEmpty())
        m_lines.push_back({.key = QStringLiteral("estimate"),
                           .name = tr("estimated network"),
                           .color = estimated,
                           .width = 2,
                           .points = m_curves.estimate,
                           .trials = m_curves.trials,
                           .end = m_curves.seconds,
                           .rank = 0});
    if (!m_curves.measured.isEmpty())
        m_lines.push_back({.kind = Kind::Points,
                           .key = QStringLiteral("measured"),
                           .name = tr("measured network"),
                           .color = measured,
                           .pen = Qt::DotLine,
                           .points = m_curves.measured,
                           .end = m_curves.seconds,
                           .rank = 2});
}

/// One upon the other; the chain last, which may take away from the others.
void LatencyChart::addParts(bool dark)
{
    struct Layer
    {
        double Parts::*ms;
        const char* key;
        QString name;
        QColor color;
        Qt::BrushStyle brush;
    };
    const QColor warm = dark ? QColor(0xff, 0x8c, 0x42) : QColor(0xd5, 0x5e, 0x00),
                 grey = dark ? QColor(0xc0, 0xc4, 0xca) : QColor(0x60, 0x60, 0x60);
    const auto faint = [](QColor color, float alpha) {
        color.setAlphaF(alpha);
        return color;
    };
    const Layer layers[] = {
        {&Parts::tasksMs, "part:tasks", tr("tasks"), faint(warm, 0.18F), Qt::SolidPattern},
        {&Parts::untunedMs, "part:functions", tr("untuned functions"), faint(grey, 0.45F), Qt::SolidPattern},
        {&Parts::callMs, "part:call", tr("call"), faint(grey, 0.8F), Qt::SolidPattern},
        {&Parts::chainMs, "part:chain", tr("chain"), faint(warm, 0.75F), Qt::BDiagPattern}};
    if (m_curves.parts.empty() || m_logarithmic) // heights that are stacked say nothing on a logarithmic axis
        return;
    QList<QPointF> below;
    for (const Parts& parts : m_curves.parts)
        below << QPointF(parts.atSeconds, 0);
    int rank = 5;
    for (const Layer& layer : layers) {
        // What is hidden leaves no gap.
        const bool hidden = m_hidden.contains(QLatin1String(layer.key));
        QList<QPointF> above = below;
        for (qsizetype i = 0; i < above.size() && !hidden; ++i)
            above[i].ry() += m_curves.parts[static_cast<std::size_t>(i)].*layer.ms;
        m_lines.push_back({.kind = Kind::Part,
                           .key = QLatin1String(layer.key),
                           .name = layer.name,
                           .color = layer.color,
                           .brush = layer.brush,
                           .points = below,
                           .upper = above,
                           .end = m_curves.seconds,
                           .rank = rank++});
        below = above;
    }
}

void LatencyChart::addOverlays(bool dark)
{
    for (const Overlay& overlay : m_curves.overlays) {
        const QColor color = lineColor(m_slots.slot(overlay.key), dark);
        m_lines.push_back({.key = overlay.key,
                           .name = overlay.name,
                           .color = color,
                           .pen = Qt::DashLine,
                           .width = 1.6,
                           .points = overlay.estimate,
                           .trials = overlay.trials,
                           .end = overlay.seconds,
                           .rank = 20});
        if (!overlay.measured.isEmpty())
            m_lines.push_back({.kind = Kind::Points,
                               .key = overlay.key,
                               .name = tr("%1, measured").arg(overlay.name),
                               .color = color,
                               .pen = Qt::DotLine,
                               .width = 1.2,
                               .points = overlay.measured,
                               .end = overlay.seconds,
                               .named = false});
    }
}

void LatencyChart::addTasks(bool dark)
{
    for (const TaskCurve& curve : m_curves.tasks) {
        const QString key = QStringLiteral("task:") + curve.name;
        m_lines.push_back({.key = key,
                           .name = curve.name,
                           .color = lineColor(m_slots.slot(key), dark),
                           .width = 1.3,
                           .points = curve.points,
                           .trials = curve.trials,
                           .end = m_curves.seconds,
                           .task = curve.task,
                           .rank = 30});
    }
}

void LatencyChart::makeLines()
{
    QStringList keys;
    std::vector<int> preferred;
    for (const TaskCurve& curve : m_curves.tasks) {
        keys << QStringLiteral("task:") + curve.name;
        preferred.push_back(std::max(0, curve.task) % kOwnLineColors);
    }
    for (const Overlay& overlay : m_curves.overlays) {
        keys << overlay.key;
        preferred.push_back(kOwnLineColors - 1);
    }
    m_slots.assign(keys, preferred);
    m_lines.clear();
    addNetworkLines(isDark(palette()));
}

/// All that is shown, from zero up, or on a logarithmic axis with a margin.
void LatencyChart::fitAxes()
{
    double low = std::numeric_limits<double>::infinity(), high = 0, seconds = m_curves.seconds;
    const auto see = [&](double y) {
        if (!std::isfinite(y) || y <= 0)
            return;
        low = std::min(low, y);
        high = std::max(high, y);
    };
    // The range of the first seconds is wide: it sets the scale only while there is nothing else to see.
    const bool alone = m_curves.estimate.isEmpty() && !std::isfinite(m_curves.untunedMs);
    for (const Line& line : m_lines) {
        if (std::isfinite(line.end))
            seconds = std::max(seconds, line.end);
        if (!isShown(line) || (line.kind == Kind::Band && !alone))
            continue;
        for (const QList<QPointF>* points : {&line.points, &line.upper})
            for (const QPointF& p : *points)
                see(p.y());
    }
    if (high <= 0) {
        low = 0.1;
        high = 1;
    }
    // Grown in steps, so that most updates leave the axes alone.
    const double wanted = std::max(10.0, seconds * 1.02);
    double end = m_all.right();
    if (wanted > end || wanted < end * 0.7) {
        const double step = roundStep(0, wanted * 1.1, 8);
        end = std::ceil(wanted * 1.1 / step) * step;
    }
    if (m_logarithmic) {
        m_all = QRectF(0, std::max(kLeastLatency, low * 0.8), end, high * 1.25 - std::max(kLeastLatency, low * 0.8));
    } else {
        const double step = roundStep(0, high * 1.08, 8);
        m_all = QRectF(0, 0, end, std::ceil(high * 1.08 / step) * step);
    }
}

void LatencyChart::thin()
{
    // Many curves lie upon each other: coarser columns keep the drawing quick.
    constexpr std::size_t kFine = 8; // curves
    const double share = static_cast<double>(kFine) / static_cast<double>(std::max(kFine, m_curves.tasks.size()));
    const int columns = std::max(200, static_cast<int>(width() * share));
    const QRectF view = shown();
    for (Line& line : m_lines) {
        line.drawn.clear();
        line.drawnUpper.clear();
        if (!isShown(line))
            continue;
        const auto thinned = [&](const QList<QPointF>& points) {
            return decimated(between(points, view.left(), view.right()), columns, m_logarithmic);
        };
        // Thinned before it is made of steps: each pixel keeps its least and greatest value, so no step is lost.
        line.drawn = thinned(line.points);
        if (line.kind == Kind::Steps || line.kind == Kind::Part)
            line.drawn = decimated(steps(line.drawn, line.end), columns, m_logarithmic && line.kind == Kind::Steps);
        line.drawnUpper = thinned(line.upper);
        if (line.kind == Kind::Part)
            line.drawnUpper = decimated(steps(line.drawnUpper, line.end), columns, false);
    }
}

void LatencyChart::makeLegend()
{
    std::vector<const Line*> order;
    for (const Line& line : m_lines)
        if (line.named)
            order.push_back(&line);
    std::ranges::stable_sort(order, {}, &Line::rank);
    std::vector<ChartLegend::Entry> entries;
    for (const Line* line : order)
        entries.push_back({line->key, line->name, line->color,
                           line->kind == Kind::Points                             ? ChartLegend::Mark::Dot
                           : line->kind == Kind::Band || line->kind == Kind::Part ? ChartLegend::Mark::Box
                                                                                  : ChartLegend::Mark::Line,
                           line->pen, line->brush, !isShown(*line)});
    m_legend.setEntries(std::move(entries));
}

void LatencyChart::layOut()
{
    const QFontMetricsF metrics(font());
    const double line = metrics.height();
    m_legend.layOut(metrics, QRectF(8, 4, width() - 16, kLegendLines * (line + 4)),
                    8 + metrics.horizontalAdvance(tr("Latency (ms)")) + 16, kLegendLines);
    double names = 0;
    for (const Line& shownLine : m_lines)
        if (shownLine.named && isShown(shownLine))
            names = std::max(names, std::min(kMostLabel, metrics.horizontalAdvance(shownLine.name)));
    names = width() < kNarrowChart || names == 0 ? 0 : std::min(names, width() * 0.24) + kLeader + 8;
    const double left = metrics.horizontalAdvance(QStringLiteral("000.00")) + 14;
    // The last time under the axis ends beside the grip.
    const double right = std::max(10 + names,
                                  DragHandle::kRoom + metrics.horizontalAdvance(QStringLiteral("00:00")) / 2);
    m_area = QRectF(QPointF(left, 4 + m_legend.height() + 6),
                    QPointF(std::max(left + 20, width() - right), std::max(40.0, height() - line - 8)));
}

/// Names of lines where they end; those of the most important lines, where there is no room for all.
void LatencyChart::placeLabels()
{
    m_labels.clear();
    const QFontMetricsF metrics(font());
    const double room = width() - m_area.right() - kLeader - 6, height = metrics.height();
    if (room < 40)
        return;
    const QRectF view = shown();
    std::vector<EndLabel> found;
    std::vector<int> ranks;
    for (const Line& line : m_lines) {
        if (!line.named || !isShown(line) || line.points.isEmpty() || line.kind == Kind::Band)
            continue;
        const double at = std::min(line.end, view.right());
        double ms = valueAt(line.points, at);
        if (line.kind == Kind::Part) {
            const double upper = valueAt(line.upper, at);
            if (!(std::abs(toY(upper) - toY(ms)) >= 2))
                continue;
            ms = (ms + upper) / 2;
        }
        const double y = toY(ms);
        if (!std::isfinite(y) || y < m_area.top() - 1 || y > m_area.bottom() + 1)
            continue;
        const double x = line.kind == Kind::Points ? toX(line.points.last().x()) : toX(at);
        found.push_back({line.key,
                         elidedName(metrics, line.name, room),
                         line.color,
                         {},
                         y,
                         std::clamp(x, m_area.left(), m_area.right())});
        ranks.push_back(line.rank);
    }
    std::vector<std::size_t> order(found.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    // The network's own come first; of the others the slower ones, which stand higher.
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : found[a].lineY < found[b].lineY;
    });
    const auto byPlace = [&found](std::size_t i) { return found[i].lineY; };
    const auto spreadOf = [&](const std::vector<std::size_t>& labels) {
        std::vector<double> wanted;
        for (const std::size_t i : labels)
            wanted.push_back(found[i].lineY);
        return spread(wanted, height, m_area.top(), m_area.bottom());
    };
    // One that would push others, or itself, far from their lines is left out.
    std::vector<std::size_t> taken;
    const auto rows = static_cast<std::size_t>(std::max(1.0, m_area.height() / height));
    for (const std::size_t candidate : order) {
        std::vector<std::size_t> tried = taken;
        tried.insert(std::ranges::upper_bound(tried, found[candidate].lineY, {}, byPlace), candidate);
        const std::vector<double> middles = spreadOf(tried);
        bool near = tried.size() <= rows;
        for (std::size_t i = 0; i < tried.size() && near; ++i)
            near = std::abs(middles[i] - found[tried[i]].lineY) <= kMostShift * height;
        if (near)
            taken = std::move(tried);
    }
    const std::vector<double> middles = spreadOf(taken);
    for (std::size_t i = 0; i < taken.size(); ++i) {
        EndLabel label = found[taken[i]];
        label.place = QRectF(m_area.right() + kLeader, middles[i] - height / 2,
                             metrics.horizontalAdvance(label.text) + 2, height);
        m_labels.push_back(std::move(label));
    }
}

QString LatencyChart::timeText(double seconds) const
{
    return shown().width() < 60 ? tr("%1 s").arg(seconds, 0, 'f', 1) : minutesText(seconds);
}

std::vector<LatencyChart::Value> LatencyChart::valuesAt(double seconds) const
{
    std::vector<Value> values, parts;
    for (const Line& line : m_lines) {
        if (!isShown(line) || seconds > line.end || line.points.isEmpty())
            continue;
        Value value{&line, line.name, {}, {}, valueAt(line.points, seconds)};
        if (!std::isfinite(value.ms))
            continue;
        value.latency = msText(value.ms);
        if (line.kind == Kind::Band) {
            value.latency = msRangeText(value.ms, valueAt(line.upper, seconds));
        } else if (line.kind == Kind::Part) {
            value.ms = valueAt(line.upper, seconds) - value.ms;
            value.latency = msText(value.ms);
            parts.insert(parts.begin(), value); // the uppermost first
            continue;
        }
        if (const double trials = valueAt(line.trials, seconds); std::isfinite(trials))
            value.trials = trials == 1 ? tr("1 trial") : tr("%1 trials").arg(QLocale().toString(trials, 'f', 0));
        values.push_back(value);
    }
    std::ranges::stable_sort(values, [](const Value& a, const Value& b) { return a.ms > b.ms; });
    values.insert(values.end(), parts.begin(), parts.end());
    return values;
}

} // namespace lathe::ui
