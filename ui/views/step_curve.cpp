#include "ui/views/step_curve.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace lathe::ui {

StepCurve::StepCurve(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void StepCurve::setPoints(const QVector<QPointF>& points)
{
    m_points = points;
    setVisible(points.size() > 1);
    update();
}

void StepCurve::paintEvent(QPaintEvent*)
{
    if (m_points.size() < 2)
        return;
    // From zero: a gain looks as large as it is.
    const auto high = std::max_element(m_points.begin(), m_points.end(),
                                       [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); });
    const double spanY = std::max(1e-12, high->y());
    const double spanX = std::max(1e-12, m_points.last().x() - m_points.first().x());
    const QRectF area = QRectF(rect()).adjusted(2, 3, -2, -3);
    const auto at = [&](const QPointF& p) {
        return QPointF(area.left() + (p.x() - m_points.first().x()) / spanX * area.width(),
                       area.bottom() - p.y() / spanY * area.height());
    };
    QPainterPath path(at(m_points.first()));
    for (qsizetype i = 1; i < m_points.size(); ++i) {
        path.lineTo(at({m_points[i].x(), m_points[i - 1].y()}));
        path.lineTo(at(m_points[i]));
    }
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    QPainterPath below(path);
    below.lineTo(area.bottomRight());
    below.lineTo(area.bottomLeft());
    QColor color = palette().color(QPalette::Highlight);
    painter.setPen(QPen(color, 1.6));
    painter.drawPath(path);
    color.setAlphaF(0.15F);
    painter.fillPath(below, color);
}

} // namespace lathe::ui
