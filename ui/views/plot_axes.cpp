#include "ui/views/plot_axes.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace lathe::ui {

QColor seriesColor(int i)
{
    static const QRgb kColors[] = {0xff0072b2, 0xffe69f00, 0xff009e73, 0xffcc79a7,
                                   0xff56b4e9, 0xffd55e00, 0xfff0e442, 0xff8822ee};
    const QColor color(kColors[i % 8]);
    return (i / 8) % 2 == 0 ? color : color.lighter(135);
}

Qt::BrushStyle seriesPattern(int i)
{
    static constexpr Qt::BrushStyle kPatterns[] = {Qt::SolidPattern, Qt::Dense3Pattern, Qt::BDiagPattern,
                                                   Qt::Dense5Pattern, Qt::FDiagPattern};
    return kPatterns[(i / 8) % 5];
}

double roundStep(double low, double high, int wanted)
{
    if (!(high > low) || wanted < 1)
        return 0;
    const double raw = (high - low) / wanted;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    return power * (raw / power <= 1 ? 1 : raw / power <= 2 ? 2 : raw / power <= 5 ? 5 : 10);
}

std::vector<double> roundTicks(double low, double high, int wanted)
{
    const double step = roundStep(low, high, wanted);
    if (!(step > 0))
        return {};
    std::vector<double> ticks;
    for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-6 && ticks.size() < 100; tick += step)
        ticks.push_back(std::abs(tick) < step * 1e-6 ? 0 : tick);
    return ticks;
}

QString timeTick(double seconds)
{
    const auto whole = static_cast<qint64>(std::llround(seconds));
    const auto two = [](qint64 n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
    return whole >= 3600 ? QStringLiteral("%1:%2:%3").arg(whole / 3600).arg(two(whole / 60 % 60), two(whole % 60))
                         : QStringLiteral("%1:%2").arg(whole / 60).arg(two(whole % 60));
}

namespace {

std::vector<double> timeTicks(double from, double to, int wanted)
{
    static constexpr double kSteps[] = {1,   2,   5,    10,   15,   30,    60,    120,  300,
                                        600, 900, 1800, 3600, 7200, 14400, 28800, 86400};
    const double raw = (to - from) / std::max(1, wanted);
    const auto step = std::find_if(std::begin(kSteps), std::end(kSteps), [raw](double s) { return s >= raw; });
    if (step == std::end(kSteps))
        return roundTicks(from, to, wanted);
    std::vector<double> ticks;
    for (double tick = std::ceil(from / *step) * *step; tick <= to; tick += *step)
        ticks.push_back(tick);
    return ticks;
}

QColor gridColor(const QPalette& palette)
{
    QColor grid = palette.color(QPalette::Text);
    grid.setAlphaF(0.18F);
    return grid;
}

} // namespace

void paintTimeAxis(QPainter& painter, const QRectF& area, double from, double to, const QPalette& palette)
{
    if (!(to > from))
        return;
    const int width = painter.fontMetrics().horizontalAdvance(QStringLiteral("00:00:00")) + 16;
    for (const double tick : timeTicks(from, to, static_cast<int>(area.width()) / width)) {
        const double x = area.left() + (tick - from) / (to - from) * area.width();
        painter.setPen(gridColor(palette));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
        painter.setPen(palette.color(QPalette::Text));
        painter.drawText(QRectF(x - width / 2.0, area.bottom() + 2, width, painter.fontMetrics().height()),
                         Qt::AlignHCenter | Qt::AlignTop, timeTick(tick));
    }
    painter.setPen(gridColor(palette));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(area);
}

void paintValueAxis(QPainter& painter, const QRectF& area, double from, double to, const QString& unit,
                    const QPalette& palette)
{
    const int line = painter.fontMetrics().height();
    for (const double tick : roundTicks(from, to, static_cast<int>(area.height()) / (2 * line))) {
        const double y = area.bottom() - (tick - from) / (to - from) * area.height();
        painter.setPen(gridColor(palette));
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
        painter.setPen(palette.color(QPalette::Text));
        painter.drawText(QRectF(0, y - line / 2.0, area.left() - 4, line), Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(tick) + unit);
    }
}

} // namespace lathe::ui
