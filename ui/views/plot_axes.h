#pragma once

#include <QColor>
#include <QPalette>
#include <QRectF>
#include <QString>

#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace lathe::ui {

/// What the painted charts share: colours, round steps, axes.

/// The i-th of the colours that tell series apart (Okabe and Ito's, a violet for their black, which dark backgrounds
/// swallow; then lighter ones); from the ninth on hatched too.
QColor seriesColor(int i);
Qt::BrushStyle seriesPattern(int i);

/// The i-th of as many colours as are wanted, none of which is like another, nor like those that charts give to the
/// network (estimated, measured, untuned).
QColor lineColor(int i, bool dark);
constexpr int kOwnLineColors = 6; ///< of these the first are chosen by hand, to be told apart by colour-blind people

/// The distance of round values (1, 2, 5, 10 ...) of which about `wanted` fit into low..high; 0 where there are none.
double roundStep(double low, double high, int wanted);
/// Round values that cover low..high in about `wanted` steps.
std::vector<double> roundTicks(double low, double high, int wanted);
/// 1, 2 and 5 times powers of ten from low to high, both above zero, powers alone where `wanted` asks for few.
std::vector<double> logTicks(double low, double high, int wanted);
/// "1:30" up to hours; for axes of time.
QString timeTick(double seconds);

/// Grid lines are of this colour.
QColor gridColor(const QPalette& palette);
/// Whether charts are to be painted for a dark ground.
bool isDark(const QPalette& palette);
/// Grid, labels and frame of a plot over time. `area` is the inside.
/// Where the label of a value at `y` begins: beside it, but above the labels under the axis.
double labelTop(double y, double line, const QRectF& area);
void paintTimeAxis(QPainter& painter, const QRectF& area, double from, double to, const QPalette& palette);
void paintValueAxis(QPainter& painter, const QRectF& area, double from, double to, const QString& unit,
                    const QPalette& palette);

} // namespace lathe::ui
