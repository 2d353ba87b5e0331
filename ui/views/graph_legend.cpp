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
    fill();
}

void GraphLegend::setEdgeTexts(bool shown, bool marked)
{
    if (m_texts == shown && m_marks == marked)
        return;
    m_texts = shown;
    m_marks = marked;
    fill();
}

void GraphLegend::fill()
{
    m_entries.clear();
    for (const GraphLook& look : GraphLooks::legend(m_coloring))
        m_entries.push_back({look});
    if (m_texts)
        m_entries.push_back(
            {{GraphLooks::conversionColor(), Qt::NoBrush, tr("text on edges: layout of the tensor; A → B: converted")},
             QStringLiteral("→")});
    if (m_texts && m_marks)
        m_entries.push_back(
            {{{}, Qt::NoBrush, tr("changed by the layouts that are tried")}, QStringLiteral("*"), true});
    setAccessibleName(tr("Legend"));
    setAccessibleDescription(words().join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

QStringList GraphLegend::words() const
{
    QStringList words;
    for (const Entry& entry : m_entries)
        words << entry.look.note;
    return words;
}

std::pair<std::vector<QRectF>, double> GraphLegend::places(double width) const
{
    const QFontMetricsF metrics(font());
    const double line = std::ceil(metrics.height()) + 4;
    std::vector<QRectF> swatches;
    double x = kMargin;
    double y = 2;
    for (const Entry& entry : m_entries) {
        const double needed = kSwatch + kGap + metrics.horizontalAdvance(entry.look.note);
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

/// As GraphScene paints what it stands for.
void GraphLegend::paintSign(QPainter& painter, const Entry& entry, const QRectF& swatch) const
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(entry.isMark ? QPen(palette().color(QPalette::Highlight), 1.5) : QPen(Qt::NoPen));
    painter.setBrush(entry.isMark ? palette().color(QPalette::Base) : entry.look.color);
    painter.drawRoundedRect(swatch, 3, 3);
    painter.setPen(entry.isMark ? palette().color(QPalette::Text) : QColor(Qt::white));
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.drawText(swatch, Qt::AlignCenter, entry.sign);
    painter.restore();
}

void GraphLegend::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const std::vector<QRectF> swatches = places(width()).first;
    for (std::size_t e = 0; e < m_entries.size(); ++e) {
        const GraphLook& look = m_entries[e].look;
        if (!m_entries[e].sign.isEmpty()) {
            paintSign(painter, m_entries[e], swatches[e]);
        } else {
            QColor fill = look.color;
            painter.setPen(fill);
            fill.setAlphaF(0.4F);
            painter.setBrush(fill);
            painter.drawRect(swatches[e]);
            if (look.pattern != Qt::NoBrush) {
                painter.setBrush(patternBrush(look.color, look.pattern, painter.device()->devicePixelRatioF()));
                painter.drawRect(swatches[e]);
            }
        }
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(QRectF(swatches[e].right() + kGap, swatches[e].top() - 3, width(), swatches[e].height() + 6),
                         Qt::AlignVCenter | Qt::AlignLeft, look.note);
    }
}

void GraphLegend::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::LanguageChange || event->type() == QEvent::FontChange)
        setColoring(m_coloring);
    QWidget::changeEvent(event);
}

} // namespace lathe::ui
