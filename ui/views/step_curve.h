#pragma once

#include <QPointF>
#include <QVector>
#include <QWidget>

namespace lathe::ui {

/// A small curve without axes: values that hold until the next, best seen as a shape.
class StepCurve final : public QWidget
{
    Q_OBJECT

public:
    explicit StepCurve(QWidget* parent = nullptr);
    void setPoints(const QVector<QPointF>& points);
    QSize sizeHint() const override { return {180, 48}; }
    QSize minimumSizeHint() const override { return {60, 24}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QVector<QPointF> m_points;
};

} // namespace lathe::ui
