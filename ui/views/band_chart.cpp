#include "ui/views/band_chart.h"

#include "ui/models/language.h"
#include "ui/views/plot_axes.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe::ui {

namespace {

constexpr double kColumnPixels = 4;
constexpr int kLegendRows = 14;

} // namespace

BandChart::BandChart(QWidget* parent)
    : QWidget(parent)
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    retranslated(this, [this] { tell(); });
}

void BandChart::setBands(const QStringList& names, const QString& unit)
{
    m_names = names;
    m_unit = unit;
    setSamples(std::move(m_samples));
}

void BandChart::setSamples(std::vector<Sample> samples)
{
    m_samples = std::move(samples);
    m_totals.assign(static_cast<std::size_t>(m_names.size()), 0.0);
    for (const Sample& sample : m_samples)
        for (const auto& [band, amount] : sample.amounts)
            if (band >= 0 && band < m_names.size())
                m_totals[static_cast<std::size_t>(band)] += amount;
    m_total = std::accumulate(m_totals.begin(), m_totals.end(), 0.0);
    tell();
    update();
}

void BandChart::tell()
{
    const QString text = summary();
    setAccessibleDescription(text);
    emit summaryChanged(text);
}

void BandChart::setHighlight(int band)
{
    if (m_highlight == band)
        return;
    m_highlight = band;
    update();
}

QString BandChart::summary() const
{
    if (m_total <= 0)
        return tr("Nothing has happened yet");
    std::vector<int> order(m_totals.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
        return m_totals[static_cast<std::size_t>(a)] > m_totals[static_cast<std::size_t>(b)];
    });
    QStringList parts;
    for (const int band : order)
        if (parts.size() < 3 && m_totals[static_cast<std::size_t>(band)] > 0)
            parts << tr("%1 % %2")
                         .arg(100 * m_totals[static_cast<std::size_t>(band)] / m_total, 0, 'f', 0)
                         .arg(m_names[band]);
    return parts.join(QStringLiteral(", "));
}

double BandChart::legendWidth() const
{
    double width = 0;
    for (qsizetype i = 0; i < m_names.size(); ++i)
        if (m_totals.size() > static_cast<std::size_t>(i) && m_totals[static_cast<std::size_t>(i)] > 0)
            width = std::max(
                width, static_cast<double>(fontMetrics().horizontalAdvance(m_names[i] + QStringLiteral("  100 %")))
                           + fontMetrics().height() + 12);
    return std::min({width, this->width() * 0.35, 320.0});
}

QRectF BandChart::plotArea() const
{
    const double left = fontMetrics().horizontalAdvance(QStringLiteral("100 %")) + 8;
    return QRectF(left, 6, std::max(10.0, width() - left - legendWidth() - 14),
                  std::max(10.0, height() - 12.0 - fontMetrics().height()));
}

std::vector<BandChart::Column> BandChart::columns(double width) const
{
    std::vector<Column> columns;
    if (m_samples.empty() || m_names.isEmpty())
        return columns;
    const double from = m_samples.front().from, to = m_samples.back().to;
    if (!(to > from))
        return columns;
    const auto count = static_cast<std::size_t>(std::clamp(width / kColumnPixels, 1.0, 2000.0));
    const double step = (to - from) / static_cast<double>(count);
    columns.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        columns[i] = {from + step * static_cast<double>(i), from + step * static_cast<double>(i + 1),
                      std::vector<double>(static_cast<std::size_t>(m_names.size()), 0.0), 0};
    for (const Sample& sample : m_samples) {
        // A sample is spread over the columns that it overlaps.
        const double length = std::max(sample.to - sample.from, step * 1e-3);
        const auto first = static_cast<std::size_t>(
            std::clamp((sample.from - from) / step, 0.0, static_cast<double>(count - 1)));
        const auto last = static_cast<std::size_t>(
            std::clamp((sample.from + length - from) / step, 0.0, static_cast<double>(count - 1)));
        for (std::size_t c = first; c <= last; ++c) {
            const double share = (std::min(columns[c].to, sample.from + length)
                                  - std::max(columns[c].from, sample.from))
                                 / length;
            if (share <= 0)
                continue;
            for (const auto& [band, amount] : sample.amounts)
                if (band >= 0 && band < m_names.size()) {
                    columns[c].amounts[static_cast<std::size_t>(band)] += amount * share;
                    columns[c].total += amount * share;
                }
        }
    }
    return columns;
}

void BandChart::paint(QPainter& painter) const
{
    const QRectF area = plotArea();
    painter.setFont(font());
    if (m_total <= 0) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter, summary());
        return;
    }
    const double from = m_samples.front().from, to = m_samples.back().to;
    const std::vector<Column> all = columns(area.width());
    painter.setPen(Qt::NoPen);
    const double width = area.width() / static_cast<double>(std::max<std::size_t>(1, all.size()));
    for (std::size_t c = 0; c < all.size(); ++c) {
        if (all[c].total <= 0)
            continue;
        double y = area.bottom();
        for (std::size_t band = 0; band < all[c].amounts.size(); ++band) {
            if (all[c].amounts[band] <= 0)
                continue;
            const double height = all[c].amounts[band] / all[c].total * area.height();
            QColor color = seriesColor(static_cast<int>(band));
            if (m_highlight >= 0 && m_highlight != static_cast<int>(band))
                color.setAlphaF(0.35F);
            const QRectF cell(area.left() + width * static_cast<double>(c), y - height, width + 0.5, height);
            if (seriesPattern(static_cast<int>(band)) != Qt::SolidPattern) {
                QColor back = color;
                back.setAlphaF(color.alphaF() * 0.35F);
                painter.fillRect(cell, back);
            }
            painter.fillRect(cell, QBrush(color, seriesPattern(static_cast<int>(band))));
            y -= height;
        }
    }
    paintValueAxis(painter, area, 0, 100, QStringLiteral(" %"), palette());
    paintTimeAxis(painter, area, from, to, palette());
    // Legend: the largest first.
    std::vector<int> order;
    for (std::size_t i = 0; i < m_totals.size(); ++i)
        if (m_totals[i] > 0)
            order.push_back(static_cast<int>(i));
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
        return m_totals[static_cast<std::size_t>(a)] > m_totals[static_cast<std::size_t>(b)];
    });
    const double line = painter.fontMetrics().height() + 3;
    const auto rows = static_cast<std::size_t>(std::clamp(area.height() / line, 1.0, static_cast<double>(kLegendRows)));
    double y = area.top();
    const double left = area.right() + 10, box = painter.fontMetrics().height() - 4.0;
    for (std::size_t i = 0; i < order.size() && i < rows; ++i, y += line) {
        const bool rest = i + 1 == rows && order.size() > rows;
        double amount = m_totals[static_cast<std::size_t>(order[i])];
        if (rest)
            for (std::size_t j = i + 1; j < order.size(); ++j)
                amount += m_totals[static_cast<std::size_t>(order[j])];
        const QString share = tr("%1 %").arg(100 * amount / m_total, 0, 'f', 0);
        painter.setPen(palette().color(QPalette::Text));
        if (!rest) {
            painter.setBrush(QBrush(seriesColor(order[i]), seriesPattern(order[i])));
            painter.drawRect(QRectF(left, y + 2, box, box));
        }
        const double text = left + box + 6;
        const double room = this->width() - text - 4;
        const int shareWidth = painter.fontMetrics().horizontalAdvance(share) + 6;
        const QString name = rest ? tr("%1 more").arg(order.size() - i) : m_names[order[i]];
        painter.drawText(QRectF(text, y, room - shareWidth, line), Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(room) - shareWidth));
        painter.drawText(QRectF(text, y, room, line), Qt::AlignRight | Qt::AlignVCenter, share);
    }
}

void BandChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintPicture(painter);
    if (hasFocus()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

int BandChart::bandAt(QPointF position, QString* hint) const
{
    const QRectF area = plotArea();
    if (!area.contains(position) || m_total <= 0)
        return -1;
    const std::vector<Column> all = columns(area.width());
    if (all.empty())
        return -1;
    const auto c = static_cast<std::size_t>(
        std::clamp((position.x() - area.left()) / area.width() * static_cast<double>(all.size()), 0.0,
                   static_cast<double>(all.size() - 1)));
    const Column& column = all[c];
    if (column.total <= 0)
        return -1;
    double y = (area.bottom() - position.y()) / area.height() * column.total;
    for (std::size_t band = 0; band < column.amounts.size(); ++band) {
        if (y < column.amounts[band]) {
            if (hint != nullptr)
                *hint = tr("%1 to %2\n%3: %4 %5 (%6 %)")
                            .arg(timeTick(column.from), timeTick(column.to), m_names[static_cast<qsizetype>(band)])
                            .arg(column.amounts[band], 0, 'g', 3)
                            .arg(m_unit)
                            .arg(100 * column.amounts[band] / column.total, 0, 'f', 0);
            return static_cast<int>(band);
        }
        y -= column.amounts[band];
    }
    return -1;
}

void BandChart::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() == Qt::LeftButton
        && (event->position() - m_pressed).manhattanLength() > QApplication::startDragDistance()) {
        dragView(*this);
        return;
    }
    QString hint;
    if (bandAt(event->position(), &hint) >= 0)
        QToolTip::showText(event->globalPosition().toPoint(), hint, this);
    else
        QToolTip::hideText();
}

void BandChart::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_pressed = event->position();
    if (const int band = bandAt(event->position(), nullptr); band >= 0)
        emit bandClicked(band);
}

void BandChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        update();
    QWidget::changeEvent(event);
}

void BandChart::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().base());
    paint(painter);
}

std::vector<QStringList> BandChart::exportRows() const
{
    std::vector<QStringList> rows{{tr("From (s)"), tr("To (s)"), tr("Name"), tr("Amount (%1)").arg(m_unit)}};
    for (const Sample& sample : m_samples)
        for (const auto& [band, amount] : sample.amounts)
            if (band >= 0 && band < m_names.size())
                rows.push_back({QString::number(sample.from, 'f', 3), QString::number(sample.to, 'f', 3), m_names[band],
                                QString::number(amount, 'g', 8)});
    return rows;
}

} // namespace lathe::ui
