#include "ui/views/graph_legend.h"

#include "ui/views/pattern_brush.h"

#include <QEvent>
#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace lathe::ui {

namespace {

constexpr double kSwatch = 22;
constexpr double kGap = 6; // from a swatch to its word
constexpr double kBetween = 16;
constexpr double kMargin = 6;

} // namespace

GraphLegend::GraphLegend(QWidget* parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setColoring(GraphColoring::Task);
}

void GraphLegend::setColoring(GraphColoring coloring)
{
    m_coloring = coloring;
    m_entries = GraphLooks::legend(coloring);
    QStringList words;
    for (const GraphLook& entry : m_entries)
        words << entry.note;
    setAccessibleName(tr("Legend"));
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

std::pair<std::vector<QRectF>, double> GraphLegend::places(double width) const
{
    const QFontMetricsF metrics(font());
    const double line = std::ceil(metrics.height()) + 4;
    std::vector<QRectF> swatches;
    double x = kMargin;
    double y = 2;
    for (const GraphLook& entry : m_entries) {
        const double needed = kSwatch + kGap + metrics.horizontalAdvance(entry.note);
        if (x > kMargin && x + needed > width - kMargin) {
            x = kMargin;
            y += line;
        }
        swatches.emplace_back(x, y + 3, kSwatch, line - 6);
        x += needed + kBetween;
    }
    return {swatches, y + line + 2};
}

int GraphLegend::heightForWidth(int width) const
{
    return static_cast<int>(std::ceil(places(width).second));
}

void GraphLegend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const std::vector<QRectF> swatches = places(width()).first;
    for (std::size_t e = 0; e < m_entries.size(); ++e) {
        QColor fill = m_entries[e].color;
        painter.setPen(fill);
        fill.setAlphaF(0.4F);
        painter.setBrush(fill);
        painter.drawRect(swatches[e]);
        if (m_entries[e].pattern != Qt::NoBrush) {
            painter.setBrush(
                patternBrush(m_entries[e].color, m_entries[e].pattern, painter.device()->devicePixelRatioF()));
            painter.drawRect(swatches[e]);
        }
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(QRectF(swatches[e].right() + kGap, swatches[e].top() - 3, width(), swatches[e].height() + 6),
                         Qt::AlignVCenter | Qt::AlignLeft, m_entries[e].note);
    }
}

void GraphLegend::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::LanguageChange || event->type() == QEvent::FontChange)
        setColoring(m_coloring);
    QWidget::changeEvent(event);
}

} // namespace lathe::ui
