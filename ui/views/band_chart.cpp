#include "ui/views/band_chart.h"

#include "ui/models/language.h"
#include "ui/views/elided_label.h"
#include "ui/views/pattern_brush.h"
#include "ui/views/plot_axes.h"
#include "ui/views/view_export.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QMenu>
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
constexpr double kLegendShare = 0.45; ///< of the width, that the legend takes at most
constexpr float kDim = 0.25F;

/// Of what is no task.
QColor grey(const QPalette& palette)
{
    return isDark(palette) ? QColor(0x78, 0x7c, 0x84) : QColor(0xb4, 0xb8, 0xbe);
}

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

void BandChart::setMostBands(int most)
{
    m_most = most;
    choose();
}

void BandChart::setSamples(std::vector<Sample> samples)
{
    m_samples = std::move(samples);
    m_totals.assign(static_cast<std::size_t>(m_names.size()), 0.0);
    m_warmTotal = 0;
    for (const Sample& sample : m_samples)
        for (const auto& [band, amount] : sample.amounts)
            if (band >= 0 && band < m_names.size()) {
                m_totals[static_cast<std::size_t>(band)] += amount;
                m_warmTotal += sample.warmUp ? amount : 0;
            }
    m_total = std::accumulate(m_totals.begin(), m_totals.end(), 0.0);
    choose();
    tell();
}

/// Bands that have something, the largest first.
std::vector<int> BandChart::byAmount() const
{
    std::vector<int> order;
    for (std::size_t i = 0; i < m_totals.size(); ++i)
        if (m_totals[i] > 0)
            order.push_back(static_cast<int>(i));
    std::ranges::stable_sort(order, std::greater(),
                             [this](int band) { return m_totals[static_cast<std::size_t>(band)]; });
    return order;
}

void BandChart::choose()
{
    m_shown = byAmount();
    if (m_most > 0 && m_shown.size() > static_cast<std::size_t>(m_most)) {
        const bool asked = std::ranges::find(m_shown, m_highlight) != m_shown.end();
        m_shown.resize(static_cast<std::size_t>(m_most));
        if (asked && std::ranges::find(m_shown, m_highlight) == m_shown.end())
            m_shown.push_back(m_highlight);
        std::ranges::sort(m_shown);
        m_shown.push_back(kOther);
    } else {
        std::ranges::sort(m_shown);
    }
    m_place.assign(static_cast<std::size_t>(m_names.size()), static_cast<int>(m_shown.size()) - 1);
    QStringList keys;
    std::vector<int> preferred;
    for (std::size_t i = 0; i < m_shown.size(); ++i)
        if (m_shown[i] >= 0) {
            m_place[static_cast<std::size_t>(m_shown[i])] = static_cast<int>(i);
            keys << QString::number(m_shown[i]);
            preferred.push_back(m_shown[i] % kOwnLineColors);
        }
    m_slots.assign(keys, preferred);
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
    choose();
}

QString BandChart::summary() const
{
    if (m_total <= 0)
        return tr("No data yet");
    QStringList parts;
    for (const int band : byAmount())
        if (parts.size() < 3)
            parts << tr("%1 % %2")
                         .arg(100 * m_totals[static_cast<std::size_t>(band)] / m_total, 0, 'f', 0)
                         .arg(m_names[band]);
    return parts.join(QStringLiteral(", "));
}

std::vector<BandChart::LegendRow> BandChart::legendRows() const
{
    std::vector<LegendRow> rows;
    std::vector<int> order = byAmount();
    std::erase_if(order, [this](int band) { return std::ranges::find(m_shown, band) == m_shown.end(); });
    double others = m_total;
    for (const int band : order) {
        rows.push_back({band, m_names[band], {}, m_totals[static_cast<std::size_t>(band)], {}, isDimmed(band)});
        others -= rows.back().amount;
    }
    if (!m_shown.empty() && m_shown.back() == kOther)
        rows.push_back({kOther, tr("Other"), {}, others, {}, isDimmed(kOther)});
    const QRectF area = plotArea();
    const double line = fontMetrics().height() + 3.0;
    const auto most = static_cast<std::size_t>(
        std::clamp(area.height() / line - (m_warmTotal > 0 ? 1 : 0), 1.0, static_cast<double>(kLegendRows)));
    if (rows.size() > most) {
        // What has no row of its own is told in the last one.
        double rest = 0;
        for (std::size_t i = most - 1; i < rows.size(); ++i)
            rest += rows[i].amount;
        const QString name = tr("%1 more").arg(rows.size() - most + 1);
        rows.resize(most);
        rows.back() = {kOther, name, {}, rest, {}, isDimmed(kOther)};
    }
    if (m_warmTotal > 0)
        rows.push_back({kWarmUp, tr("First rounds (warm-up)"), {}, m_warmTotal, {}, false});
    double y = area.top();
    const double left = area.right() + 10, room = width() - left - 4;
    for (LegendRow& row : rows) {
        row.place = QRectF(left, y, std::max(10.0, room), line);
        const double names = room - line - fontMetrics().horizontalAdvance(QStringLiteral("100 %")) - 10;
        row.shown = elidedName(QFontMetricsF(font()), row.name, names);
        y += line;
    }
    return rows;
}

double BandChart::legendWidth() const
{
    double wide = 0;
    for (const int band : m_shown)
        wide = std::max<double>(wide, fontMetrics().horizontalAdvance(band < 0 ? tr("Other") : m_names[band]));
    if (m_warmTotal > 0)
        wide = std::max<double>(wide, fontMetrics().horizontalAdvance(tr("First rounds (warm-up)")));
    wide += fontMetrics().horizontalAdvance(QStringLiteral("  100 %")) + fontMetrics().height() + 20;
    return std::min(wide, width() * kLegendShare);
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
                      std::vector<double>(m_shown.size(), 0.0), std::vector<double>(m_shown.size(), 0.0), 0};
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
                    const auto place = static_cast<std::size_t>(m_place[static_cast<std::size_t>(band)]);
                    columns[c].amounts[place] += amount * share;
                    columns[c].warm[place] += sample.warmUp ? amount * share : 0;
                    columns[c].total += amount * share;
                }
        }
    }
    return columns;
}

QColor BandChart::colorOf(int band) const
{
    QColor color = band < 0     ? grey(palette())
                   : m_most > 0 ? lineColor(m_slots.slot(QString::number(band)), isDark(palette()))
                                : seriesColor(band);
    if (isDimmed(band))
        color.setAlphaF(kDim);
    return color;
}

Qt::BrushStyle BandChart::patternOf(int band) const
{
    return m_most > 0 || band < 0 ? Qt::SolidPattern : seriesPattern(band);
}

void BandChart::paintColumns(QPainter& painter, const QRectF& area) const
{
    const std::vector<Column> all = columns(area.width());
    painter.setPen(Qt::NoPen);
    const double width = area.width() / static_cast<double>(std::max<std::size_t>(1, all.size()));
    QColor hatch = palette().color(QPalette::Base);
    hatch.setAlphaF(0.75F);
    const double scale = painter.device()->devicePixelRatioF();
    const QBrush warmUp = patternBrush(hatch, Qt::BDiagPattern, scale);
    std::vector<QBrush> brushes;
    for (const int band : m_shown)
        brushes.push_back(patternBrush(colorOf(band), patternOf(band), scale));
    for (std::size_t c = 0; c < all.size(); ++c) {
        double y = area.bottom();
        for (std::size_t i = 0; i < all[c].amounts.size() && all[c].total > 0; ++i) {
            if (all[c].amounts[i] <= 0)
                continue;
            const double height = all[c].amounts[i] / all[c].total * area.height();
            const QRectF cell(area.left() + width * static_cast<double>(c), y - height, width + 0.5, height);
            if (patternOf(m_shown[i]) != Qt::SolidPattern) {
                QColor back = colorOf(m_shown[i]);
                back.setAlphaF(back.alphaF() * 0.35F);
                painter.fillRect(cell, back);
            }
            painter.fillRect(cell, brushes[i]);
            if (all[c].warm[i] > 0)
                painter.fillRect(
                    QRectF(cell.left(), cell.top(), cell.width(), height * all[c].warm[i] / all[c].amounts[i]), warmUp);
            y -= height;
        }
    }
}

void BandChart::paintLegend(QPainter& painter) const
{
    const double scale = painter.device()->devicePixelRatioF();
    for (const LegendRow& row : legendRows()) {
        const double box = row.place.height() - 7;
        const QRectF mark(row.place.left(), row.place.top() + 3, box, box);
        QColor text = palette().color(QPalette::Text);
        if (row.dimmed)
            text.setAlphaF(kDim * 1.6F);
        painter.setPen(text);
        painter.setBrush(row.band == kWarmUp ? QBrush(grey(palette()))
                                             : patternBrush(colorOf(row.band), patternOf(row.band), scale));
        painter.drawRect(mark);
        if (row.band == kWarmUp)
            painter.fillRect(mark, patternBrush(palette().color(QPalette::Base), Qt::BDiagPattern, scale));
        const QRectF name = row.place.adjusted(row.place.height(), 0, 0, 0);
        painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter, row.shown);
        painter.drawText(name, Qt::AlignRight | Qt::AlignVCenter,
                         tr("%1 %").arg(100 * row.amount / m_total, 0, 'f', 0));
    }
}

void BandChart::paintPicture(QPainter& painter) const
{
    painter.fillRect(rect(), palette().base());
    painter.setFont(font());
    if (m_total <= 0) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter, summary());
        return;
    }
    const QRectF area = plotArea();
    paintColumns(painter, area);
    paintValueAxis(painter, area, 0, 100, QStringLiteral(" %"), palette());
    paintTimeAxis(painter, area, m_samples.front().from, m_samples.back().to, palette());
    paintLegend(painter);
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

int BandChart::legendBandAt(QPointF position, QString* hint) const
{
    if (m_total <= 0)
        return kNone;
    for (const LegendRow& row : legendRows())
        if (row.place.contains(position)) {
            if (hint != nullptr)
                *hint = row.band == kWarmUp
                            ? tr("Every task's first round, before there was anything to choose by: %1 %2")
                                  .arg(row.amount, 0, 'g', 4)
                                  .arg(m_unit)
                            : tr("%1: %2 %3 (%4 %)")
                                  .arg(row.name)
                                  .arg(row.amount, 0, 'g', 4)
                                  .arg(m_unit)
                                  .arg(100 * row.amount / m_total, 0, 'f', 1);
            return row.band;
        }
    return kNone;
}

int BandChart::bandAt(QPointF position, QString* hint) const
{
    const QRectF area = plotArea();
    if (!area.contains(position) || m_total <= 0)
        return legendBandAt(position, hint);
    const std::vector<Column> all = columns(area.width());
    if (all.empty())
        return kNone;
    const auto c = static_cast<std::size_t>(
        std::clamp((position.x() - area.left()) / area.width() * static_cast<double>(all.size()), 0.0,
                   static_cast<double>(all.size() - 1)));
    const Column& column = all[c];
    if (column.total <= 0)
        return kNone;
    double y = (area.bottom() - position.y()) / area.height() * column.total;
    for (std::size_t i = 0; i < column.amounts.size(); ++i) {
        if (y < column.amounts[i]) {
            const int band = m_shown[i];
            if (hint != nullptr)
                *hint = tr("%1 to %2\n%3: %4 %5 (%6 %)")
                            .arg(timeTick(column.from), timeTick(column.to), band < 0 ? tr("Other") : m_names[band])
                            .arg(column.amounts[i], 0, 'g', 3)
                            .arg(m_unit)
                            .arg(100 * column.amounts[i] / column.total, 0, 'f', 0);
            return band;
        }
        y -= column.amounts[i];
    }
    return kNone;
}

void BandChart::mouseMoveEvent(QMouseEvent* event)
{
    if (event->buttons() == Qt::LeftButton
        && (event->position() - m_pressed).manhattanLength() > QApplication::startDragDistance()) {
        dragView(*this);
        return;
    }
    QString hint;
    if (bandAt(event->position(), &hint) != kNone)
        QToolTip::showText(event->globalPosition().toPoint(), hint, this);
    else
        QToolTip::hideText();
}

bool BandChart::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    QString hint;
    bandAt(help->pos(), &hint);
    QToolTip::showText(help->globalPos(), hint, this);
    return true;
}

void BandChart::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_pressed = event->position();
    if (const int band = bandAt(event->position(), nullptr); band >= 0)
        emit bandClicked(band == m_highlight ? kNone : band);
}

void BandChart::contextMenuEvent(QContextMenuEvent* event)
{
    QMenu menu(this);
    emit menuAboutToShow(&menu, std::max(kNone, bandAt(event->pos(), nullptr)));
    if (!menu.isEmpty())
        menu.addSeparator();
    addViewActions(menu, *this);
    menu.exec(event->globalPos());
    event->accept();
}

void BandChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        update();
    QWidget::changeEvent(event);
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
