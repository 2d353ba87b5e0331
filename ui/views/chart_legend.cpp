#include "ui/views/chart_legend.h"

#include "ui/views/elided_label.h"
#include "ui/views/pattern_brush.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace lathe::ui {

namespace {

constexpr double kMarkWidth = 18, kGap = 14, kMostName = 210;

QString moreText(std::size_t count)
{
    return QCoreApplication::translate("ChartLegend", "%1 more").arg(count);
}

} // namespace

void ChartLegend::layOut(const QFontMetricsF& metrics, const QRectF& area, double firstLeft, int rows)
{
    m_places.clear();
    m_more = {};
    const double line = metrics.height() + 4;
    const auto width = [&metrics](const Entry& entry) {
        return kMarkWidth + 4 + std::min(kMostName, metrics.horizontalAdvance(entry.name) + 2);
    };
    const double moreWidth = metrics.horizontalAdvance(moreText(m_entries.size())) + 4;
    double x = firstLeft;
    int row = 0;
    for (std::size_t i = 0; i < m_entries.size(); ++i) {
        const double wide = std::min(width(m_entries[i]), area.width());
        // In the last row there must be room for the entry that stands for the rest.
        const double kept = row + 1 == rows && i + 1 < m_entries.size() ? kGap + moreWidth : 0;
        if (x + wide + kept > area.right() && x > area.left()) {
            if (row + 1 == rows) {
                m_more = QRectF(x, area.top() + row * line, moreWidth, line);
                break;
            }
            ++row;
            x = area.left();
        }
        m_places.emplace_back(x, area.top() + row * line, wide, line);
        x += wide + kGap;
    }
    m_height = m_entries.empty() ? line : (row + 1) * line;
}

void ChartLegend::paint(QPainter& painter, const QPalette& palette) const
{
    const QFontMetricsF metrics(painter.font());
    for (std::size_t i = 0; i < m_places.size(); ++i) {
        const Entry& entry = m_entries[i];
        const QRectF& place = m_places[i];
        const QRectF mark(place.left(), place.top() + 4, kMarkWidth, place.height() - 8);
        QColor color = entry.color;
        if (entry.hidden)
            color.setAlphaF(color.alphaF() * 0.3F);
        painter.setPen(Qt::NoPen);
        switch (entry.mark) {
        case Mark::Box:
            painter.setBrush(patternBrush(color, entry.brush, painter.device()->devicePixelRatioF()));
            painter.drawRect(mark.adjusted(2, 0, -2, 0));
            break;
        case Mark::Dot:
            painter.setBrush(color);
            painter.drawEllipse(mark.center(), 4.5, 4.5);
            break;
        case Mark::Line:
            painter.setPen(QPen(color, 2, entry.pen));
            painter.drawLine(QPointF(mark.left(), mark.center().y()), QPointF(mark.right(), mark.center().y()));
            break;
        }
        painter.setPen(palette.color(entry.hidden ? QPalette::PlaceholderText : QPalette::Text));
        QFont font = painter.font();
        font.setStrikeOut(entry.hidden);
        painter.save();
        painter.setFont(font);
        const QRectF text = place.adjusted(kMarkWidth + 4, 0, 0, 0);
        painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter, elidedName(metrics, entry.name, text.width()));
        painter.restore();
    }
    if (!m_more.isEmpty()) {
        painter.setPen(palette.color(QPalette::Link));
        painter.drawText(m_more, Qt::AlignLeft | Qt::AlignVCenter, moreText(m_entries.size() - m_places.size()));
    }
}

int ChartLegend::entryAt(QPointF position) const
{
    if (m_more.contains(position))
        return kMore;
    const auto found = std::find_if(m_places.begin(), m_places.end(),
                                    [position](const QRectF& place) { return place.contains(position); });
    return found == m_places.end() ? kNone : static_cast<int>(found - m_places.begin());
}

QRectF ChartLegend::place(const QString& key) const
{
    for (std::size_t i = 0; i < m_places.size(); ++i)
        if (m_entries[i].key == key)
            return m_places[i];
    return {};
}

QString ChartLegend::tip(int entry) const
{
    if (entry == kMore)
        return QCoreApplication::translate("ChartLegend", "The other lines");
    if (entry < 0)
        return {};
    return QCoreApplication::translate("ChartLegend", "%1\nA click hides or shows it, a double click shows it alone")
        .arg(m_entries[static_cast<std::size_t>(entry)].name);
}

} // namespace lathe::ui
