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

QColor lineColor(int i, bool dark)
{
    static const QRgb kOnLight[kOwnLineColors] = {0xff009e73, 0xffcc79a7, 0xff7b3fc4,
                                                  0xffb58900, 0xff1aa3a3, 0xff8b5a2b};
    static const QRgb kOnDark[kOwnLineColors] = {0xff2cc79b, 0xffe39ac2, 0xffb08cf0,
                                                 0xffe6c229, 0xff58d6d6, 0xffc79a6b};
    if (i < kOwnLineColors)
        return QColor((dark ? kOnDark : kOnLight)[i]);
    // The golden angle goes round the hues without ever coming to one twice; each round is of another strength.
    const int more = i - kOwnLineColors;
    const double hue = std::fmod(0.12 + more * 0.6180339887, 1.0);
    const double saturation = more % 2 == 0 ? 0.85 : 0.5;
    return QColor::fromHsvF(static_cast<float>(hue), static_cast<float>(saturation),
                            static_cast<float>((dark ? 0.95 : 0.62) - (more % 3) * 0.08));
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

std::vector<double> logTicks(double low, double high, int wanted)
{
    std::vector<double> ticks;
    if (!(low > 0) || !(high > low))
        return ticks;
    const double decades = std::log10(high / low);
    for (int decade = static_cast<int>(std::floor(std::log10(low)));
         decade <= static_cast<int>(std::ceil(std::log10(high))); ++decade)
        for (const int digit : {1, 2, 5})
            if (const double tick = std::pow(10.0, decade) * digit;
                tick >= low && tick <= high && (digit == 1 || decades * 3 < wanted * 1.5))
                ticks.push_back(tick);
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

} // namespace

QColor gridColor(const QPalette& palette)
{
    QColor grid = palette.color(QPalette::Text);
    grid.setAlphaF(0.18F);
    return grid;
}

bool isDark(const QPalette& palette)
{
    return palette.color(QPalette::Base).lightness() < 128;
}

double labelTop(double y, double line, const QRectF& area)
{
    return std::min(y - line / 2, area.bottom() + 2 - line);
}

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
        painter.drawText(QRectF(0, labelTop(y, line, area), area.left() - 4, line), Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(tick) + unit);
    }
}

} // namespace lathe::ui
