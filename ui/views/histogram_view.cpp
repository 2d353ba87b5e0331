#include "ui/views/histogram_view.h"

#include "ui/views/plot_axes.h"

#include <QHelpEvent>
#include <QLocale>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

HistogramView::HistogramView(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
}

void HistogramView::setCounts(std::vector<std::int64_t> counts, double low, double high)
{
    m_counts = std::move(counts);
    m_low = low;
    m_high = high;
    update();
}

void HistogramView::setLogarithmic(bool on)
{
    m_logarithmic = on;
    update();
}

QRectF HistogramView::plotArea() const
{
    return QRectF(rect()).adjusted(6, 6, -6, -fontMetrics().height() - 6);
}

double HistogramView::barHeight(std::int64_t count) const
{
    const std::int64_t most = *std::max_element(m_counts.begin(), m_counts.end());
    if (count == 0 || most == 0)
        return 0;
    return m_logarithmic ? std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most))
                         : static_cast<double>(count) / static_cast<double>(most);
}

double HistogramView::edge(std::size_t bar) const
{
    const double part = static_cast<double>(bar) / static_cast<double>(m_counts.size());
    return m_low * (1 - part) + m_high * part;
}

void HistogramView::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().base());
    const QRectF area = plotArea();
    painter.setPen(palette().color(QPalette::Mid));
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    if (m_counts.empty())
        return;
    const double width = area.width() / static_cast<double>(m_counts.size());
    for (std::size_t i = 0; i < m_counts.size(); ++i) {
        // What occurs at all is seen.
        const double height = m_counts[i] == 0 ? 0 : std::max(1.0, barHeight(m_counts[i]) * area.height());
        painter.fillRect(QRectF(area.left() + static_cast<double>(i) * width, area.bottom() - height,
                                std::max(1.0, width - 1), height),
                         seriesColor(0));
    }
    painter.setPen(palette().color(QPalette::Text));
    const QRectF below(area.left(), area.bottom() + 2, area.width(), fontMetrics().height());
    painter.drawText(below, Qt::AlignLeft, QString::number(m_low, 'g', 5));
    painter.drawText(below, Qt::AlignRight, QString::number(m_high, 'g', 5));
    if (m_low < 0 && m_high > 0) { // where zero is
        const double x = area.left() + area.width() * (-m_low / (m_high - m_low));
        painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DotLine));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        const QString zero = QStringLiteral("0");
        if (x > area.left() + 60 && x < area.right() - 60)
            painter.drawText(
                QPointF(x - fontMetrics().horizontalAdvance(zero) / 2.0, below.top() + fontMetrics().ascent()), zero);
    }
}

void HistogramView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintPicture(painter);
}

std::vector<QStringList> HistogramView::exportRows() const
{
    std::vector<QStringList> rows{{tr("from"), tr("to"), tr("values")}};
    for (std::size_t i = 0; i < m_counts.size(); ++i)
        rows.push_back(
            {QString::number(edge(i), 'g', 9), QString::number(edge(i + 1), 'g', 9), QString::number(m_counts[i])});
    return rows;
}

bool HistogramView::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip || m_counts.empty())
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QRectF area = plotArea();
    const double part = (help->pos().x() - area.left()) / area.width();
    if (part < 0 || part >= 1)
        return QWidget::event(event);
    const auto bar = static_cast<std::size_t>(part * static_cast<double>(m_counts.size()));
    QToolTip::showText(help->globalPos(),
                       tr("%1 to %2: %3 values")
                           .arg(QString::number(edge(bar), 'g', 5), QString::number(edge(bar + 1), 'g', 5),
                                QLocale().toString(static_cast<qlonglong>(m_counts[bar]))),
                       this);
    return true;
}

} // namespace lathe::ui
